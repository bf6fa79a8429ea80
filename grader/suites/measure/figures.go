package measure

import (
	"cmp"
	"fmt"
	"math"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/measure"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

// judgeCompare looks at what each round of a way consists of, and shows the figures beside the solution's.
func judgeCompare(e *suite.Evidence) suite.Answer {
	a := comparisons.Judge(e, "All rounds had the same work, and memory in the way that they are named after.",
		func(m *suite.Made[workload]) (found []verdict.Finding) {
			if !m.Outcome.OK() {
				return nil
			}
			c := call{m}
			for _, w := range c.ways() {
				if w.timed && w.stray >= 0 {
					found = append(found, c.Finding(w.stray, suite.Rule{ID: "wrong-round",
						Why: "Two figures can be compared only where all is alike but what is compared.",
						Fix: "Have each round of " + w.name + " be " + w.round + ".",
					}, "a round of %s should be %s, but here %s.", w.name, w.round, w.why))
				}
			}
			return found
		})
	yours, solutions := figures(e)
	if yours == nil {
		return a
	}
	for i, k := range kinds {
		a.Measurements = append(a.Measurements, figure(k.name+", as you measure it", yours[i]))
		if solutions != nil {
			a.Measurements = append(a.Measurements, figure(k.name+", as the solution does", solutions[i]))
		}
	}
	if solutions != nil && !(solutions[2] < solutions[1] && solutions[1] < solutions[0]) {
		a.Findings = append(a.Findings, verdict.Finding{Rule: "figures-out-of-order", Severity: verdict.Remark, Record: -1,
			Function: "Compare",
			Message: fmt.Sprintf("Kept memory should cost less than memory in stream order, and that less than synchronous "+
				"memory, but the solution measures %.3g, %.3g and %.3g µs a round here.", 1e3*solutions[2], 1e3*solutions[1],
				1e3*solutions[0]),
			Why: "What else runs on the machine or on the GPU is measured as well.",
			Fix: "Nothing in your code: check again when nothing else runs.",
		})
	}
	return a
}

// figure is a time of a round, in microseconds, for information.
func figure(name string, ms float64) verdict.Measurement {
	return suite.Figure(name, "µs", measure.Interval{Value: 1e3 * ms, Low: 1e3 * ms, High: 1e3 * ms}, 0)
}

// noteSolution is noted of the solution's answer to the workload that is shown.
const noteSolution = "the solution's answer"

// withFigures has a trial's workload that is shown measured by the solution as well, behind the student's calls.
func withFigures(r *suite.Runs[Code, workload]) *suite.Runs[Code, workload] {
	drive := r.Drive
	r.Drive = func(b *suite.Bench, sides suite.Sides[Code]) {
		drive(b, sides)
		if sides.Solution == nil {
			return
		}
		stream, err := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
		b.Must(err)
		c, err := sides.Solution.Compare(stream, shownElements, shownRounds)
		b.Must(err)
		b.Must(cuda.StreamSynchronize(stream))
		b.Must(cuda.StreamDestroy(stream))
		for _, bits := range bits(c.Synchronous, c.Ordered, c.Kept) {
			b.Value(noteSolution, bits)
		}
	}
	return r
}

// figures are what was measured of the workload that is shown, in milliseconds, by the student's code and by the
// solution, which is not always at hand; nil where there is nothing.
func figures(e *suite.Evidence) (yours, solutions []float64) {
	for _, m := range compareRuns.Made(e) {
		if m.W.shown && m.Outcome.OK() {
			yours = call{&m}.answers()
		}
	}
	for _, bits := range e.Cases[compareRuns.ID].Values[noteSolution] {
		solutions = append(solutions, float64(math.Float32frombits(uint32(bits))))
	}
	if len(solutions) != len(kinds) {
		return yours, nil
	}
	return yours, solutions
}

// What the benchmark compares, and how often. Virtual times repeat exactly.
const (
	benchRounds     = 100
	benchSamples    = 31
	benchSimSamples = 2
)

// benchmark shows the three ways as the student's Compare and the solution's measure them.
var benchmark = suite.Trial[Code]{ID: "ways", Benchmark: suite.Benchmark{
	Name:      "4 MiB for a kernel",
	Operation: "round",
	Note:      "What Compare answers, over 100 rounds.",
}, Drive: func(b *suite.Bench, sides suite.Sides[Code]) {
	s := b.NewStage()
	stream := s.Stream("s")
	contenders := []struct {
		name string
		code *Code
	}{{verdict.Yours, &sides.Student}, {verdict.Solution, sides.Solution}}
	samples := benchSamples
	if b.Session.Device().Info().Kind == device.Sim {
		samples = benchSimSamples
	}
	for range samples {
		for _, who := range contenders {
			if who.code == nil {
				continue
			}
			var c contract.Comparison
			o := b.Call(who.name, func() (err error) {
				c, err = who.code.Compare(stream, shownElements, benchRounds)
				return err
			})
			if !o.OK() {
				s.Close()
				return
			}
			for i, ms := range []float32{c.Synchronous, c.Ordered, c.Kept} {
				b.Notes.Sample(suite.SeriesOf(kinds[i].name, who.name), cmp.Or(int64(float64(ms)*1e6), 1))
			}
		}
	}
	s.Close()
}}
