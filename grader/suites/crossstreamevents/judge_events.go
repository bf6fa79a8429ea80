package crossstreamevents

import (
	"fmt"

	"cudalab/grader/suite"
	"cudalab/native/trace"
)

const (
	fixAsync = "Allocate with cuda.MallocAsync(size, stream) and free with cuda.FreeAsync(ptr, stream)."
	fixWait  = "Leave it out, and let the later stream wait instead: cuda.EventRecord in the earlier stream, " +
		"cuda.StreamWaitEvent in the later one."
)

// waits says of each call that makes the host wait what it waits for.
var waits = map[trace.Op]string{
	trace.OpStreamSynchronize: "waits until the stream is empty",
	trace.OpEventSynchronize:  "waits until the event has happened",
	trace.OpDeviceSynchronize: "waits for the whole device",
	trace.OpMemcpyDtoH:        "waits until the copy is done",
	trace.OpFreeHost:          "waits for the whole device",
}

func judgeEvents(e *suite.Evidence) suite.Answer {
	return judgeCalls(e, "Share and FanOut returned while the device was still busy.", func(c *call) []suite.Finding {
		var found []suite.Finding
		c.records(func(at int, r *trace.Record) bool {
			if f, ok := c.waiting(r); ok {
				found = append(found, c.At(at, f))
			}
			return true
		})
		return found
	})
}

// waiting reports a call that makes the host wait, or that belongs to no stream's order.
func (c *call) waiting(r *trace.Record) (suite.Finding, bool) {
	f := suite.Finding{Rule: "host-wait", Fix: fixWait,
		Why: "While the host waits it enqueues nothing, so streams that could be working run dry; an event makes only the stream " +
			"wait that has to."}
	what, known := waits[r.Op]
	switch {
	case r.Op == trace.OpMalloc || r.Op == trace.OpMallocHost || r.Op == trace.OpFree:
		f.Rule = "synchronous-allocation"
		f.Message = "The buffer should be allocated and freed in a stream, but " + suite.CallName(r) +
			" stands outside every stream, so no event can order it."
		f.Why = "Memory from cuda.MallocAsync exists from that place in its stream on: another stream that waits for an event recorded " +
			"there may use it."
		f.Fix = fixAsync
	case known:
		f.Message = fmt.Sprintf("%s should leave the order to events and return at once, but %s %s.", c.w.function(),
			suite.CallName(r), what)
	case (r.Op == trace.OpStreamQuery || r.Op == trace.OpEventQuery) && r.Code != 0:
		f.Message = c.w.function() + " should leave the order to events and return at once, but " + suite.CallName(r) +
			" asks whether the device is done, and was told: not yet. Asking until it is done is waiting."
	// Only calls that may wait are recorded in two halves. Of the others none can be to blame for a machine that is slow.
	case len(c.w.late) > 0 && r.Phase == trace.Leave && r.Took > lateDelay/2:
		f.Message = fmt.Sprintf("%s should return at once, but %s did not return for %.1f ms while a stream was busy.",
			c.w.function(), suite.CallName(r), float64(r.Took)/1e6)
	default:
		return suite.Finding{}, false
	}
	return f, true
}
