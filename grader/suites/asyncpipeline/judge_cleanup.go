package asyncpipeline

import (
	"cudalab/grader/suite"
	"cudalab/native/trace"
)

func judgeCleanup(e *suite.Evidence) suite.Answer {
	a := suite.Answer{
		Findings: e.Of(suite.EndRules, caseShapes, caseRandom),
		Message:  "Every buffer was freed once, and a failing CUDA call was reported and left nothing behind.",
	}
	if suite.HasError(a.Findings) {
		return a // a leak without any failure would only be told again for each failure
	}
	if a.Skip = incomplete(e); a.Skip != "" {
		return a
	}
	all := calls(e, caseFaults, []workload{faulty()})
	a.Findings = suite.Unique(append(a.Findings, e.AfterFaults(caseFaults, suite.FaultJudge{
		Function: "Run",
		Wrong:    func(outcome int) string { return all[outcome].wrongSum() },
		Fixes: map[trace.Op]string{
			trace.OpMallocAsync: "Free the buffer with cuda.FreeAsync in the batch's stream before returning the error.",
		},
	})...))
	return a
}
