package asyncpipeline

import (
	"fmt"

	"cudalab/grader/suite"
)

func judgeCleanup(e *suite.Evidence) suite.Answer {
	a := suite.Answer{
		Findings: e.Of(suite.EndRules, caseShapes, caseRandom),
		Message:  "Every buffer was freed once, and a failing CUDA call was reported and left nothing behind.",
	}
	if suite.HasError(a.Findings) {
		return a // a leak without any failure would only be told again for each failure
	}
	a.Findings = suite.Unique(append(a.Findings, afterFaults(e)...))
	if len(a.Findings) == 0 {
		a.Skip = incomplete(e)
	}
	return a
}

// afterFaults judges the runs in which one CUDA call was made to fail: the error must come back, and what was
// allocated until then must be freed.
func afterFaults(e *suite.Evidence) []suite.Finding {
	notes := e.Cases[caseFaults]
	var found []suite.Finding
	for i, o := range notes.Outcomes {
		from, to := notes.Window(i)
		failed := notes.Faked(from, to)
		if failed < 0 {
			continue // the code does without the call that was to fail
		}
		r := &notes.Trace.Records[failed]
		what := suite.CallName(r) + " was made to answer " + codeName(r.Code)
		if o.OK() {
			found = append(found, e.At(suite.Finding{
				Rule: "error-ignored", Severity: suite.Error, Record: failed,
				Message: what + ", and Run should have returned that error, but it returned nil.",
				Why:     "A CUDA call that fails does nothing at all; what follows works on memory or results that are not there.",
				Fix:     "Check the error of this call and return it.",
			}, notes.Trace.SiteOf(r)))
		}
		for _, f := range notes.Findings {
			if f.Rule != "leak" || f.Record < from || f.Record >= to {
				continue
			}
			f.Rule = "leak-on-error"
			f.Message = fmt.Sprintf("%s, and after Run had returned, what was allocated here was still not freed.", what)
			f.Why = "The caller never learns the address, so nobody else can free it."
			f.Fix = "Free the buffer with cuda.FreeAsync in the batch's stream before returning the error."
			if places := e.Place(notes.Trace.SiteOf(r)); len(places) > 0 {
				f.Related = append(f.Related, suite.Related{File: places[0].File, Line: places[0].Line,
					Message: "this call was made to fail"})
			}
			found = append(found, f)
		}
	}
	return found
}
