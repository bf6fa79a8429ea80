package suite

import (
	"cmp"
	"fmt"
	"slices"

	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// HostWait is a lesson's words about calls that make the host wait, and about memory that belongs to no stream.
type HostWait struct {
	Should   string // how a sentence begins: "Run should return without waiting for the device"
	Why, Fix string
	// Allocation is about memory from outside of the streams: what comes behind "The buffer should be allocated in the
	// batch's stream, but cuda.Malloc".
	AllocationShould, AllocationThen, AllocationWhy string
}

// fixAsync mends memory from outside of the streams.
const fixAsync = "Allocate with cuda.MallocAsync(size, stream) and free with cuda.FreeAsync(ptr, stream)."

// promised says of each call that has the host wait, whatever there is to wait for, what it waits for.
var promised = map[trace.Op]string{
	trace.OpStreamSynchronize: "waits until the stream is empty",
	trace.OpEventSynchronize:  "waits until the event has happened",
	trace.OpDeviceSynchronize: "waits for the whole device",
	trace.OpFree:              "waits for the whole device before it frees memory that came from cuda.Malloc",
	trace.OpMemcpyDtoH:        "waits until the copy is done",
	trace.OpFreeHost:          "waits for the whole device",
}

// insteadOf mends calls that may wait and are of use: it is not enough to leave them out.
var insteadOf = map[trace.Op]string{
	trace.OpFree:            fixAsync,
	trace.OpMemcpyDtoH:      copyAsync(trace.OpMemcpyDtoHAsync),
	trace.OpMemcpyHtoD:      copyAsync(trace.OpMemcpyHtoDAsync),
	trace.OpMemcpyDtoHAsync: pinned + " If nobody needs the bytes on the host, leave the copy out.",
	trace.OpMemcpyHtoDAsync: pinned,
	trace.OpFreeHost:        "Do without pinned memory of your own: it cannot be freed before the device is done with it.",
}

// pinned mends copies that wait although their name ends with Async.
const pinned = "Copy from or to pinned memory, a place in a cuda.HostBuffer: only then does the copy no more than " +
	"join the stream's queue."

func copyAsync(op trace.Op) string {
	return "Copy with cuda." + op.String() + " in the stream that the bytes are for, or come from: it only joins the " +
		"stream's queue."
}

// What is told of a call that waits although it does not have to.
const (
	pageable = "waits until the copy is done, since the bytes go to memory that is not pinned"
	asksOn   = "asks again and again whether it is done, and was told: not yet. Asking until it is done is waiting"
)

// PendingDelay is how long streams are kept busy to find out whether a call waits for them, in nanoseconds: far longer
// than the calls of any solution take, so that one that waits stands out.
const PendingDelay = 30_000_000

// askedAgain is how often a call may ask for the same thing and be told "not yet". A query returns at once and waits
// for nothing; only who asks again and again, with nothing else to do, waits.
const askedAgain = 2

// ownTime is what no call takes by itself on the simulated device, in nanoseconds.
const ownTime = 1_000_000

// WaitsIn are the records of a case with which the code under test made the host wait, each with what the call does:
// "waits until the stream is empty". A host waits in a call of CUDA's that returns only when work is done: because CUDA
// says so, or because the call was made while the grader held a stream back, and came back when that was over. And it
// waits by asking: for the same work, however it asks, more than askedAgain times with no new work in between, or with
// whatever in between until what was held back is done.
func (e *Evidence) WaitsIn(c *verdict.CaseNotes) map[int]string {
	return verdict.Once(c, "host waits", func() map[int]string {
		w := &hostWaits{trace: c.Trace, virtual: e.Device.Kind == string(device.Sim), found: map[int]string{},
			events: map[trace.ID]int{}, notYet: map[place]int{}}
		calls, back := c.Windows(), callbacks(c)
		for at := range c.Trace.Records {
			for len(calls) > 0 && calls[0].To <= at {
				calls = calls[1:]
			}
			for len(back) > 0 && back[0].To < at {
				back = back[1:]
			}
			inCallback := len(back) > 0 && back[0].From-1 <= at
			switch r := &c.Trace.Records[at]; {
			case r.Op == trace.OpMark && !inCallback:
				w.begin(at)
			case r.Op == trace.OpMark || r.Phase == trace.Enter:
			default:
				w.see(at, r, !inCallback && len(calls) > 0 && calls[0].From <= at)
			}
		}
		return w.found
	})
}

// HostWait says how a record of the call makes the host wait; "" where it does not. See Evidence.WaitsIn.
func (c *Call) HostWait(at int) string { return c.Evidence.WaitsIn(c.Notes)[at] }

// hostWaits looks through the records of a case, in their order.
type hostWaits struct {
	trace   *trace.Trace
	virtual bool           // time is the simulated device's: no call takes longer than it must
	found   map[int]string // see WaitsIn
	events  map[trace.ID]int
	held    []int64 // when the work is done, at the earliest, with which the grader holds streams back

	since  int           // where the call began, or has last given the device work
	notYet map[place]int // how often it was told so since then
	asked  int           // where it was last told so in this call; -1: never
}

// place is what is asked for: what an event stands for, as it was recorded before since, or else all that is in a
// stream. Events that are recorded only to be asked for are not told apart by that.
type place struct {
	event  trace.ID
	at     int
	stream trace.ID
}

// begin is for another call of the code under test, or another step of what the grader does with it.
func (w *hostWaits) begin(at int) {
	w.since, w.asked = at, -1
	clear(w.notYet)
}

func (w *hostWaits) see(at int, r *trace.Record, theirs bool) {
	how := ""
	if theirs {
		if how = w.how(at, r); how != "" {
			w.found[at] = how
		}
	}
	// Where nothing in between has waited it was by asking that the call has come to the end of what was held back.
	over := func(end int64) bool { return end <= r.Time+r.Took }
	if slices.ContainsFunc(w.held, over) {
		if theirs && how == "" && w.virtual && w.asked >= 0 {
			w.found[w.asked] = asksOn
		}
		w.held, w.asked = slices.DeleteFunc(w.held, over), -1
	}
	switch {
	case r.Code != 0:
	case r.Op == trace.OpEventRecord:
		w.events[r.Event] = at
	case !theirs && r.Op == trace.OpLaunch && r.Value >= PendingDelay:
		w.held = append(w.held, r.Time+int64(r.Value))
	case theirs && givesWork(r.Op):
		w.since = at
		clear(w.notYet)
	}
}

// how judges a call that has succeeded or failed.
func (w *hostWaits) how(at int, r *trace.Record) string {
	if what := promised[r.Op]; what != "" {
		return what
	}
	if r.Op == trace.OpMemcpyDtoHAsync && r.Host == trace.Pageable {
		return pageable
	}
	if r.Code == int32(device.ErrorNotReady) {
		w.asked = at
		asked := w.placeOf(r)
		if w.notYet[asked]++; w.notYet[asked] > askedAgain {
			return asksOn
		}
		return ""
	}
	if slices.ContainsFunc(w.held, func(end int64) bool { return w.cameBack(r, end) }) {
		return fmt.Sprintf("did not return for %.1f ms while the streams were busy", float64(r.Took)/1e6)
	}
	return ""
}

// cameBack reports whether a call was made while work was held back and returned when that was done. On a GPU only
// calls that may wait are looked at, those that are recorded in two halves: of the others none can be to blame for a
// machine that is slow.
func (w *hostWaits) cameBack(r *trace.Record, end int64) bool {
	if w.virtual {
		return r.Took > ownTime && r.Time < end && end <= r.Time+r.Took
	}
	return r.Phase == trace.Leave && r.Took > PendingDelay/2 && r.Time < end
}

// placeOf is what a query asks for.
func (w *hostWaits) placeOf(r *trace.Record) place {
	event := r.Event
	if r.Op == trace.OpEventElapsedTime {
		event = r.Event2
	}
	switch recorded := w.events[event]; {
	case event == 0:
		return place{stream: r.Stream}
	case recorded < w.since:
		return place{event: event, at: recorded}
	default:
		return place{stream: w.trace.Records[recorded].Stream}
	}
}

// givesWork reports whether a call has something done in a stream.
func givesWork(op trace.Op) bool {
	switch op {
	case trace.OpLaunch, trace.OpMallocAsync, trace.OpMallocFromPoolAsync, trace.OpFreeAsync, trace.OpMemset,
		trace.OpMemsetAsync, trace.OpMemcpyHtoDAsync, trace.OpMemcpyDtoHAsync, trace.OpMemcpyDtoD, trace.OpMemcpyDtoDAsync:
		return true
	}
	return false
}

// NoHostWait is the part that asks for no call that makes the host wait, in the good trials and in others.
func (g *Good[Code, W]) NoHostWait(id, name, pass string, words func(W) HostWait, others ...*Runs[Code, W]) Part[Code] {
	all := *g
	for _, r := range others {
		if !slices.Contains(all.Runs, r) {
			all.Runs = append(slices.Clone(all.Runs), r)
		}
	}
	look := func(m *Made[W]) (found []verdict.Finding) {
		words := words(m.W)
		m.Records(func(at int, r *trace.Record) bool {
			if makesEdge(r.Op) && r.Code != 0 && m.Outcome.Err != "" {
				return false // a wait behind that is the last resort
			}
			if f, ok := words.finding(r, m.HostWait(at)); ok {
				found = append(found, m.At(at, f))
			}
			return true
		})
		return found
	}
	return Part[Code]{Question: Question{ID: id, Name: name, Unwaited: true, Judge: func(e *Evidence) Answer {
		a := Answer{Message: pass}
		for _, m := range all.Made(e) {
			a.Findings = append(a.Findings, look(&m)...)
		}
		a.Findings = verdict.Unique(append(a.Findings, g.Begun(e, look)...))
		if len(a.Findings) == 0 {
			a.Skip = g.Incomplete(e)
		}
		return a
	}}, Cases: all.Trials(), further: g.further()}
}

// finding is about a call that makes the host wait, in the way that how says, or that takes memory which belongs to no
// stream.
func (h *HostWait) finding(r *trace.Record, how string) (f verdict.Finding, ok bool) {
	switch {
	case r.Op == trace.OpMalloc || r.Op == trace.OpMallocHost:
		return verdict.Finding{Rule: "synchronous-allocation", Why: h.AllocationWhy, Fix: fixAsync,
			Message: h.AllocationShould + ", but " + CallName(r) + " " + h.AllocationThen}, true
	case how == "":
		return f, false
	}
	return verdict.Finding{Rule: "host-wait", Why: h.Why, Fix: cmp.Or(insteadOf[r.Op], h.Fix),
		Message: h.Should + ", but " + CallName(r) + " " + how + "."}, true
}
