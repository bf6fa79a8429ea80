package slab

import "cudalab/grader/suite"

func judgeCleanup(e *suite.Evidence) suite.Answer {
	a := suite.Answer{
		Message:  "Close gave everything back, and a CUDA call that failed was reported and left nothing behind.",
		Findings: e.Of(suite.EndRules, caseExamples, caseRandom),
	}
	if suite.HasError(a.Findings) {
		return a // what goes wrong without any failure would only be told again for each failure
	}
	if outcomes := e.Cases[caseFaults].Outcomes; len(outcomes) == 0 || !outcomes[0].OK() {
		a.Skip = "The allocator did not work even where no call failed, so this could not be seen."
		return a
	}
	a.Findings = suite.Unique(append(a.Findings, e.AfterFaults(caseFaults, suite.FaultJudge{
		Function: "New or Close",
		Retried:  "Close",
	})...))
	return a
}
