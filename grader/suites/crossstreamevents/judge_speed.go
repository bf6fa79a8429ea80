package crossstreamevents

import (
	"fmt"

	"cudalab/grader/measure"
	"cudalab/grader/suite"
)

// speedLimit is how much slower than the solution a right program may be.
const speedLimit = 1.5

func judgeSpeed(e *suite.Evidence) suite.Answer {
	notes := e.Cases[caseSpeed]
	for _, o := range notes.Outcomes {
		return suite.Answer{Findings: []suite.Finding{suite.UnexpectedError("The code", o)}}
	}
	var a suite.Answer
	for _, w := range []workload{{}, {consumers: timedFanOut}} {
		if f, wrong := wrongWhenTimed(notes, w); wrong {
			return suite.Answer{Findings: []suite.Finding{f}}
		}
		name := w.function()
		yours, solution := notes.Samples[series(name, seriesStudent)], notes.Samples[series(name, seriesSolution)]
		baseline := notes.Samples[series(name, seriesBaseline)]
		if len(yours) == 0 {
			return suite.Answer{Skip: "No time could be measured."}
		}
		ratio, speedup := measure.RatioOf(yours, solution), measure.RatioOf(baseline, yours)
		if a.Message != "" {
			a.Message += " "
		}
		a.Message += fmt.Sprintf("%s takes %.2f times the solution's time and is %.1f times as fast as with a host that waits.",
			name, ratio.Value, speedup.Value)
		a.Measurements = append(a.Measurements,
			suite.Figure(name+": time / solution's time", "x", ratio, speedLimit),
			suite.Figure(name+": speedup over a host that waits", "x", speedup, 0),
			suite.Microseconds(name+": your time", yours),
			suite.Microseconds(name+": the solution's time", solution),
			suite.Microseconds(name+": the baseline's time", baseline))
		if ratio.Against(speedLimit) == measure.Beyond {
			a.Confirm = true
			a.Findings = append(a.Findings, tooSlow(name, ratio))
		}
	}
	return a
}

func tooSlow(function string, ratio measure.Interval) suite.Finding {
	return suite.Finding{
		Rule: "too-slow", Severity: suite.Error, Record: -1,
		Message: fmt.Sprintf("%s takes %.1f times as long as the solution's (%.1f to %.1f) beside other long work; up to %.1f times "+
			"would be fine.", function, ratio.Value, ratio.Low, ratio.High, speedLimit),
		Why: "Two long pieces of work in two streams take the time of one, unless a wait puts them one after the other.",
		Fix: "Let a stream wait only for what it needs, and the host for nothing.",
	}
}

// wrongWhenTimed looks at the results of the timed runs: speed counts only where they are right too.
func wrongWhenTimed(notes *suite.CaseNotes, w workload) (suite.Finding, bool) {
	sums := notes.Values[series(w.function(), noteTimedSum)]
	for _, n := range notes.Values[series(w.function(), noteTimedN)] {
		w.n = int(n)
		want := w.want()
		for i := range w.outs() {
			if len(sums) > i && sums[i] == want {
				continue
			}
			return suite.Finding{
				Rule: "wrong-when-timed", Severity: suite.Error, Record: -1,
				Message: fmt.Sprintf("While %s was timed for %s, %s came out wrong, though the same code was right before.",
					w.function(), w.label(), w.outName(i)),
				Why: "Work that is left out or reused from an earlier call is not faster work.",
				Fix: "Do all the work anew in every call, whatever was done before.",
			}, true
		}
		sums = sums[w.outs():]
	}
	return suite.Finding{}, false
}
