package vmmarena

import (
	"fmt"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// callsOfReset finds what Reset asks of CUDA.
func (c *replay) callsOfReset() []verdict.Finding {
	var found []verdict.Finding
	for i := range c.steps {
		if c.steps[i].op.Kind != allocator.KindReset || i > c.Right {
			continue
		}
		for _, at := range c.steps[i].calls {
			r := &c.Notes.Trace.Records[at]
			f := verdict.Finding{Rule: "cuda-call",
				Message: fmt.Sprintf("Reset should have left CUDA alone, but it called %s.", suite.CallName(r)),
				Why:     "What is mapped once costs nothing to use again; to unmap it and map it anew takes many microseconds.",
				Fix:     "Set the number of bytes that are used to 0, and leave the memory mapped until Close."}
			switch {
			case r.Op == trace.OpMemUnmap:
				f.Rule = "reset-unmaps"
			case harmless(r.Op):
				f.Severity = verdict.Remark
			}
			found = append(found, c.finding(i, at, f)...)
		}
	}
	return found
}
