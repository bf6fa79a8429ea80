package measure

import (
	"cmp"
	"fmt"
	"math"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/measure"
	"cudalab/native/cuda"
)

// answers are the numbers that the call answered, in milliseconds.
func (c call) answers() []float64 {
	answers := make([]float64, len(kinds))
	for i, bits := range c.Noted(noteAnswer) {
		answers[min(i, len(answers)-1)] = float64(math.Float32frombits(uint32(bits)))
	}
	return answers
}

// How far an answer may be from what events say, which is a rounded number itself.
const (
	relative = 1e-4
	absolute = 1e-6 // milliseconds
)

func near(a, b float64) bool { return math.Abs(a-b) <= max(relative*math.Abs(b), absolute) }

// says reports whether an answer is what a clock says of one round.
func (c call) says(k clock, answer float64) bool { return near(answer, k.ms/float64(c.W.rounds)) }

func judgeResults(e *suite.Evidence) suite.Answer {
	return good.Judge(e, "Every answer is what two events said, for one round.", func(m *suite.Made[workload]) []suite.Finding {
		if !m.Outcome.OK() {
			return []suite.Finding{m.UnexpectedError(m.W.function())}
		}
		return call{m}.wrongAnswers()
	})
}

// wrongAnswer says in a clause what is wrong with the answer of a call; "" where nothing is.
func wrongAnswer(m *suite.Made[workload]) string {
	for _, f := range (call{m}).wrongAnswers() {
		return "it answered another time than its events say: " + f.Message
	}
	return ""
}

// wrongAnswers finds numbers that are not what a clock of the call says.
func (c call) wrongAnswers() (found []suite.Finding) {
	if !c.W.compare {
		read := c.judged()
		if len(read) == 0 {
			return []suite.Finding{c.fromNoEvents("Time", c.answers()[0])}
		}
		return c.wrongTime("Time", read[0], c.answers()[0])
	}
	for _, w := range c.ways() {
		if !w.timed {
			found = append(found, c.fromNoEvents(w.name, w.answer))
			continue
		}
		found = append(found, c.wrongTime(w.name, w.clock, w.answer)...)
	}
	return found
}

const (
	wrongTime = "wrong-time"
	perRound  = "Divide what cuda.EventElapsedTime says by rounds, once."
)

func (c call) fromNoEvents(what string, answer float64) suite.Finding {
	f := c.Finding(-1, suite.Rule{ID: wrongTime,
		Why: "Only the stream knows when it was done with the first round and with the last; what the host's clock or a guess says is something else.",
		Fix: "Record two events in s around the timed rounds, and divide what cuda.EventElapsedTime says of them by the rounds.",
	}, "%s should answer what two events say, but answered %.6g ms, for which cuda.EventElapsedTime was not called.", what, answer)
	f.Function = c.W.function()
	return f
}

// wrongTime is the finding about an answer that is not what its clock says, with what it is instead where that can be told.
func (c call) wrongTime(what string, k clock, answer float64) []suite.Finding {
	if c.says(k, answer) {
		return nil
	}
	rounds, warm, sum := float64(c.W.rounds), float64(c.W.warm), 0.0
	read := c.clocks()
	for _, k := range read {
		sum += k.ms
	}
	should := fmt.Sprintf("%.6g ms, what its events say for one round", k.ms/rounds)
	instead, fix := "", "Answer what cuda.EventElapsedTime says of the two events around the timed rounds, divided by rounds."
	switch {
	case near(answer, k.ms):
		instead, fix = ", the time of all rounds together", perRound
	case near(answer, k.ms/rounds/rounds):
		instead, fix = ", divided by the rounds twice", perRound
	case near(answer, k.ms/(rounds+warm)):
		instead, fix = ", divided by the rounds of the warm-up as well, which are not on the clock", perRound
	case near(answer, k.ms/rounds/1000):
		instead, fix = ", in seconds", "Answer milliseconds, as cuda.EventElapsedTime does."
	case near(answer, k.ms/rounds*1000):
		instead, fix = ", in microseconds", "Answer milliseconds, as cuda.EventElapsedTime does."
	case near(answer, sum), near(answer, sum/rounds):
		should = "what one clock around all rounds says, divided by them"
		instead, fix = fmt.Sprintf(", what %d clocks say together", len(read)), "Take one time, from right before the first timed round to right after the last."
	}
	if c.W.compare && instead == "" {
		for _, w := range c.ways() {
			if w.timed && c.says(w.clock, answer) {
				instead = ", the figure of " + w.name
			}
		}
	}
	f := c.Finding(-1, suite.Rule{ID: wrongTime, Fix: fix,
		Why: "A number that is not what the clock says is of something else than the work, however plausible.",
	}, "%s should answer %s, but answered %.6g ms%s.", what, should, answer, instead)
	f.Function = c.W.function()
	return []suite.Finding{f}
}

// judgeCompare looks at what each round of a way consists of, and shows the figures beside the solution's.
func judgeCompare(e *suite.Evidence) suite.Answer {
	a := comparisons.Judge(e, "All rounds had the same work, and memory in the way that they are named after.", func(m *suite.Made[workload]) (found []suite.Finding) {
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
	for i, k := range kinds {
		if yours != nil {
			a.Measurements = append(a.Measurements, figure(k.name+", as you measure it", yours[i]))
		}
		if solutions != nil {
			a.Measurements = append(a.Measurements, figure(k.name+", as the solution does", solutions[i]))
		}
	}
	if solutions != nil && !(solutions[2] < solutions[1] && solutions[1] < solutions[0]) {
		a.Findings = append(a.Findings, suite.Finding{Rule: "figures-out-of-order", Severity: suite.Remark, Record: -1, Function: "Compare",
			Message: fmt.Sprintf("Kept memory should cost less than memory in stream order, and that less than synchronous memory, but the solution measures "+
				"%.3g, %.3g and %.3g µs a round here.", 1e3*solutions[2], 1e3*solutions[1], 1e3*solutions[0]),
			Why: "What else runs on the machine or on the GPU is measured as well.",
			Fix: "Nothing in your code: check again when nothing else runs.",
		})
	}
	return a
}

// figure is a time of a round, in microseconds, for information.
func figure(name string, ms float64) suite.Measurement {
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

// figures are what was measured of the workload that is shown, in milliseconds, by the student's code and by the solution; nil
// where there is nothing.
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

// What the benchmark compares, and how often.
const (
	benchRounds  = 100
	benchSamples = 9
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
	}{{suite.Yours, &sides.Student}, {suite.Solution, sides.Solution}}
	for range benchSamples {
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
