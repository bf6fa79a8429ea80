package crossstreamevents

import (
	"errors"
	"slices"

	"cudalab/grader/suite"
	"cudalab/kernels/probe"
	"cudalab/native/cuda"
)

// driver holds the code under test and drives it through the cases.
type driver struct{ student, solution Code }

// noteSum is the note of a call's results.
const noteSum = "sum"

// Delays in nanoseconds.
const (
	lateDelay        = 30_000_000 // of a stream that is late: far longer than the call's own work
	independentDelay = 100_000    // of the work that independent enqueues
)

// arena is the device side of one call: its streams, and room for its results.
type arena struct {
	b       *suite.Bench
	w       workload
	streams []cuda.Stream // the source first
	results *suite.Results
}

func newArena(b *suite.Bench, w workload) *arena {
	a := &arena{b: b, w: w, results: b.NewResults(w.outs())}
	for i := range 1 + w.outs() {
		s, err := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
		b.Must(err)
		b.Session.Label(w.streamName(i))
		a.streams = append(a.streams, s)
	}
	a.results.Poison()
	return a
}

// outs are the addresses of the results: a fresh slice, since the code under test may write to it.
func (a *arena) outs() []cuda.DevicePtr {
	outs := make([]cuda.DevicePtr, a.w.outs())
	for i := range outs {
		outs[i] = a.results.At(i)
	}
	return outs
}

// call has the code do the workload once.
func (a *arena) call(code Code, independent func(cuda.Stream) error) error {
	if a.w.consumers == 0 {
		return code.Share(a.streams[0], a.streams[1], a.w.n, a.results.At(0), independent)
	}
	return code.FanOut(a.streams[0], append([]cuda.Stream(nil), a.streams[1:]...), a.w.n, a.outs())
}

func (a *arena) close() {
	a.b.Must(cuda.DeviceSynchronize())
	for _, s := range a.streams {
		a.b.Must(cuda.StreamDestroy(s))
	}
	a.results.Free()
}

// delay is independent work, which the judges know in the trace by its kernel.
func delay(s cuda.Stream) error { return probe.Delay(s, independentDelay) }

// nothing is independent work where a launch would be in the way.
func nothing(cuda.Stream) error { return nil }

// passes runs each workload once, as long as there is sense in going on, and notes the sums.
func (d driver) passes(b *suite.Bench, ws []workload) {
	b.KeepPool()
	for _, w := range ws {
		a := newArena(b, w)
		for _, i := range w.late {
			b.Must(probe.Delay(a.streams[i], lateDelay))
		}
		o := b.Call(w.label(), func() error { return a.call(d.student, delay) })
		a.overwrite()
		a.wait()
		a.results.Note(noteSum)
		a.close()
		if !o.OK() {
			return
		}
	}
}

// overwrite takes memory in the source's stream, where what the code has just freed is the first to be handed out
// again, and writes over it. A reduction that is still to come then finds other numbers than it should.
func (a *arena) overwrite() {
	size := int64(4 * a.w.n)
	p, err := cuda.MallocAsync(size, a.streams[0])
	a.b.Must(err)
	a.b.Must(cuda.MemsetAsync(p, suite.Poison, size, a.streams[0]))
	a.b.Must(cuda.FreeAsync(p, a.streams[0]))
}

// wait waits for the streams one by one, those that are late last: what should have waited for a late stream, and does
// not, is then done before it. The last consumers come first, since code that forgets some remembers the first.
func (a *arena) wait() {
	for _, late := range []bool{false, true} {
		for i, s := range slices.Backward(a.streams) {
			if slices.Contains(a.w.late, i) == late {
				a.b.Must(cuda.StreamSynchronize(s))
			}
		}
	}
}

func (d driver) share(b *suite.Bench)        { d.passes(b, shareWorkloads(b.Seed)) }
func (d driver) shareDelays(b *suite.Bench)  { d.passes(b, shareDelayed(b.Seed)) }
func (d driver) fanOut(b *suite.Bench)       { d.passes(b, fanOutWorkloads(b.Seed)) }
func (d driver) fanOutDelays(b *suite.Bench) { d.passes(b, fanOutDelayed(b.Seed)) }

// errIndependent is what independent answers in shareError.
var errIndependent = errors.New("the independent work could not be enqueued")

// noteKept is 1 where an error of independent came back, and 0 where it did not.
const noteKept = "error kept"

// shareError has independent fail while b is busy with what it was given.
func (d driver) shareError(b *suite.Bench) {
	a := newArena(b, workload{n: 900, late: []int{1}})
	b.Must(probe.Delay(a.streams[1], lateDelay))
	kept := uint64(0)
	b.Call(a.w.label()+" and independent returns an error", func() error {
		err := a.call(d.student, func(cuda.Stream) error { return errIndependent })
		if errors.Is(err, errIndependent) {
			kept = 1
		}
		return err
	})
	b.Value(noteKept, kept)
	a.close()
}

// A badCall is arguments that must be refused, in words.
type badCall struct {
	label           string
	n               int
	consumers, outs int
}

var (
	badShares  = []badCall{{"0 elements", 0, 0, 1}, {"-7 elements", -7, 0, 1}}
	badFanOuts = []badCall{
		{"0 elements", 0, 2, 2},
		{"-1 elements", -1, 1, 1},
		{"no consumers", 100, 0, 0},
		{"3 consumers and 2 outs", 100, 3, 2},
		{"1 consumer and 2 outs", 100, 1, 2},
	}
)

func (d driver) shareArguments(b *suite.Bench) {
	for _, bad := range badShares {
		a := newArena(b, workload{n: bad.n})
		o := b.Call(bad.label, func() error { return a.call(d.student, delay) })
		a.close()
		if o.Gap != "" {
			return
		}
	}
}

func (d driver) fanOutArguments(b *suite.Bench) {
	for _, bad := range badFanOuts {
		a := newArena(b, workload{n: bad.n, consumers: max(bad.consumers, bad.outs)})
		o := b.Call(bad.label, func() error {
			return d.student.FanOut(a.streams[0], a.streams[1:1+bad.consumers], bad.n, a.outs()[:bad.outs])
		})
		a.close()
		if o.Gap != "" {
			return
		}
	}
}

// faults has the calls of a workload fail.
func (d driver) faults(b *suite.Bench, w workload) {
	b.EveryFault(w.label(), func() (run func() error, finish func()) {
		a := newArena(b, w)
		run = func() error { return a.call(d.student, nothing) }
		finish = func() {
			b.Must(cuda.DeviceSynchronize())
			a.results.Note(noteSum)
			a.close()
		}
		return run, finish
	})
}

func (d driver) shareFaults(b *suite.Bench)  { d.faults(b, faultyShare) }
func (d driver) fanOutFaults(b *suite.Bench) { d.faults(b, faultyFanOut) }
