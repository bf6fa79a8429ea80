package crossstreamevents

import (
	"cudalab/grader/suite"
	"cudalab/kernels/probe"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

// Names of the contenders and notes of the timed case; each series stands behind its function's name.
const (
	seriesStudent  = suite.Yours
	seriesSolution = suite.Solution
	seriesBaseline = suite.Baseline
	noteTimedN     = "timed n"
	noteTimedSum   = "timed sum"
)

// Rounds of the timed case. Virtual times repeat exactly; on a GPU 25 ratios give an interval that resolves a tenth.
const (
	warmRounds = 2
	simRounds  = 2
	gpuRounds  = 25
)

// The timed workloads. Both hold two pieces of work, each longDelay long, that can run at the same time, and next to
// which all the rest is short: overlapping takes half the time of waiting.
const (
	longDelay     = 1_000_000 // nanoseconds
	timedFanOut   = 4         // consumers
	timedElements = 10_000    // at most
)

func series(function, contender string) string { return function + ": " + contender }

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
	rounds := gpuRounds
	if b.Session.Device().Info().Kind == device.Sim {
		rounds = simRounds
	}
	r := b.Rand()
	a := newArena(b, w)
	contender := func(name string, code Code) suite.Contender {
		return suite.Contender{Name: series(w.function(), name), Run: func() error { return sample(a, code) }}
	}
	contenders := []suite.Contender{contender(seriesStudent, d.student)}
	if d.solution.Share != nil {
		contenders = append(contenders, contender(seriesSolution, d.solution))
	}
	contenders = append(contenders, contender(seriesBaseline, baseline))
	prepare := func() {
		a.w.n = timedElements/2 + r.IntN(timedElements/2)
		a.poison()
	}
	check := func(contender int) {
		if contender == 0 {
			b.Value(series(w.function(), noteTimedN), uint64(a.w.n))
			a.note(series(w.function(), noteTimedSum))
		}
	}
	b.Race(warmRounds, rounds, contenders, prepare, check)
	a.close()
}
