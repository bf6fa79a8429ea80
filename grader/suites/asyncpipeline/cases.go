package asyncpipeline

import (
	"fmt"
	"math"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/kernels/probe"
	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// What the cases note.
const (
	noteSum        = "sum"
	noteMultiplier = "multiplier" // of a timed run
	noteTimedSum   = "timed sum"
	noteLeftOut    = "left out" // by batch that an audited call did not compute
)

// driver holds the code under test and drives it through the cases.
type driver struct{ student, solution Run }

// arena is the device side of one workload: its streams, and room for its results.
type arena struct {
	b       *suite.Bench
	streams []cuda.Stream
	results *suite.Results
}

func newArena(b *suite.Bench, w workload) *arena {
	a := &arena{b: b, results: b.NewResults(len(w.batches))}
	for i := range w.streams {
		s, err := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
		b.Must(err)
		b.Session.Label(fmt.Sprintf("streams[%d]", i))
		a.streams = append(a.streams, s)
	}
	a.results.Poison()
	return a
}

// batches are w's with their results in the arena: fresh slices, since the code under test may write to them.
func (a *arena) batches(w workload) []contract.Batch {
	batches := make([]contract.Batch, len(w.batches))
	for i, b := range w.batches {
		b.Result = a.results.At(i)
		batches[i] = b
	}
	return batches
}

func (a *arena) close() {
	for _, s := range a.streams {
		a.b.Must(cuda.StreamDestroy(s))
	}
	a.results.Free()
}

// badArguments are the calls that Run must refuse, in words and in batches; the first has no streams.
var badArguments = []struct {
	label   string
	streams int
	sizes   []int
}{
	{"no streams", 0, []int{100}},
	{"a batch of 0 elements", 2, []int{0}},
	{"a batch of -5 elements behind two good ones", 2, []int{64, 64, -5}},
}

func (d driver) arguments(b *suite.Bench) {
	for _, bad := range badArguments {
		w := ofSizes(bad.streams, bad.sizes...)
		a := newArena(b, w)
		o := b.Call(bad.label, func() error { return d.student(a.streams, a.batches(w)) })
		b.Must(cuda.DeviceSynchronize())
		a.close()
		if o.Gap != "" {
			return
		}
	}
}

// pass runs one workload, waits for the device and notes the sums; it reports whether there is sense in going on.
func (d driver) pass(b *suite.Bench, w workload) bool {
	a := newArena(b, w)
	o := b.Call(w.label, func() error { return d.student(a.streams, a.batches(w)) })
	b.Must(cuda.DeviceSynchronize())
	a.results.Note(noteSum)
	a.close()
	return o.OK()
}

func (d driver) shapes(b *suite.Bench) {
	for _, w := range shapes() {
		if !d.pass(b, w) {
			return
		}
	}
}

func (d driver) random(b *suite.Bench) {
	for _, w := range drawn(b.Seed) {
		if !d.pass(b, w) {
			return
		}
	}
}

// pendingDelay is how long every stream is kept busy before Run is called, in nanoseconds: far longer than Run's own
// calls take, so that one that waits stands out.
const pendingDelay = 30_000_000

// pending calls Run while every stream still has work ahead of it.
func (d driver) pending(b *suite.Bench) {
	w := ofSizes(3, 500, 600, 700, 800)
	a := newArena(b, w)
	for _, s := range a.streams {
		b.Must(probe.Delay(s, pendingDelay))
	}
	b.Call(w.label+" that are still busy", func() error { return d.student(a.streams, a.batches(w)) })
	b.Must(cuda.DeviceSynchronize())
	a.close()
}

func (d driver) faults(b *suite.Bench) {
	w := faulty()
	b.EveryFault(w.label, func() (run func() error, finish func()) {
		a := newArena(b, w)
		run = func() error { return d.student(a.streams, a.batches(w)) }
		finish = func() {
			b.Must(cuda.DeviceSynchronize())
			a.results.Note(noteSum)
			a.close()
		}
		return run, finish
	})
}

func (d driver) speed(b *suite.Bench) {
	b.KeepPool()
	r := b.Rand()
	w := speedWorkload(1)
	a := newArena(b, w)
	var m float32
	sample := func(run Run) func() error {
		return func() error { return run(a.streams, a.batches(w)) }
	}
	var solution func() error
	if d.solution != nil {
		solution = sample(d.solution)
	}
	prepare := func() {
		m = multiplier(r)
		w = speedWorkload(m)
		a.results.Poison()
	}
	check := func(contender int) {
		if contender == 0 {
			b.Value(noteMultiplier, uint64(math.Float32bits(m)))
			a.results.Note(noteTimedSum)
		}
	}
	contenders := suite.Contenders("", sample(d.student), solution, sample(baseline))
	contenders[0].Audit = func(t *trace.Trace) {
		for i, batch := range w.batches {
			if !suite.Reduced(t, a.results.At(i), batch.N) {
				b.Value(noteLeftOut, uint64(i))
			}
		}
	}
	b.Race(suite.WarmRounds, b.Rounds(), contenders, prepare, check)
	a.close()
}
