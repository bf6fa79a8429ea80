package suite

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"cudalab/grader/suite/measure"
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

// BenchSchemaVersion is the version of BenchReport's JSON form.
const BenchSchemaVersion = 1

// BenchReport is what cudalab has measured of one exercise: `bench --json` prints it. Fields are only ever added within
// one schema version.
type BenchReport struct {
	Schema   int    `json:"schema"`
	Exercise string `json:"exercise"`
	Device   Device `json:"device"`
	// Status is Passed where all that was asked for was measured, else why the student's code was not.
	Status     Status       `json:"status"`
	Message    string       `json:"message,omitempty"` // one sentence on the whole, where the status needs one
	Next       string       `json:"next,omitempty"`    // what to do next
	DurationMS int64        `json:"duration_ms"`
	Workloads  []Comparison `json:"workloads"`
	Findings   []Finding    `json:"findings"`         // how the student's code ended, where it did not end well
	Output     string       `json:"output,omitempty"` // what the student's code printed; of much, the start and the end
}

// Comparison is the figures of one benchmark.
type Comparison struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Operation string     `json:"operation"` // what a figure is of
	Unit      string     `json:"unit"`      // of the figures: "ns", or "B" for bytes
	Note      string     `json:"note,omitempty"`
	Standings []Standing `json:"standings"`
}

// Clock is what a time was taken with.
type Clock string

// The clocks; see Span.
const (
	Wall    Clock = "wall"    // the machine's
	Virtual Clock = "virtual" // the simulated device's
	CPU     Clock = "cpu"     // the thread's on this machine
)

// Standing is how one contender did: the median of one operation, with the 99 % interval around it.
type Standing struct {
	Contender string  `json:"contender"`
	Value     float64 `json:"value"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	Clock     Clock   `json:"clock,omitempty"` // empty for bytes
	Samples   int     `json:"samples"`
	Batch     int     `json:"batch"` // operations in one sample
	// Ratio is the time over the solution's in the same rounds; nil for the solution itself and where their clocks differ.
	Ratio *Quotient `json:"ratio,omitempty"`
}

// Quotient is a ratio with its 99 % interval.
type Quotient struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// The units of a Comparison.
const (
	Nanoseconds = "ns"
	ByteCount   = "B"
)

// Workloads makes figures of what the benchmark has noted on a device: one workload for each function that was measured.
// Contenders for which skip is true are left out.
func (m *Benchmark) Workloads(notes *CaseNotes, d Device, skip func(contender string) bool) []Comparison {
	groups := map[string][]string{} // the series of each function
	for series := range notes.Samples {
		function, _ := splitSeries(series)
		groups[function] = append(groups[function], series)
	}
	var all []Comparison
	for _, function := range slices.Sorted(maps.Keys(groups)) {
		w := Comparison{ID: m.ID, Name: m.Name, Operation: m.Operation, Unit: Nanoseconds, Note: m.Note}
		if function != "" {
			w.ID, w.Name = m.ID+"/"+function, function+": "+m.Name
		}
		solution := ""
		for _, series := range groups[function] {
			if _, name := splitSeries(series); name == Solution {
				solution = series
			}
		}
		for _, series := range groups[function] {
			if _, name := splitSeries(series); !skip(name) {
				w.Standings = append(w.Standings, standing(notes, d, series, solution))
			}
		}
		all = append(all, w.sorted())
	}
	w := Comparison{ID: m.ID, Name: m.Name, Operation: m.Operation, Unit: ByteCount, Note: m.Note}
	for note, values := range notes.Values {
		if name, ok := strings.CutPrefix(note, noteBytes); ok && !skip(name) {
			each := float64(values[0]) / float64(notes.batch(name))
			w.Standings = append(w.Standings, Standing{Contender: name, Value: each, Low: each, High: each, Samples: 1, Batch: notes.batch(name)})
		}
	}
	if len(w.Standings) > 0 {
		all = append(all, w.sorted())
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

// sorted puts the student's code first, then the solution, then what they stand for, the quickest first.
func (w Comparison) sorted() Comparison {
	rank := func(s Standing) int {
		if i := slices.Index([]string{Yours, Solution}, s.Contender); i >= 0 {
			return i
		}
		return 2
	}
	slices.SortFunc(w.Standings, func(a, b Standing) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(a.Value, b.Value), cmp.Compare(a.Contender, b.Contender))
	})
	return w
}

// batch is how many operations one sample of a series is: one, unless something else was noted.
func (c *CaseNotes) batch(series string) int {
	if n := c.Values[noteOperations+series]; len(n) > 0 && n[0] > 0 {
		return int(n[0])
	}
	return 1
}

// clock is what the times of a series were taken with.
func (c *CaseNotes) clock(series string, d Device) Clock {
	switch {
	case len(c.Values[noteCPU+series]) > 0:
		return CPU
	case d.Kind == string(device.Sim):
		return Virtual
	}
	return Wall
}

func standing(notes *CaseNotes, d Device, series, solution string) Standing {
	_, name := splitSeries(series)
	batch := float64(notes.batch(series))
	v := measure.MedianOf(notes.Samples[series])
	s := Standing{Contender: name, Value: v.Value / batch, Low: v.Low / batch, High: v.High / batch,
		Clock: notes.clock(series, d), Samples: len(notes.Samples[series]), Batch: notes.batch(series)}
	if solution != "" && series != solution && notes.clock(solution, d) == s.Clock {
		r := measure.RatioOf(notes.Samples[series], notes.Samples[solution])
		scale := float64(notes.batch(solution)) / batch
		s.Ratio = &Quotient{Value: r.Value * scale, Low: r.Low * scale, High: r.High * scale}
	}
	return s
}
