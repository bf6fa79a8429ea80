package suite

import (
	"cmp"
	"fmt"
	"slices"

	"cudalab/grader/suite/verdict"
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

// hostWaits says of each call that makes the host wait what it waits for.
var hostWaits = map[trace.Op]string{
	trace.OpStreamSynchronize: "waits until the stream is empty",
	trace.OpEventSynchronize:  "waits until the event has happened",
	trace.OpDeviceSynchronize: "waits for the whole device",
	trace.OpFree:              "waits for the whole device before it frees memory that came from cuda.Malloc",
	trace.OpMemcpyDtoH:        "waits until the copy is done",
	trace.OpFreeHost:          "waits for the whole device",
}

// insteadOf mends calls that may wait and are of use: it is not enough to leave them out.
var insteadOf = map[trace.Op]string{
	trace.OpFree:       fixAsync,
	trace.OpMemcpyDtoH: copyAsync(trace.OpMemcpyDtoHAsync),
	trace.OpMemcpyHtoD: copyAsync(trace.OpMemcpyHtoDAsync),
	trace.OpFreeHost:   "Do without pinned memory of your own: it cannot be freed before the device is done with it.",
}

func copyAsync(op trace.Op) string {
	return "Copy with cuda." + op.String() + " in the stream that the bytes are for, or come from: it only joins the stream's queue."
}

// Waiting says what a call waits for where it makes the host wait, "waits until the stream is empty"; "" where it does
// not.
func Waiting(r *trace.Record) string { return hostWaits[r.Op] }

// askedAgain is how often in a row a call may ask for the same thing and be told "not yet". A query returns at once and
// waits for nothing; only who asks again and again, with nothing else to do, waits.
const askedAgain = 2

// hostWait looks through the records of one call, in their order.
type hostWait struct {
	HostWait
	busy   int64            // for how many nanoseconds streams were kept busy, 0 for not at all
	notYet map[trace.ID]int // how often in a row it was asked for a stream or an event
}

// PendingDelay is how long streams are kept busy to find out whether a call waits for them, in nanoseconds: far longer
// than the calls of any solution take, so that one that waits stands out.
const PendingDelay = 30_000_000

// NoHostWait is the part that asks for no call that makes the host wait, in the good trials and in those whose calls
// are made while streams are busy for PendingDelay.
func (g *Good[Code, W]) NoHostWait(id, name, pass string, words func(W) HostWait, pending ...*Runs[Code, W]) Part[Code] {
	p := Part[Code]{Question: Question{ID: id, Name: name}, Cases: g.Trials()}
	all := slices.Clone(g.Runs)
	for _, r := range pending {
		if !slices.Contains(all, r) {
			all, p.Cases = append(all, r), append(p.Cases, &r.Trial)
		}
	}
	p.Judge = func(e *Evidence) Answer {
		a := Answer{Message: pass}
		for _, runs := range all {
			busy := int64(0)
			if slices.Contains(pending, runs) {
				busy = PendingDelay
			}
			for _, m := range runs.Made(e) {
				waits := &hostWait{words(m.W), busy, map[trace.ID]int{}}
				m.Records(func(at int, r *trace.Record) bool {
					if f, ok := waits.finding(r); ok {
						a.Findings = append(a.Findings, m.At(at, f))
					}
					return true
				})
			}
		}
		a.Findings = verdict.Unique(a.Findings)
		if len(a.Findings) == 0 {
			a.Skip = g.Incomplete(e)
		}
		return a
	}
	return p
}

// finding judges a successful or failed call: ok where it makes the host wait, or belongs to no stream.
func (h *hostWait) finding(r *trace.Record) (f verdict.Finding, ok bool) {
	f = verdict.Finding{Rule: "host-wait", Why: h.Why, Fix: cmp.Or(insteadOf[r.Op], h.Fix)}
	what, known := hostWaits[r.Op]
	query := r.Op == trace.OpStreamQuery || r.Op == trace.OpEventQuery
	if asked := r.Stream + r.Event; query && r.Code != 0 { // one of them is 0
		h.notYet[asked]++
		query = h.notYet[asked] > askedAgain
	} else {
		query = false
		clear(h.notYet)
	}
	switch {
	case r.Op == trace.OpMalloc || r.Op == trace.OpMallocHost:
		f.Rule = "synchronous-allocation"
		f.Message = h.AllocationShould + ", but " + CallName(r) + " " + h.AllocationThen
		f.Why, f.Fix = h.AllocationWhy, fixAsync
	case known:
		f.Message = h.Should + ", but " + CallName(r) + " " + what + "."
	case query:
		f.Message = h.Should + ", but " + CallName(r) + " asks again and again whether it is done, and was told: not yet. Asking until it is done is waiting."
	// Only calls that may wait are recorded in two halves. Of the others none can be to blame for a machine that is slow.
	case h.busy > 0 && r.Phase == trace.Leave && r.Took > h.busy/2:
		f.Message = fmt.Sprintf("%s, but %s did not return for %.1f ms while the streams were busy.", h.Should, CallName(r), float64(r.Took)/1e6)
	default:
		return verdict.Finding{}, false
	}
	return f, true
}
