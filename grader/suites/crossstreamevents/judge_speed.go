package crossstreamevents

import (
	_ "embed"
	"fmt"

	"cudalab/grader/measure"
	"cudalab/grader/suite"
)

// speedLimit is how much slower than the solution a right program may be.
const speedLimit = 1.5

//go:embed paces.txt
var paces string

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
		pacing := suite.Pacing{Function: name, Versus: "a host that waits", Limit: speedLimit, Recorded: paces}
		pace, ok := e.Pace(notes, pacing)
		if !ok {
			return suite.Answer{Skip: "No time could be measured."}
		}
		if a.Message != "" {
			a.Message += " "
		}
		a.Message += fmt.Sprintf("%s takes %.2f times the solution's time and is %.1f times as fast as with a host that waits.",
			name, pace.Ratio.Value, pace.Speedup.Value)
		a.Findings = append(a.Findings, pace.Remarks...)
		a.Measurements = append(a.Measurements, pace.Measurements...)
		if pace.TooSlow(pacing) {
			a.Confirm = true
			a.Findings = append(a.Findings, tooSlow(name, pace.Ratio))
		}
	}
	return a
}

func tooSlow(function string, ratio measure.Interval) suite.Finding {
	return suite.Finding{
		Rule: "too-slow", Severity: suite.Error, Record: -1, Function: function,
		Message: fmt.Sprintf("Beside other long work %s should take at most %.1f times as long as the solution's, but takes %.1f times as "+
			"long (%.1f to %.1f).", function, speedLimit, ratio.Value, ratio.Low, ratio.High),
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
				Rule: "wrong-when-timed", Severity: suite.Error, Record: -1, Function: w.function(),
				Message: fmt.Sprintf("%s should do all of its work in each call, but while it was timed for %s, the sum at %s was wrong; the "+
					"same code was right before.", w.function(), w.label(), w.outName(i)),
				Why: "Work that is left out or reused from an earlier call is not faster work.",
				Fix: "Do all the work anew in every call, whatever was done before.",
			}, true
		}
		sums = sums[w.outs():]
	}
	return suite.Finding{}, false
}
