package crossstreamevents

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// call is one call of Share or FanOut. Its first stream is the source.
type call struct{ *suite.Made[workload] }

// streamName is what the student calls a stream.
func (c call) streamName(id trace.ID) string { return c.StreamName(id, c.W.streamName) }

// relate adds the student's line of a record to a finding.
func (c call) relate(f *verdict.Finding, record int, message string) {
	if places := c.Evidence.Place(c.Notes.Trace.SiteOf(c.Record(record))); len(places) > 0 {
		f.Related = append(f.Related, verdict.Related{File: places[0].File, Line: places[0].Line, Message: message})
	}
}

// placement finds steps that are in another stream than the contract says, or are left out.
func placement(m *suite.Made[workload]) []verdict.Finding {
	c := call{m}
	return append(c.misplaced(), c.leftOut()...)
}

// misplaced finds the calls that are in another stream than the contract says.
func (c call) misplaced() []verdict.Finding {
	var found []verdict.Finding
	c.Records(func(at int, r *trace.Record) bool {
		want, what := c.belongs(r)
		if r.Code != 0 || want < 0 || r.Stream == c.Stream(want) {
			return true
		}
		name := c.W.streamName(want)
		fix := fmt.Sprintf("Pass %s as the stream of this call.", name)
		if want > 0 {
			fix = fmt.Sprintf("Pass %s as the stream of this call; or, if the stream is the right one, the out that is that "+
				"stream's.", name)
		}
		found = append(found, c.At(at, verdict.Finding{
			Rule: "wrong-stream",
			Message: fmt.Sprintf("%s should be in stream %s, but %s is in %s.", what, name, suite.CallName(r),
				c.streamName(r.Stream)),
			Why: "Each stream works through its own queue, so the stream that a call is given to decides what it waits " +
				"for and what waits for it.",
			Fix: fix,
		}))
		return true
	})
	return found
}

// belongs is the stream that a call has to be in, 0 for the source, and what to call it at the start of a sentence; -1
// where any will do. Calls that belong to no stream at all are another check's.
func (c call) belongs(r *trace.Record) (stream int, what string) {
	switch r.Op {
	case trace.OpMallocAsync, trace.OpMallocFromPoolAsync:
		return 0, "The allocation"
	case trace.OpFreeAsync:
		return 0, "The free"
	case trace.OpLaunch:
		if r.Kernel == sumKernels.Fill {
			return 0, "The launch of fill"
		}
	case trace.OpMemset, trace.OpMemcpyHtoD, trace.OpMemcpyDtoD, trace.OpMemcpyDtoH:
		return -1, ""
	}
	for i := range c.W.outs() {
		if c.Touches(r, i) {
			return i + 1, "The work on " + c.W.outName(i)
		}
	}
	return -1, ""
}

// leftOut finds results that are right, or that nobody has computed though they were written, without the steps that
// lead to them.
func (c call) leftOut() []verdict.Finding {
	filled := map[trace.ID]bool{} // by allocation of this call
	for _, b := range c.Blocks() {
		filled[b.Alloc] = slices.ContainsFunc(b.Touched, func(at int) bool { return c.Record(at).Kernel == sumKernels.Fill })
	}
	var found []verdict.Finding
	sums, written := c.Sums(), map[int]bool{}
	for _, at := range c.All(func(*trace.Record) bool { return c.Far && c.Outcome.OK() }) {
		for _, i := range c.Written(c.Record(at), c.W.outs()) {
			written[i] = true
		}
	}
	for i := range c.W.outs() {
		at := c.LastInto(sumKernels.Sum, i)
		fresh := at >= 0 && slices.ContainsFunc(c.Record(at).Accesses, func(a trace.Access) bool {
			return filled[a.Alloc]
		})
		if right := written[i] || i < len(sums) && sums[i] == c.W.want(); !right || fresh {
			continue
		}
		found = append(found, verdict.Finding{
			Rule: "step-left-out", Severity: verdict.Error, Record: -1, Function: c.W.function(),
			Message: fmt.Sprintf("%s for %s should get the sum at %s from kernels.Checksum, over a buffer that it has "+
				"allocated and filled with kernels.Fill, but what is there came in another way.", c.W.function(), c.W.Label(),
				c.W.outName(i)),
			Why: "The exercise is about handing a buffer from stream to stream; the number is only there to show that it " +
				"worked.",
			Fix: "Allocate the buffer, launch kernels.Fill and then kernels.Checksum in every call.",
		})
	}
	return found
}
