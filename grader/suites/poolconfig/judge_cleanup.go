package poolconfig

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/native/device"
)

func judgeCleanup(e *suite.Evidence) suite.Answer {
	a := judged(e, false, func(*call) []suite.Finding { return nil })
	a.Findings = e.Of(suite.EndRules, caseShapes, caseRandom)
	a.Message = "Every block was freed and the pool destroyed, and a failing CUDA call was reported and left nothing behind."
	if suite.HasError(a.Findings) || a.Skip != "" {
		return a // what goes wrong without any failure would only be told again for each failure
	}
	a.Findings = suite.Unique(append(a.Findings, afterFaults(e)...))
	return a
}

// afterFaults judges the runs in which one CUDA call was made to fail: the error must come back, what was made until
// then must be given back, and the device's pools must be as they were.
func afterFaults(e *suite.Evidence) []suite.Finding {
	var found []suite.Finding
	changed := slices.ContainsFunc(good(e), func(c call) bool { return len(c.changedPools()) > 0 })
	for _, c := range calls(e, caseFaults, []workload{faulty()}) {
		failed := c.notes.Faked(c.from, c.to)
		if failed < 0 {
			if !c.outcome.OK() {
				found = append(found, suite.UnexpectedError("Run", c.outcome))
			}
			continue // the code does without the call that was to fail
		}
		r := c.record(failed)
		what := suite.CallName(r) + " was made to answer " + device.Code(r.Code).String()
		if c.outcome.OK() {
			found = append(found, c.at(failed, suite.Finding{
				Rule:    "error-ignored",
				Message: what + ", and Run should have returned that error, but it returned nil.",
				Why:     "A CUDA call that fails does nothing at all; what follows works on memory or numbers that are not there.",
				Fix:     "Check the error of this call and return it.",
			}))
		}
		for _, f := range c.notes.Findings {
			if f.Rule != "leak" || f.Record < c.from || f.Record >= c.to {
				continue
			}
			f.Rule = "leak-on-error"
			f.Message = what + ", and after Run had returned, what was made here was still there."
			f.Why = "The caller never learns of it, so nobody else can give it back."
			f.Fix = "Give back what has been made before returning the error: blocks with cuda.FreeAsync, the pool with " +
				"cuda.MemPoolDestroy."
			found = append(found, c.because(failed, f))
		}
		if changed {
			continue // so they are without any failure
		}
		for _, f := range c.changedPools() {
			f.Message = fmt.Sprintf("%s, and after Run had returned, the device's pools were not as it had found them.", what)
			found = append(found, c.because(failed, f))
		}
	}
	return found
}

// because relates a finding to the call that was made to fail.
func (c *call) because(failed int, f suite.Finding) suite.Finding {
	if places := c.e.Place(c.notes.Trace.SiteOf(c.record(failed))); len(places) > 0 {
		f.Related = append(f.Related, suite.Related{File: places[0].File, Line: places[0].Line,
			Message: "this call was made to fail"})
	}
	return f
}
