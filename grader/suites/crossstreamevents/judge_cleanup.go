package crossstreamevents

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/native/device"
	"cudalab/native/trace"
)

func judgeCleanup(e *suite.Evidence) suite.Answer {
	a := suite.Answer{
		Findings: e.Of(suite.EndRules, caseShare, caseShareDelays, caseFanOut, caseFanOutDelays),
		Message:  "Buffers and events are gone after every call, also where a call in between failed, and the failure was reported.",
	}
	if suite.HasError(a.Findings) {
		return a // a leak without any failure would only be told again for each failure
	}
	a.Findings = append(a.Findings, afterIndependent(e)...)
	a.Findings = suite.Unique(append(a.Findings, afterFaults(e)...))
	if !suite.HasError(a.Findings) {
		a.Skip = incomplete(e)
	}
	return a
}

// afterIndependent judges the call in which independent failed. That its free was in order is the order check's.
func afterIndependent(e *suite.Evidence) []suite.Finding {
	notes := e.Cases[caseShareError]
	var found []suite.Finding
	for _, f := range notes.Findings {
		if slices.Contains(suite.EndRules, f.Rule) {
			found = append(found, onError(f, "independent returned an error", notes.Trace))
		}
	}
	if kept := notes.Values[noteKept]; len(kept) > 0 && kept[0] == 0 {
		found = append(found, suite.Finding{
			Rule: "error-ignored", Severity: suite.Error, Record: -1,
			Message: "independent returned an error, and Share should have returned it (errors.Is finds it), but it did not.",
			Why:     "The caller has to know that its own work is not in the queue.",
			Fix:     "Return the error of independent once the buffer is freed; errors.Join keeps several errors.",
		})
	}
	return found
}

// afterFaults judges the runs in which one CUDA call was made to fail: the error must come back, and what was made until
// then must be gone, in order.
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
		what := suite.CallName(r) + " was made to answer " + device.Code(r.Code).String()
		if o.OK() {
			found = append(found, e.At(suite.Finding{
				Rule: "error-ignored", Severity: suite.Error, Record: failed,
				Message: what + ", and that error should have been returned, but nil was.",
				Why:     "A CUDA call that fails does nothing at all; what follows works on memory or results that are not there.",
				Fix:     "Check the error of this call and return it.",
			}, notes.Trace.SiteOf(r)))
		}
		for _, f := range notes.Findings {
			if f.Record < from || f.Record >= to || f.Severity == suite.Remark {
				continue
			}
			ends := slices.Contains(suite.EndRules, f.Rule)
			if !ends && f.Rule != "free-before-use" {
				continue
			}
			f = onError(f, what, notes.Trace)
			if f.Rule == "free-before-use-on-error" && (r.Op == trace.OpEventRecord || r.Op == trace.OpStreamWaitEvent) {
				f.Severity = suite.Remark // the usual way to order the free is the one that failed
				f.Fix = "Where no event can be had, the host is left: cuda.StreamSynchronize for that stream, then free."
				f.Related, f.Picture = nil, ""
			}
			if places := e.Place(notes.Trace.SiteOf(r)); len(places) > 0 {
				f.Related = append(f.Related, suite.Related{File: places[0].File, Line: places[0].Line,
					Message: "this call was made to fail"})
			}
			found = append(found, f)
		}
	}
	return found
}

// onError words a finding of the order checker's for a call in which something failed.
func onError(f suite.Finding, what string, t *trace.Trace) suite.Finding {
	if f.Rule == "leak" {
		f.Message = what + ", and after the function had returned, the buffer that was allocated here was still not freed."
		f.Why = "The caller never learns the address, so nobody else can free it."
		f.Fix = "Free the buffer with cuda.FreeAsync before returning the error."
		if f.Record >= 0 && t.Records[f.Record].Op == trace.OpEventCreate {
			f.Message = what + ", and after the function had returned, the event that was created here was still there."
			f.Why = "The caller never learns of the event, so nobody else can destroy it."
			f.Fix = "Call cuda.EventDestroy before returning the error; a defer right after the creation covers every way out."
		}
	} else {
		f.Message = fmt.Sprintf("%s, and then: %s", what, f.Message)
	}
	f.Rule += "-on-error"
	return f
}
