package crossstreamevents

import (
	"cudalab/grader/suite"
	"cudalab/kernels/probe"
	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// Notes of the timed case, a series for each function.
const (
	noteTimedN   = "timed n"
	noteTimedSum = "timed sum"
	noteLeftOut  = "left out" // by result that an audited call did not compute
)

// The timed workloads. Both hold two pieces of work, each longDelay long, that can run at the same time, and next to
// which all the rest is short: overlapping takes half the time of waiting.
const (
	longDelay     = 1_000_000 // nanoseconds
	timedFanOut   = 4         // consumers
	timedElements = 10_000    // at most
)

func (d driver) speed(b *suite.Bench) {
	b.KeepPool()
	d.race(b, workload{n: timedElements}, func(a *arena, code Code) error {
		// b is busy with earlier work, and independent brings as much for a.
		if err := probe.Delay(a.streams[1], longDelay); err != nil {
			return err
		}
		return a.call(code, func(s cuda.Stream) error { return probe.Delay(s, longDelay) })
	})
	elsewhere, err := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
	b.Must(err)
	d.race(b, workload{consumers: timedFanOut, n: timedElements}, func(a *arena, code Code) error {
		// The source is busy with earlier work, and the host has more for another stream once FanOut returns.
		if err := probe.Delay(a.streams[0], longDelay); err != nil {
			return err
		}
		if err := a.call(code, nil); err != nil {
			return err
		}
		return probe.Delay(elsewhere, longDelay)
	})
	b.Must(cuda.StreamDestroy(elsewhere))
}

// race times the student's code, the solution and the baseline on w, with a fresh number of elements each time.
func (d driver) race(b *suite.Bench, w workload, sample func(*arena, Code) error) {
	r := b.Rand()
	a := newArena(b, w)
	of := func(code Code) func() error {
		return func() error { return sample(a, code) }
	}
	var solution func() error
	if d.solution.Share != nil {
		solution = of(d.solution)
	}
	prepare := func() {
		a.w.n = timedElements/2 + r.IntN(timedElements/2)
		a.results.Poison()
	}
	check := func(contender int) {
		if contender == 0 {
			b.Value(suite.Series(w.function(), noteTimedN), uint64(a.w.n))
			a.results.Note(suite.Series(w.function(), noteTimedSum))
		}
	}
	contenders := suite.Contenders(w.function(), of(d.student), solution, of(baseline))
	contenders[0].Audit = func(t *trace.Trace) {
		for i := range w.outs() {
			if !suite.Reduced(t, a.results.At(i), a.w.n) {
				b.Value(suite.Series(w.function(), noteLeftOut), uint64(i))
			}
		}
	}
	b.Race(suite.WarmRounds, b.Rounds(), contenders, prepare, check)
	a.close()
}
