package asyncpipeline

import (
	"encoding/binary"
	"fmt"
	"math"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/kernels/probe"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

// driver holds the code under test and drives it through the cases.
type driver struct{ student, solution Run }

// poison is what results hold before a call, byte by byte, so that one that was never set to zero shows.
const poison = 0xA5

// arena is the device side of one workload: its streams, and room for its results.
type arena struct {
	b       *suite.Bench
	streams []cuda.Stream
	results cuda.DevicePtr
	n       int
}

func newArena(b *suite.Bench, w workload) *arena {
	a := &arena{b: b, n: len(w.batches)}
	var err error
	a.results, err = cuda.Malloc(int64(8 * max(a.n, 1)))
	b.Must(err)
	for i := range w.streams {
		s, err := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
		b.Must(err)
		b.Session.Label(fmt.Sprintf("streams[%d]", i))
		a.streams = append(a.streams, s)
	}
	a.poison()
	return a
}

func (a *arena) poison() {
	a.b.Must(cuda.Memset(a.results, poison, int64(8*max(a.n, 1))))
	a.b.Must(cuda.DeviceSynchronize())
}

// batches are w's with their results in the arena: fresh slices, since the code under test may write to them.
func (a *arena) batches(w workload) []contract.Batch {
	batches := make([]contract.Batch, len(w.batches))
	for i, b := range w.batches {
		b.Result = a.results + cuda.DevicePtr(8*i)
		batches[i] = b
	}
	return batches
}

// note reads the results back and notes each under name.
func (a *arena) note(name string) {
	if a.n == 0 {
		return
	}
	raw := make([]byte, 8*a.n)
	a.b.Must(cuda.MemcpyDtoH(cuda.Pageable(raw), a.results, int64(len(raw))))
	for i := range a.n {
		a.b.Value(name, binary.LittleEndian.Uint64(raw[8*i:]))
	}
}

func (a *arena) close() {
	for _, s := range a.streams {
		a.b.Must(cuda.StreamDestroy(s))
	}
	a.b.Must(cuda.Free(a.results))
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
	a.note("sum")
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
			a.note("sum")
			a.close()
		}
		return run, finish
	})
}

// Names of the contenders and notes of the timed case.
const (
	seriesStudent  = suite.Yours
	seriesSolution = suite.Solution
	seriesBaseline = suite.Baseline
	noteMultiplier = "multiplier"
	noteTimedSum   = "timed sum"
)

// Rounds of the timed case. Virtual times repeat exactly; on a GPU 25 ratios give an interval that resolves a tenth.
const (
	warmRounds = 2
	simRounds  = 2
	gpuRounds  = 25
)

func (d driver) speed(b *suite.Bench) {
	rounds := gpuRounds
	if b.Session.Device().Info().Kind == device.Sim {
		rounds = simRounds
	}
	b.KeepPool()
	r := b.Rand()
	w := speedWorkload(1)
	a := newArena(b, w)
	var m float32
	sample := func(run Run) func() error {
		return func() error { return run(a.streams, a.batches(w)) }
	}
	contenders := []suite.Contender{{Name: seriesStudent, Run: sample(d.student)}}
	if d.solution != nil {
		contenders = append(contenders, suite.Contender{Name: seriesSolution, Run: sample(d.solution)})
	}
	contenders = append(contenders, suite.Contender{Name: seriesBaseline, Run: sample(baseline)})
	prepare := func() {
		m = multiplier(r)
		w = speedWorkload(m)
		a.poison()
	}
	check := func(contender int) {
		if contender == 0 {
			b.Value(noteMultiplier, uint64(math.Float32bits(m)))
			a.note(noteTimedSum)
		}
	}
	b.Race(warmRounds, rounds, contenders, prepare, check)
	a.close()
}
