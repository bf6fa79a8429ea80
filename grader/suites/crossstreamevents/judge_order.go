package crossstreamevents

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/native/trace"
)

func judgeOrder(e *suite.Evidence) suite.Answer {
	a := suite.Answer{
		Findings: e.Of(suite.OrderRules, caseShare, caseShareDelays, caseShareError, caseFanOut, caseFanOutDelays),
		Message:  "No use before its allocation, after its free, or beside a write it is not ordered with.",
	}
	a.Findings = suite.Unique(append(a.Findings, e.Remarks(caseShare, caseShareDelays, caseFanOut, caseFanOutDelays)...))
	if !suite.HasError(a.Findings) {
		a.Skip = incomplete(e)
	}
	return a
}

func judgePlacement(e *suite.Evidence) suite.Answer {
	return judgeCalls(e, "Who owns the buffer allocates, fills and frees it; who reads it reduces it into its own result.",
		func(c *call) []suite.Finding { return append(c.misplaced(), c.leftOut()...) })
}

// misplaced finds the calls that are in another stream than the contract says.
func (c *call) misplaced() []suite.Finding {
	var found []suite.Finding
	c.records(func(at int, r *trace.Record) bool {
		want, what := c.belongs(r)
		if r.Code != 0 || want < 0 || r.Stream == c.Streams[want] {
			return true
		}
		name := c.w.streamName(want)
		found = append(found, c.At(at, suite.Finding{
			Rule:    "wrong-stream",
			Message: fmt.Sprintf("%s should be in stream %s, but %s is in %s.", what, name, suite.CallName(r), c.streamName(r.Stream)),
			Why: "Each stream works through its own queue, so the stream that a call is given to decides what it waits for and " +
				"what waits for it.",
			Fix: fmt.Sprintf("Pass %s as the stream of this call.", name),
		}))
		return true
	})
	return found
}

// belongs is the stream that a call has to be in, 0 for the source, and what to call it at the start of a sentence; -1 where any will do. Calls that
// belong to no stream at all are another check's.
func (c *call) belongs(r *trace.Record) (stream int, what string) {
	switch r.Op {
	case trace.OpMallocAsync, trace.OpMallocFromPoolAsync:
		return 0, "The allocation"
	case trace.OpFreeAsync:
		return 0, "The free"
	case trace.OpLaunch:
		if r.Kernel == "process" {
			return 0, "The launch of process"
		}
	case trace.OpMemset, trace.OpMemcpyHtoD, trace.OpMemcpyDtoD, trace.OpMemcpyDtoH:
		return -1, ""
	}
	for i := range c.w.outs() {
		if c.Touches(r, i) {
			return i + 1, "The work on " + c.w.outName(i)
		}
	}
	return -1, ""
}

// leftOut finds results that are right without the steps that lead to them.
func (c *call) leftOut() []suite.Finding {
	var made, filled []trace.ID // allocations of this call, and those that process wrote to
	c.records(func(_ int, r *trace.Record) bool {
		switch {
		case r.Code != 0:
		case r.Op == trace.OpMallocAsync || r.Op == trace.OpMallocFromPoolAsync || r.Op == trace.OpMalloc:
			made = append(made, r.Alloc)
		case r.Op == trace.OpLaunch && r.Kernel == "process":
			for _, a := range r.Accesses {
				filled = append(filled, a.Alloc)
			}
		}
		return true
	})
	var found []suite.Finding
	for i, sum := range c.sums {
		at := c.reduction(i)
		fresh := at >= 0 && slices.ContainsFunc(c.Record(at).Accesses, func(a trace.Access) bool {
			return slices.Contains(made, a.Alloc) && slices.Contains(filled, a.Alloc)
		})
		if sum != c.w.want() || fresh {
			continue
		}
		found = append(found, suite.Finding{
			Rule: "step-left-out", Severity: suite.Error, Record: -1, Function: c.w.function(),
			Message: fmt.Sprintf("%s for %s should get the sum at %s from kernels.Reduce, over a buffer that it has allocated and filled "+
				"with kernels.Process, but the sum came there in another way.", c.w.function(), c.w.label(), c.w.outName(i)),
			Why: "The exercise is about handing a buffer from stream to stream; the number is only there to show that it worked.",
			Fix: "Allocate the buffer, launch kernels.Process and then kernels.Reduce in every call.",
		})
	}
	return found
}
