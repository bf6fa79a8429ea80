package crossstreamevents

import (
	"fmt"

	"cudalab/grader/suite"
)

func judgeArguments(e *suite.Evidence) suite.Answer {
	a := suite.Answer{Message: "Bad arguments are refused, and nothing was touched."}
	share, fanOut := e.Cases[caseShareArguments], e.Cases[caseFanOutArguments]
	a.Findings = append(
		refusals(e, share, "Share", "Return contract.ErrArgument when n is below 1."),
		refusals(e, fanOut, "FanOut", "Return contract.ErrArgument when n is below 1, when there are no consumers, and when "+
			"len(outs) is not len(consumers).")...)
	a.Findings = suite.Unique(a.Findings)
	if len(a.Findings) == 0 && (len(share.Outcomes) < len(badShares) || len(fanOut.Outcomes) < len(badFanOuts)) {
		a.Skip = "Not every bad argument could be tried."
	}
	return a
}

// refusals judges the calls with bad arguments: each must answer contract.ErrArgument without a CUDA call.
func refusals(e *suite.Evidence, notes *suite.CaseNotes, function, fix string) []suite.Finding {
	refusal := suite.Refusal{
		Function: function,
		Why:      "An argument that is refused before the first CUDA call leaves nothing to undo.",
		Fix:      fix,
		FixLate:  "Look at all the arguments before the first CUDA call.",
	}
	var found []suite.Finding
	for i, o := range notes.Outcomes {
		if !o.Argument && o.Panic == "" {
			answer := "nil"
			if o.Err != "" {
				answer = "another error: " + o.Err
			}
			found = append(found, suite.Finding{
				Rule: "bad-argument-accepted", Severity: suite.Error, Record: -1, Function: function,
				Message: fmt.Sprintf("%s was given %s: it should have returned contract.ErrArgument, or an error that wraps it, "+
					"but it returned %s.", function, o.Label, answer),
				Why: refusal.Why,
				Fix: refusal.Fix,
			})
		}
		found = append(found, e.LateCheck(notes, i, refusal)...)
	}
	return found
}
