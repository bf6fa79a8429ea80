package crossstreamevents

import (
	"slices"

	"cudalab/grader/suite"
)

func judgeCleanup(e *suite.Evidence) suite.Answer {
	a := suite.Answer{
		Findings: e.Of(suite.EndRules, caseShare, caseShareDelays, caseFanOut, caseFanOutDelays),
		Message:  "Buffers and events are gone after every call, also where a call in between failed, and the failure was reported.",
	}
	if suite.HasError(a.Findings) {
		return a // a leak without any failure would only be told again for each failure
	}
	if a.Skip = incomplete(e); a.Skip != "" {
		return a
	}
	a.Findings = slices.Concat(a.Findings, afterIndependent(e), afterFaults(e, caseShareFaults, faultyShare),
		afterFaults(e, caseFanOutFaults, faultyFanOut))
	a.Findings = suite.Unique(a.Findings)
	return a
}

// afterIndependent judges the call in which independent failed. That its free was in order is the order check's.
func afterIndependent(e *suite.Evidence) []suite.Finding {
	notes := e.Cases[caseShareError]
	var found []suite.Finding
	for _, f := range notes.Findings {
		if slices.Contains(suite.EndRules, f.Rule) {
			found = append(found, notes.OnError(f, "As a test, independent returned an error", "Share"))
		}
	}
	if kept := notes.Values[noteKept]; len(kept) > 0 && kept[0] == 0 {
		found = append(found, suite.Finding{
			Rule: "error-ignored", Severity: suite.Error, Record: -1,
			Message: "As a test, independent returned an error. Share should have returned it too (errors.Is looks for it), but did not.",
			Why:     "The caller has to know that its own work is not in the stream's queue.",
			Fix:     "Return the error of independent once the buffer is freed; errors.Join keeps several errors.",
		})
	}
	return found
}

// afterFaults judges the runs in which one CUDA call was made to fail.
func afterFaults(e *suite.Evidence, caseID string, w workload) []suite.Finding {
	all := calls(e, caseID, []workload{w})
	return e.AfterFaults(caseID, suite.FaultJudge{
		Function: w.function(),
		Wrong:    func(outcome int) string { return all[outcome].wrongSum() },
	})
}
