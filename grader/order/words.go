package order

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cudalab/native/trace"
)

// words puts what is in a trace into words.
type words struct {
	t     *trace.Trace
	names map[trace.ID]string // of streams, by the grader
	// unwaited: the host must not wait
	unwaited bool
}

func (w *words) record(i int) *trace.Record { return &w.t.Records[i] }

// addr is the address that an allocation was given.
func (w *words) addr(a *allocation) uint64 {
	r := w.record(a.made)
	if r.Addr != 0 || a.made+1 >= len(w.t.Records) {
		return r.Addr
	}
	for i := a.made + 1; i < len(w.t.Records); i++ { // a call that waits has its answer where it leaves
		if l := w.record(i); l.Phase == trace.Leave && int(l.Pair) == a.made {
			return l.Addr
		}
	}
	return 0
}

// number groups digits: 1,048,576.
func number(n int64) string {
	if n < 0 {
		return "-" + number(-n)
	}
	digits := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

func bytes(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	return number(n) + " bytes"
}

// capital makes a sentence of s.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// stream is a stream's name: the grader's, or its number in the order of creation.
func (w *words) stream(id trace.ID) string {
	if id == legacyID {
		return "the legacy default stream"
	}
	name, ok := w.names[id]
	switch {
	case !ok:
		return "stream " + strconv.Itoa(int(id))
	case len(name) == 1: // "a" is hard to tell from an article
		return "stream " + name
	}
	return name
}

// nameStreams finds the names that the grader has given.
func nameStreams(t *trace.Trace) map[trace.ID]string {
	names := map[trace.ID]string{}
	for i := range t.Records {
		if r := &t.Records[i]; r.Op == trace.OpStreamCreate && r.Label != "" {
			names[r.Stream] = r.Label
		}
	}
	return names
}

// call is the i-th record's call without its stream: "the launch of process", "MemsetAsync".
func (w *words) call(i int) string {
	r := w.record(i)
	switch r.Op {
	case trace.OpLaunch:
		return "the launch of " + r.Kernel
	case trace.OpBlockAlloc, trace.OpBlockFree:
		return "the allocator's " + r.Op.String()
	}
	return r.Op.String()
}

// onHost reports whether a call is the host's own doing rather than work for a stream.
func onHost(r *trace.Record) bool {
	switch r.Op {
	case trace.OpMalloc, trace.OpFree, trace.OpMallocHost, trace.OpFreeHost, trace.OpHostRead, trace.OpHostWrite,
		trace.OpMemAddressReserve, trace.OpMemAddressFree, trace.OpMemCreate, trace.OpMemRelease, trace.OpMemMap,
		trace.OpMemUnmap, trace.OpMemSetAccess:
		return true
	case trace.OpBlockAlloc, trace.OpBlockFree:
		return !inStream(r)
	}
	return false
}

// callOn is the call with its stream, if it has one: "the launch of process on stream 1".
func (w *words) callOn(i int) string {
	r := w.record(i)
	if onHost(r) {
		return w.call(i)
	}
	return w.call(i) + " on " + w.stream(r.Stream)
}

// memory is an allocation's name: "the 4,096 bytes from MallocAsync on stream 1".
func (w *words) memory(a *allocation) string {
	switch {
	case a.made < 0:
		return "memory from before the trace"
	case w.record(a.made).Op == trace.OpMallocHost:
		return "the " + bytes(a.size) + " of pinned memory from MallocHost"
	case a.block != nil:
		return "the block of " + bytes(a.size) + " from " + w.callOn(a.made)
	}
	return "the " + bytes(a.size) + " from " + w.callOn(a.made)
}

// part is the name of the bytes from lo to hi of an allocation.
func (w *words) part(a *allocation, lo, hi int64) string {
	if lo <= 0 && hi >= a.size {
		return w.memory(a)
	}
	return bytes(hi-lo) + " at offset " + number(lo) + " of " + w.memory(a)
}

// verb is what an access does to bytes.
func verb(kind trace.AccessKind) string {
	switch kind {
	case trace.Read:
		return "reads"
	case trace.Write:
		return "writes"
	}
	return "updates"
}

// edge is how to order the j-th record's call behind the i-th's, which is work on a stream.
func (w *words) edge(i, j int) string {
	from := w.stream(w.record(i).Stream)
	if w.unwaited && w.needsWait(j) {
		return "Leave " + w.call(j) + " out: it needs a host that has waited for " + w.call(i) +
			", and here it must not wait."
	}
	if onHost(w.record(j)) {
		if event := w.covering(i, j); event != 0 {
			return fmt.Sprintf("Make the host wait before %s for event %d, which is recorded on %s after %s "+
				"(cuda.EventSynchronize).", w.call(j), event, from, w.call(i))
		}
		return "Make the host wait before " + w.call(j) + ": call cuda.StreamSynchronize for " + from + "."
	}
	return "Record an event on " + from + " after " + w.call(i) + " (cuda.EventRecord), and make " +
		w.stream(w.record(j).Stream) + " wait for it before " + w.call(j) + " (cuda.StreamWaitEvent)."
}

// covering is an event that stands for the i-th record's work by the time of the j-th; 0: there is none.
func (w *words) covering(i, j int) (event trace.ID) {
	for k := i + 1; k < j; k++ {
		switch r := w.record(k); {
		case r.Code != 0:
		case r.Op == trace.OpEventRecord && r.Stream == w.record(i).Stream:
			event = r.Event
		case r.Event == event && (r.Op == trace.OpEventRecord || r.Op == trace.OpEventDestroy):
			event = 0
		}
	}
	return event
}

// usedLater reports whether memory is mapped or used once more behind the call of a record.
func (w *words) usedLater(i int, a *allocation) bool {
	return slices.ContainsFunc(w.t.Records[i+1:], func(r trace.Record) bool {
		return r.Code == 0 && (r.Op == trace.OpMemMap && r.Alloc == a.id ||
			slices.ContainsFunc(r.Accesses, func(x trace.Access) bool { return x.Alloc == a.id }))
	})
}

// needsWait reports whether the call of a record is the host's, or has the host wait by itself.
func (w *words) needsWait(i int) bool {
	return onHost(w.record(i)) || w.record(i).Op == trace.OpMemcpyDtoH
}

// freer is who has to wait before the free of the i-th record: its stream, or the host.
func (w *words) freer(i int) string {
	if r := w.record(i); !onHost(r) {
		return w.stream(r.Stream)
	}
	return "the host"
}

// move is the advice to give a call on the legacy default stream, a record's, to a stream in which it is in order with
// another call.
type move struct {
	call int
	to   trace.ID
	fix  string // empty: there is no such advice
}

// inStreamOf is the advice to give the work of a call on the legacy default stream, the i-th record's, to the stream of
// the one that it has to be in order with, where nothing has to order the two.
func (w *words) inStreamOf(with, i int) move {
	r, to := w.record(i), w.record(with).Stream
	if r.Stream != legacyID || to == legacyID || onHost(r) || w.unwaited && w.needsWait(i) {
		return move{}
	}
	m := move{call: i, to: to, fix: "Pass " + w.stream(to) + " as the stream of " + w.call(i) + "."}
	switch r.Op {
	case trace.OpMemset, trace.OpMemcpyDtoD, trace.OpMemcpyHtoD:
		m.fix = "Use cuda." + r.Op.String() + "Async on " + w.stream(to) + " instead of " + r.Op.String() + "."
	case trace.OpMemcpyDtoH:
		m.fix = "Use cuda.MemcpyDtoHAsync on " + w.stream(to) + " instead of MemcpyDtoH, and wait for it before you " +
			"look at the bytes."
	}
	return m
}

// doing is the related call that an access to the memory in question is made by.
func (w *words) doing(i int, kind trace.AccessKind) Related {
	return Related{i, w.callOn(i) + " " + verb(kind) + " the memory"}
}

// attempt finds the wait that was perhaps meant to order the j-th record's call behind the i-th's and says why it does
// not, and which call has to be mended where that is certain. It is only asked about calls that are not ordered.
func (w *words) attempt(i, j int) ([]Related, *Cause) {
	if onHost(w.record(j)) {
		return nil, nil
	}
	from, to := w.record(i).Stream, w.record(j).Stream
	recorded := map[trace.ID]int{}  // the event's last record
	onStream := map[trace.ID]bool{} // it was recorded on the stream in question, after i
	var why, behind []Related
	last := -1 // record behind i in its stream
	var early, elsewhere, self, other *Cause
	for k := range j {
		r := w.record(k)
		if r.Code != 0 {
			continue
		}
		switch r.Op {
		case trace.OpEventRecord:
			if r.Stream == from && k > i {
				last, other = k, nil
				behind = []Related{{k, "event " + strconv.Itoa(int(r.Event)) + " is recorded behind that here, but " +
					w.stream(to) + " does not wait for it"}}
			}
			recorded[r.Event] = k
			onStream[r.Event] = onStream[r.Event] || r.Stream == from && k > i
		case trace.OpStreamWaitEvent:
			event := "event " + strconv.Itoa(int(r.Event))
			at, ok := recorded[r.Event]
			switch itself := ok && at > i && w.record(at).Stream == r.Stream; {
			case itself && r.Stream == from:
				self = &Cause{k, capital(w.stream(from)) + " is made to wait here for " + event + ", which was recorded in that " +
					"stream" + orderless,
					"Pass " + w.stream(to) + " as the stream of cuda.StreamWaitEvent: it is the one that has to wait."}
			case itself && r.Stream == to:
				elsewhere = &Cause{at, capital(event) + ", which " + w.stream(to) + " waits for, is recorded here in " +
					w.stream(to) + orderless,
					"Pass " + w.stream(from) + " as the stream of cuda.EventRecord: it is the one to be waited for."}
			}
			if r.Stream != to || k < i {
				continue
			}
			switch {
			case !ok:
				why = []Related{{k, w.stream(to) + " waits for " + event + " here, but it had not been recorded yet"}}
			case w.record(at).Stream == from && at < i:
				why = []Related{{at, event + ", which " + w.stream(to) + " waits for, is recorded here, before " + w.call(i) +
					", so it does not cover that"}}
				early = &Cause{at, capital(event) + ", which " + w.stream(to) + " waits for, is recorded here, before " +
					w.call(i) +
					", and stands only for what is in the stream by then.", "Record the event behind " + w.call(i) + ": move this " +
					"call there."}
				if later := w.record(max(last, 0)).Event; last >= 0 && later != r.Event {
					other = &Cause{k, fmt.Sprintf("%s is made to wait here for %s, which was recorded before %s; it is event %d "+
						"that was recorded behind that.", capital(w.stream(to)), event, w.call(i), later),
						fmt.Sprintf("Wait here for event %d.", later)}
				}
			case onStream[r.Event]:
				why = []Related{{at, event + " is recorded again here, so " + w.stream(to) + " waits for this and no longer for " +
					w.stream(from)}}
			}
		default:
			if r.Stream == to && !onHost(r) && r.Op != trace.OpMark {
				other = nil // the wait was for this
			}
		}
	}
	switch {
	case behind == nil && why != nil:
		return why, early
	case behind == nil:
		return nil, elsewhere
	case why == nil:
		return behind, self
	}
	if other == nil {
		return why, nil
	}
	return append(why, behind...), other
}

// orderless is why a wait in the stream in which the event was recorded does nothing.
const orderless = " itself: that orders nothing, since one stream's work is in order anyway."
