package suite

import (
	"maps"
	"slices"
	"strings"

	"cudalab/grader/suite/measure"
	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
)

// Benchmark is one workload that the student's code, the solution and what they stand for carry out side by side.
type Benchmark struct {
	ID        string
	Name      string // the workload in plain words
	Operation string // what a figure is of: "allocation and free"
	Note      string // what has to be known to read the figures, in sentences; "" where there is nothing
	// Drive is as a timed case's: it notes samples, each under its contender's name, or where several functions are
	// measured under the function's and the contender's: "Share: yours".
	Drive func(*Bench)
}

// Case is the benchmark as the runner runs it.
func (m *Benchmark) Case() Case { return Case{ID: "bench/" + m.ID, Timed: true, Drive: m.Drive} }

// Workloads makes figures of what the benchmark has noted on a device: one workload for each function that was measured.
// Contenders for which skip is true are left out.
func (m *Benchmark) Workloads(notes *verdict.CaseNotes, d verdict.Device, skip func(contender string) bool) []verdict.Comparison {
	groups := map[string][]string{} // the series of each function
	for series := range notes.Samples {
		function, _ := splitSeries(series)
		groups[function] = append(groups[function], series)
	}
	var all []verdict.Comparison
	for _, function := range slices.Sorted(maps.Keys(groups)) {
		w := verdict.Comparison{ID: m.ID, Name: m.Name, Operation: m.Operation, Unit: verdict.Nanoseconds, Note: m.Note}
		if function != "" {
			w.ID, w.Name = m.ID+"/"+function, function+": "+m.Name
		}
		solution := ""
		for _, series := range groups[function] {
			if _, name := splitSeries(series); name == verdict.Solution {
				solution = series
			}
		}
		for _, series := range groups[function] {
			if _, name := splitSeries(series); !skip(name) {
				w.Standings = append(w.Standings, standing(notes, d, series, solution))
			}
		}
		all = append(all, w.Sorted())
	}
	w := verdict.Comparison{ID: m.ID, Name: m.Name, Operation: m.Operation, Unit: verdict.ByteCount, Note: m.Note}
	for note, values := range notes.Values {
		if name, ok := strings.CutPrefix(note, noteBytes); ok && !skip(name) {
			each := float64(values[0]) / float64(batchOf(notes, name))
			w.Standings = append(w.Standings, verdict.Standing{Contender: name, Value: each, Low: each, High: each, Samples: 1, Batch: batchOf(notes, name)})
		}
	}
	if len(w.Standings) > 0 {
		all = append(all, w.Sorted())
	}
	return all
}

// splitSeries tells the function and the contender that a series is of.
func splitSeries(series string) (function, contender string) {
	if function, contender, ok := strings.Cut(series, ": "); ok {
		return function, contender
	}
	return "", series
}

// batchOf is how many operations one sample of a series is: one, unless something else was noted.
func batchOf(c *verdict.CaseNotes, series string) int {
	if n := c.Values[noteOperations+series]; len(n) > 0 && n[0] > 0 {
		return int(n[0])
	}
	return 1
}

// clockOf is what the times of a series were taken with.
func clockOf(c *verdict.CaseNotes, series string, d verdict.Device) verdict.Clock {
	switch {
	case len(c.Values[noteCPU+series]) > 0:
		return verdict.CPU
	case d.Kind == string(device.Sim):
		return verdict.Virtual
	}
	return verdict.Wall
}

func standing(notes *verdict.CaseNotes, d verdict.Device, series, solution string) verdict.Standing {
	_, name := splitSeries(series)
	batch := float64(batchOf(notes, series))
	v := measure.MedianOf(notes.Samples[series])
	s := verdict.Standing{Contender: name, Value: v.Value / batch, Low: v.Low / batch, High: v.High / batch,
		Clock: clockOf(notes, series, d), Samples: len(notes.Samples[series]), Batch: batchOf(notes, series)}
	if solution != "" && series != solution && clockOf(notes, solution, d) == s.Clock {
		r := measure.RatioOf(notes.Samples[series], notes.Samples[solution])
		scale := float64(batchOf(notes, solution)) / batch
		s.Ratio = &verdict.Quotient{Value: r.Value * scale, Low: r.Low * scale, High: r.High * scale}
	}
	return s
}
