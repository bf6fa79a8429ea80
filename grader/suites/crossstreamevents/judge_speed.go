package crossstreamevents

import (
	_ "embed"
	"fmt"
	"strings"

	"cudalab/grader/suite"
)

// speedLimit is how much slower than the solution a right program may be.
const speedLimit = 1.5

//go:embed paces.txt
var paces string

func judgeSpeed(e *suite.Evidence) suite.Answer {
	notes := e.Cases[caseSpeed]
	var a suite.Answer
	for _, w := range []workload{{}, {consumers: timedFanOut}} {
		spoilt := notes.Spoilt("The code", func(notes *suite.CaseNotes) []suite.Finding { return wrongWhenTimed(notes, w) })
		if spoilt != nil {
			return suite.Answer{Findings: spoilt}
		}
		one := judgeSpeedOf(e, w.function())
		if one.Skip != "" {
			return one
		}
		a.Message = strings.TrimSpace(a.Message + " " + one.Message)
		a.Findings = append(a.Findings, one.Findings...)
		a.Measurements = append(a.Measurements, one.Measurements...)
		a.Confirm = a.Confirm || one.Confirm
	}
	return a
}

func judgeSpeedOf(e *suite.Evidence, function string) suite.Answer {
	return e.JudgeSpeed(e.Cases[caseSpeed], suite.SpeedWords{
		Pacing: suite.Pacing{Function: function, Versus: "a host that waits", Limit: speedLimit, Recorded: paces},
		Passed: func(ratio, speedup float64) string {
			return fmt.Sprintf("%s takes %.2f times the solution's time and is %.1f times as fast as with a host that waits.",
				function, ratio, speedup)
		},
		Work: "Beside other long work " + function, Takes: "takes",
		Why: "Two long pieces of work in two streams take the time of one, unless a wait puts them one after the other.",
		Fix: "Let a stream wait only for what it needs, and the host for nothing.",
	})
}

// wrongWhenTimed looks at the results of the timed runs, and at what audited ones did: speed counts only where they are right too.
func wrongWhenTimed(notes *suite.CaseNotes, w workload) []suite.Finding {
	wrong := suite.Finding{
		Rule: "wrong-when-timed", Severity: suite.Error, Record: -1, Function: w.function(),
		Why: "Work that is left out or reused from an earlier call is not faster work.",
		Fix: "Do all the work anew in every call, whatever was done before.",
	}
	for _, i := range notes.Values[suite.Series(w.function(), noteLeftOut)] {
		wrong.Message = fmt.Sprintf("%s should have kernels.Process and kernels.Reduce compute every sum in each call, but in a call among the "+
			"timed ones that at %s did not come from them; the same code did all its work before.", w.function(), w.outName(int(i)))
		return []suite.Finding{wrong}
	}
	sums := notes.Values[suite.Series(w.function(), noteTimedSum)]
	for _, n := range notes.Values[suite.Series(w.function(), noteTimedN)] {
		w.n = int(n)
		want := w.want()
		for i := range w.outs() {
			if len(sums) > i && sums[i] == want {
				continue
			}
			wrong.Message = fmt.Sprintf("%s should do all of its work in each call, but while it was timed for %s, the sum at %s was wrong; the "+
				"same code was right before.", w.function(), w.label(), w.outName(i))
			return []suite.Finding{wrong}
		}
		sums = sums[w.outs():]
	}
	return nil
}
