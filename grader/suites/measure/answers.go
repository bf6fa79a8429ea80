package measure

import (
	"fmt"
	"math"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
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
func (c call) says(k clock, answer float64) bool { return near(answer, k.Ms/float64(c.W.rounds)) }

func results(m *suite.Made[workload]) []verdict.Finding {
	if !m.Outcome.OK() {
		return []verdict.Finding{m.UnexpectedError(m.W.function())}
	}
	return wrongAnswer(m)
}

// wrongAnswer finds what is wrong with the answer of a call.
func wrongAnswer(m *suite.Made[workload]) []verdict.Finding { return call{m}.wrongAnswers() }

// wrongAnswers finds numbers that are not what a clock of the call says.
func (c call) wrongAnswers() (found []verdict.Finding) {
	if !c.W.compare {
		read := c.judged()
		if len(read) == 0 {
			return []verdict.Finding{c.fromNoEvents("Time", c.answers()[0])}
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

func (c call) fromNoEvents(what string, answer float64) verdict.Finding {
	f := c.Finding(-1, suite.Rule{ID: wrongTime,
		Why: "Only the stream knows when it was done with the first round and with the last; what the host's clock or a " +
			"guess says is something else.",
		Fix: "Record two events in s around the timed rounds, and divide what cuda.EventElapsedTime says of them by the " +
			"rounds.",
	}, "%s should answer what two events say, but answered %.6g ms, for which cuda.EventElapsedTime was not called.", what,
		answer)
	f.Function = c.W.function()
	return f
}

// wrongTime is the finding about an answer that is not what its clock says, with what it is instead where that can be
// told.
func (c call) wrongTime(what string, k clock, answer float64) []verdict.Finding {
	if c.says(k, answer) {
		return nil
	}
	rounds, warm, sum := float64(c.W.rounds), float64(c.W.warm), 0.0
	read := c.clocks()
	for _, k := range read {
		sum += k.Ms
	}
	should := fmt.Sprintf("%.6g ms, what its events say for one round", k.Ms/rounds)
	instead, fix := "", "Answer what cuda.EventElapsedTime says of the two events around the timed rounds, divided by "+
		"rounds."
	switch {
	case near(answer, k.Ms):
		instead, fix = ", the time of all rounds together", perRound
	case near(answer, k.Ms/rounds/rounds):
		instead, fix = ", divided by the rounds twice", perRound
	case near(answer, k.Ms/(rounds+warm)):
		instead, fix = ", divided by the rounds of the warm-up as well, which are not on the clock", perRound
	case near(answer, k.Ms/rounds/1000):
		instead, fix = ", in seconds", "Answer milliseconds, as cuda.EventElapsedTime does."
	case near(answer, k.Ms/rounds*1000):
		instead, fix = ", in microseconds", "Answer milliseconds, as cuda.EventElapsedTime does."
	case near(answer, sum), near(answer, sum/rounds):
		should = "what one clock around all rounds says, divided by them"
		instead, fix = fmt.Sprintf(", what %d clocks say together", len(read)),
			"Take one time, from right before the first timed round to right after the last."
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
	f.Look.Answer = !c.W.compare // which answers three times
	return []verdict.Finding{f}
}
