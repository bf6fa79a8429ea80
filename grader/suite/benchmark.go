package suite

import (
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

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

// Workloads makes figures of what the benchmark has noted on a device: one workload for each function that was
// measured. Contenders for which skip is true are left out.
func (m *Benchmark) Workloads(notes *verdict.CaseNotes, d verdict.Device,
	skip func(contender string) bool) []verdict.Comparison {
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
			w.Standings = append(w.Standings, verdict.Standing{Contender: name, Value: each, Low: each, High: each, Samples: 1,
				Batch: batchOf(notes, name)})
		}
	}
	if len(w.Standings) > 0 {
		all = append(all, w.Sorted())
	}
	return all
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

// batchOf is how many operations one sample of a series is: one, unless something else was noted.
func batchOf(c *verdict.CaseNotes, series string) int {
	if n := c.Values[noteOperations+series]; len(n) > 0 && n[0] > 0 {
		return int(n[0])
	}
	return 1
}

// splitSeries tells the function and the contender that a series is of.
func splitSeries(series string) (function, contender string) {
	if function, contender, ok := strings.Cut(series, ": "); ok {
		return function, contender
	}
	return "", series
}

// Bounds on a benchmark.
const (
	compareWarm   = 3
	compareRounds = 31
	compareLeast  = 5               // rounds, however long they take
	compareBudget = 2 * time.Second // after which no further round begins
)

// Compare times the calls of a benchmark's contenders, and notes of each what Workloads makes figures of. One that
// fails drops out.
func (b *Bench) Compare(contenders ...Contender) {
	began := time.Now()
	samples, _ := b.Time(Timing{Span: Calls, DropOut: true, Warm: compareWarm, Rounds: compareRounds,
		Enough: func(s Samples) bool {
			least := compareLeast
			for _, series := range s {
				if series.Clock != verdict.Virtual { // which has few samples
					least = min(least, len(series.Times))
				}
			}
			return least >= compareLeast && time.Since(began) > compareBudget
		}}, contenders...)
	b.Note(samples)
	for _, c := range contenders {
		if s, ok := samples[c.Name]; ok {
			b.Value(noteOperations+c.Name, uint64(c.Operations))
			if s.Clock == verdict.CPU {
				b.Value(noteCPU+c.Name, 1)
			}
		}
	}
}

// What is noted of a contender beside its samples, under a name that ends in the contender's.
const (
	noteOperations = "operations of "
	noteCPU        = "CPU time of " // noted where that is the clock
	noteBytes      = "bytes of "
)

// Bookkeeping notes how many bytes of the host's memory a contender holds, for so many things, once fill has returned:
// what is still reachable by then from what fill answers.
func (b *Bench) Bookkeeping(name string, things int, fill func() (any, error)) {
	var kept any
	before := heapInUse()
	if !b.attempt(name, func() (err error) {
		kept, err = fill()
		return err
	}) {
		return
	}
	after := heapInUse()
	runtime.KeepAlive(kept)
	b.Value(noteOperations+name, uint64(things))
	b.Value(noteBytes+name, max(after, before)-before)
}

// heapInUse is how many bytes of the heap are reachable.
func heapInUse() uint64 {
	runtime.GC()
	runtime.GC() // what has a cleanup goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
