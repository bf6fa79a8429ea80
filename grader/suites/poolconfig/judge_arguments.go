package poolconfig

import (
	"fmt"
	"strings"

	"cudalab/grader/suite"
	"cudalab/native/trace"
)

func judgeArguments(e *suite.Evidence) suite.Answer {
	var a suite.Answer
	notes := e.Cases[caseArguments]
	const fix = "Return contract.ErrArgument for no streams, no sizes, a size below 1, fewer than one round, and a device " +
		"below 0 or not below cuda.GetDeviceCount()."
	for i, o := range notes.Outcomes {
		switch {
		case o.OK():
			a.Findings = append(a.Findings, suite.Finding{
				Rule: "bad-argument-accepted", Severity: suite.Error, Record: -1,
				Message: fmt.Sprintf("Run was given %s: it should have returned an error, but it returned nil.", o.Label),
				Why:     "An argument that is refused before anything is made leaves nothing to undo.",
				Fix:     fix,
			})
		case !o.Argument:
			a.Findings = append(a.Findings, suite.Finding{
				Rule: "wrong-error", Severity: suite.Error, Record: -1,
				Message: fmt.Sprintf("Run was given %s: it should have returned contract.ErrArgument, but it returned: %s.",
					o.Label, strings.TrimSuffix(o.Err, ".")),
				Why: "The caller finds out with errors.Is whether the arguments were at fault or the device.",
				Fix: fix,
			})
		}
		from, to := notes.Window(i)
		for at := from; at < to; at++ {
			r := &notes.Trace.Records[at]
			// Counting the devices is how one learns that a device is not there.
			if r.Op == trace.OpMark || r.Op == trace.OpDeviceInfo || r.Phase == trace.Leave {
				continue
			}
			a.Findings = append(a.Findings, e.At(suite.Finding{
				Rule: "late-argument-check", Severity: suite.Error, Record: at,
				Message: fmt.Sprintf("Run was given %s: it should have refused before it made anything, but it called %s first.", o.Label,
					suite.CallName(r)),
				Why: "An argument that is refused before anything is made leaves nothing to undo.",
				Fix: "Look at all the arguments, every size included, before the first CUDA call but cuda.GetDeviceCount.",
			}, notes.Trace.SiteOf(r)))
			break
		}
	}
	a.Findings = suite.Unique(a.Findings)
	if len(a.Findings) == 0 && len(notes.Outcomes) < len(badArguments) {
		a.Skip = "Not every bad argument could be tried."
	}
	a.Message = "Bad arguments are refused, and nothing was touched."
	return a
}
