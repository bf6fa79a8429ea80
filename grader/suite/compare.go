package suite

import (
	"runtime"
	"time"

	"cudalab/grader/suite/verdict"
)

// Bounds on a benchmark.
const (
	compareWarm   = 3
	compareRounds = 31
	compareLeast  = 5               // rounds, however long they take
	compareBudget = 2 * time.Second // after which no further round begins
)

// Compare times the calls of a benchmark's contenders, and notes of each what Workloads makes figures of. One that fails
// drops out.
func (b *Bench) Compare(contenders ...Contender) {
	began := time.Now()
	samples, _ := b.Time(Timing{Span: Calls, DropOut: true, Warm: compareWarm, Rounds: compareRounds, Enough: func(s Samples) bool {
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
