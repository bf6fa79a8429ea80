package sequence

import (
	"errors"
	"fmt"

	"cudalab/grader/suite"
	"cudalab/native/trace"
)

// EveryFault has every CUDA call fail in turn while the allocator that label makes is made, used and closed with blocks
// still handed out.
func EveryFault(b *suite.Bench, label string, allocator func() (Allocator, error)) {
	b.EveryFault(label+", three times Alloc, and Close", func() (func() error, func()) {
		return func() error {
			a, err := allocator()
			if err != nil {
				return err
			}
			for _, size := range []int64{100, 512, 1000} {
				_, wrong := a.Alloc(size)
				err = errors.Join(err, wrong)
			}
			if wrong := a.Close(); wrong != nil {
				err = errors.Join(err, wrong)
				_ = a.Close() // to free what is left; the trace shows whether it did
			}
			return err
		}, func() {}
	})
}

// JudgeArguments judges a case's calls of New: so many that have to be refused, and behind them one with good arguments
// that asks for more memory than any device has.
func JudgeArguments(e *suite.Evidence, caseID string, bad int, r suite.Refusal) suite.Answer {
	a := e.JudgeArguments(caseID, bad, r)
	outcomes := e.Cases[caseID].Outcomes
	if len(a.Findings) == 0 && bad < len(outcomes) && outcomes[bad].Argument {
		a.Findings = []suite.Finding{{
			Rule: "wrong-error", Severity: suite.Error, Record: -1, Function: "New",
			Message: outcomes[bad].Label + " should have returned the error of cuda.Malloc, since its arguments are good and only the " +
				"memory is lacking, but it returned contract.ErrArgument.",
			Why: "The caller finds out with errors.Is whether the arguments were at fault or the device.",
			Fix: "Refuse only what New's comment rules out.",
		}}
	}
	return a
}

// JudgeCleanup judges that Close gives everything back: in some cases, and in the case of EveryFault, faults.
func JudgeCleanup(e *suite.Evidence, faults string, cases ...string) suite.Answer {
	a := suite.Answer{
		Message:  "Close gave everything back, and a CUDA call that failed was reported and left nothing behind.",
		Findings: e.Of(suite.EndRules, cases...),
	}
	if suite.HasError(a.Findings) {
		return a // what goes wrong without any failure would only be told again for each failure
	}
	if outcomes := e.Cases[faults].Outcomes; len(outcomes) == 0 || !outcomes[0].OK() {
		a.Skip = "The allocator did not work even where no call failed, so this could not be seen."
		return a
	}
	a.Findings = suite.Unique(append(a.Findings, e.AfterFaults(faults, suite.FaultJudge{
		Function: "New or Close",
		Retried:  "Close",
	})...))
	return a
}

// NotMade are the allocators that New should have made in some cases, and did not. made are the labels of the Runners
// that made them.
func NotMade(e *suite.Evidence, made map[string]bool, cases ...string) []suite.Finding {
	var found []suite.Finding
	for _, id := range cases {
		for _, o := range e.Cases[id].Outcomes {
			if made[o.Label] && !o.OK() {
				found = append(found, suite.UnexpectedError("New", o))
			}
		}
	}
	return found
}

// CallsBetween finds the CUDA calls that an allocator has made in some cases neither in New nor in Close. made are the
// labels of the Runners that made it. memory is what New should get, "all memory", and onHost what the host does in
// place of calling CUDA, "a list".
func CallsBetween(e *suite.Evidence, made map[string]bool, memory, onHost string, cases ...string) []suite.Finding {
	var found []suite.Finding
	for _, id := range cases {
		notes := e.Cases[id]
		for at, i := range notes.CallsOfRecords() {
			r := &notes.Trace.Records[at]
			if i < 0 || i >= len(notes.Outcomes) || r.Phase == trace.Leave {
				continue
			}
			doing := notes.Outcomes[i].Label
			if made[doing] || doing == phrase(Op{Kind: Close}) {
				continue
			}
			found = append(found, e.At(suite.Finding{
				Rule: "cuda-call", Severity: suite.Error, Record: at,
				Message: fmt.Sprintf("Asked to %s, the allocator should not have called CUDA, but it called %s.", doing, suite.CallName(r)),
				Why: fmt.Sprintf("That is what the allocator is for: a cudaMalloc takes the driver microseconds, and a cudaFree waits for the "+
					"whole device, where %s on the host takes nanoseconds.", onHost),
				Fix: fmt.Sprintf("Get %s in New, free it in Close, and keep account of the blocks on the host.", memory),
			}, notes.Trace.SiteOf(r)))
		}
	}
	return suite.Unique(found)
}

// Shortest puts, of the findings with the same rule, the one first whose sequence is told in the fewest words.
func Shortest(findings []suite.Finding) []suite.Finding {
	first := map[string]int{}
	for i, f := range findings {
		if j, ok := first[f.Rule]; !ok {
			first[f.Rule] = i
		} else if len(f.Message) < len(findings[j].Message) {
			findings[i], findings[j] = findings[j], findings[i]
		}
	}
	return findings
}

// InsteadOf says what an answer should have been: "should have returned contract.ErrFull, but it returned nil".
func (a Answer) InsteadOf(want Err) string {
	return fmt.Sprintf("should have returned %v, but it returned %s", want, a.Says())
}

// WrongError is the fault of an answer that is another than the one wanted.
func WrongError(want Err, a Answer) *Fault {
	return &Fault{Rule: "wrong-error", Message: a.InsteadOf(want),
		Why: "The caller finds out with errors.Is what went wrong, and what to do about it.",
		Fix: fmt.Sprintf("Return %v here, or an error that wraps it with %%w.", want)}
}
