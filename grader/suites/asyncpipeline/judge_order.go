package asyncpipeline

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/native/trace"
)

func judgeOrder(e *suite.Evidence) suite.Answer {
	a := suite.Answer{
		Findings: e.Of(suite.OrderRules, caseShapes, caseRandom, casePending),
		Message:  "No use before its allocation, after its free, or beside a write it is not ordered with.",
	}
	a.Findings = append(a.Findings, e.Remarks(caseShapes, caseRandom)...)
	if !suite.HasError(a.Findings) {
		a.Skip = incomplete(e)
	}
	return a
}

func judgePlacement(e *suite.Evidence) suite.Answer {
	a := suite.Answer{Message: "Each batch stays in its own stream, so nothing but the stream has to order it."}
	for _, c := range good(e) {
		for i := range c.w.batches {
			a.Findings = append(a.Findings, c.misplaced(i)...)
		}
	}
	a.Findings = suite.Unique(a.Findings)
	if len(a.Findings) == 0 {
		a.Skip = incomplete(e)
	}
	return a
}

// misplaced finds the operations of batch i that are not on its stream.
func (c *call) misplaced(i int) []suite.Finding {
	if len(c.Streams) == 0 {
		return nil
	}
	index := i % len(c.Streams)
	want := c.Streams[index]
	buffer, _ := c.buffer(i)
	var found []suite.Finding
	c.Records(func(at int, r *trace.Record) bool {
		if r.Code != 0 || r.Stream == want || !c.Touches(r, i) && !concerns(r, buffer) {
			return true
		}
		found = append(found, c.At(at, suite.Finding{
			Rule: "wrong-stream",
			Message: fmt.Sprintf("With %s, every call for %s should be on streams[%d %% %d], which is streams[%d], but %s is on %s.",
				c.w.label, c.batchName(i), i, len(c.Streams), index, suite.CallName(r), c.streamName(r.Stream)),
			Why: "Work in one stream runs in order by itself, and work in different streams can run at the same time.",
			Fix: "Take stream := streams[i%len(streams)] once per batch and give it to every call of that batch.",
		}))
		return true
	})
	return found
}

// concerns reports whether r makes, uses or frees the buffer.
func concerns(r *trace.Record, buffer trace.ID) bool {
	if buffer == 0 || r.Op == trace.OpMalloc || r.Op == trace.OpFree {
		return false // they belong to no stream; the check for waiting has a word on them
	}
	return r.Alloc == buffer || slices.ContainsFunc(r.Accesses, func(a trace.Access) bool { return a.Alloc == buffer })
}

// waits says of each call that makes the host wait what it waits for.
var waits = map[trace.Op]string{
	trace.OpStreamSynchronize: "waits until the stream is empty",
	trace.OpEventSynchronize:  "waits until the event has happened",
	trace.OpDeviceSynchronize: "waits for the whole device",
	trace.OpFree:              "waits for the whole device before it frees memory that came from cuda.Malloc",
	trace.OpMemcpyDtoH:        "waits until the copy is done",
	trace.OpFreeHost:          "waits for the whole device",
}

// synchronousAllocs are the allocations that are not ordered in a stream.
var synchronousAllocs = []trace.Op{trace.OpMalloc, trace.OpMallocHost}

func judgeAsync(e *suite.Evidence) suite.Answer {
	a := suite.Answer{Message: "Run returned while the device was still busy."}
	all := append(good(e), calls(e, casePending, []workload{{label: "busy streams"}})...)
	for _, c := range all {
		c.Records(func(at int, r *trace.Record) bool {
			if f, ok := waiting(r, c.Notes.ID == casePending); ok {
				a.Findings = append(a.Findings, c.At(at, f))
			}
			return true
		})
	}
	a.Findings = suite.Unique(a.Findings)
	if len(a.Findings) == 0 {
		a.Skip = incomplete(e)
	}
	return a
}

func waiting(r *trace.Record, busy bool) (suite.Finding, bool) {
	f := suite.Finding{Rule: "host-wait",
		Why: "While the host waits it enqueues nothing, so the other streams run dry and batches no longer overlap.",
		Fix: "Leave it out: the stream already keeps the batch's operations in order, and the caller waits for the results."}
	what, known := waits[r.Op]
	switch {
	case slices.Contains(synchronousAllocs, r.Op):
		f.Rule = "synchronous-allocation"
		f.Message = "The buffer should be allocated in the batch's stream, but " + suite.CallName(r) + " allocates outside any stream, and what frees such memory waits for the device."
		f.Why = "cuda.MallocAsync and cuda.FreeAsync only join the stream's queue: the memory comes from a pool and goes back without a wait."
		f.Fix = "Allocate with cuda.MallocAsync(size, stream) and free with cuda.FreeAsync(ptr, stream)."
	case known:
		f.Message = "Run should return without waiting for the device, but " + suite.CallName(r) + " " + what + "."
		if r.Op == trace.OpFree {
			f.Fix = "Allocate with cuda.MallocAsync(size, stream) and free with cuda.FreeAsync(ptr, stream)."
		}
	case (r.Op == trace.OpStreamQuery || r.Op == trace.OpEventQuery) && r.Code != 0:
		f.Message = "Run should return without waiting for the device, but " + suite.CallName(r) +
			" asks whether it is done, and was told: not yet. Asking until it is done is waiting."
	// Only calls that may wait are recorded in two halves. Of the others none can be to blame for a machine that is slow.
	case busy && r.Phase == trace.Leave && r.Took > pendingDelay/2:
		f.Message = fmt.Sprintf("Run should return without waiting for the device, but %s did not return for %.1f ms while "+
			"the streams were busy.", suite.CallName(r), float64(r.Took)/1e6)
	default:
		return suite.Finding{}, false
	}
	return f, true
}
