package devicebump

import (
	"slices"
	"strings"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// Lives in which calls fail: a step that has answered an error is called once more, and then the life goes on.
var (
	sharedFaults = scene.Faults("shared-faults", lastGap, shortShared, faultJudge, wrongLife)
	ownFaults    = scene.Faults("own-faults", lastGap, shortOwn, faultJudge, wrongLife)
	faultJudge   = suite.FaultJudge{Function: "New, Launch, Reset or Close", Retried: "Close"}
)

// wrongLife finds what is wrong with a life in which no call failed.
func wrongLife(m *suite.Made[workload]) []verdict.Finding {
	c := call{m}
	if found := c.placed(); len(found) > 0 {
		return found
	}
	return c.results()
}

// goesOn finds what is out of order, or wrong, behind a call that has failed. What is so without any failure is told
// elsewhere.
func goesOn(e *suite.Evidence) (found []verdict.Finding) {
	if !e.Own() || verdict.HasError(ordered.Judge(e).Findings) {
		return nil
	}
	for _, faults := range []*suite.Faults[Code, workload]{sharedFaults, ownFaults} {
		notes, all := e.Cases[faults.ID], faults.Made(e)
		for _, run := range suite.FaultRuns(notes) {
			c := call{&all[run.Index]}
			if c.Noted(noteBeside) != nil {
				f := c.Finding(-1, suite.Rule{ID: "pools-beside-error",
					Why: "Whoever gets Pools takes them for good ones, and has nothing to close where there is an error.",
					Fix: "Return nil beside every error."}, "New should answer no Pools beside an error, but does. %s.", run.What)
				f.Function = "New"
				return []verdict.Finding{f}
			}
			if at := c.Noted(noteByItself); at != nil {
				method := "Close"
				if at[0] < uint64(len(c.W.steps)) {
					method = c.method(int(at[0]))
				}
				f := c.Finding(-1, suite.Rule{ID: "unexpected-error",
					Why: "Who is told of an error makes the call again, or gives up what has worked.",
					Fix: "Return the errors of the calls that are made in a method, and none that was before."},
					"%s should have answered nil, but answered an error, though no call failed in it. %s.", method, run.What)
				f.Function, _, _ = strings.Cut(method, "(")
				return []verdict.Finding{f}
			}
			if run.Outcome.Panic != "" || run.Op == trace.OpDeviceSynchronize || c.stepOf(run.Failed) < 0 {
				continue
			}
			var wrong []verdict.Finding
			for _, f := range notes.Findings {
				if f.Severity == verdict.Error && slices.Contains(verdict.OrderRules, f.Rule) && run.From <= f.Record &&
					f.Record < run.To {
					wrong = append(wrong, f)
				}
			}
			if len(wrong) == 0 {
				wrong = wrongLife(c.Made)
			}
			for _, f := range wrong {
				if fix := afterFailed[run.Op]; fix != "" && slices.Contains(verdict.OrderRules, f.Rule) {
					f.Fix = fix
				}
				found = append(found, e.Because(suite.OnError(notes, f, run.What, faultJudge.Function), notes, run))
			}
		}
	}
	return verdict.Unique(found)
}

// afterFailed is, by the call that has failed, what mends an order that is lost behind it.
var afterFailed = map[trace.Op]string{
	trace.OpStreamWaitEvent: "A wait that failed was not made. Note that a stream has waited only when " +
		"cuda.StreamWaitEvent has succeeded: the same call, made once more, then waits again.",
	trace.OpEventRecord: "An event that could not be recorded stands for nothing new. Note that it is recorded " +
		"only when cuda.EventRecord has succeeded: until then have every Launch that needs it record it once more, and " +
		"return the error if that fails.",
}

// outOfOrder finds what is out of order where events could not be recorded, and nobody has called Reset once more. What
// is so without any failure is told elsewhere.
func outOfOrder(e *suite.Evidence) (found []verdict.Finding) {
	if !e.Own() || verdict.HasError(ordered.Judge(e).Findings) {
		return nil
	}
	notes := e.Cases[refused.ID]
	for _, f := range e.Of(verdict.OrderRules, refused.ID) {
		if f.Severity == verdict.Error {
			f.Fix = afterFailed[trace.OpEventRecord]
			found = append(found, suite.OnError(notes, f, "As a test, cuda.EventRecord was made to fail in a Reset and in the "+
				"Launch behind it", faultJudge.Function))
		}
	}
	return found
}
