package streampool

import (
	"fmt"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// counts is what a pool may have called by one place of a sequence.
type counts struct {
	given  map[allocator.Stream]bool // named in any Alloc or Free
	known  map[allocator.Stream]bool // given since it was forgotten last
	came   int                       // how many streams have, those again that were forgotten
	gone   map[trace.ID]bool         // forgotten, and not given since
	worked map[allocator.Stream]bool // in which anything was handed out, given back, or refused for want of room
	forgot bool
	kept   int // forgotten streams that may still own something, or did when a stream was forgotten last
	events int // that were made
	alive  int // of these
	land       // in the parts in which it came free
	pieces int // the most that there were of them
}

var (
	ofNew = suite.Rule{ID: "cuda-call", Why: "A pool that nobody asks for anything needs no memory, and no event.",
		Fix: "Make an event when the second stream comes, and ask the upstream when the first block is asked for."}
	ofEverybody = suite.Rule{ID: "cuda-call",
		Why: "DeviceSynchronize waits for the work of everybody, also of streams that the pool has never seen.",
		Fix: "Wait for the owners' events (cuda.EventSynchronize)."}
)

// calls finds what the methods call beyond what they need.
func calls(e *suite.Evidence, r *allocator.Run[layout]) []verdict.Finding {
	l := allocator.NewLedger(r)
	if l == nil {
		return nil
	}
	for at, r := range l.New.Calls {
		if len(e.Place(l.Site(r))) > 0 {
			return []verdict.Finding{l.New.Finding(e, at, verdict.Finding{Rule: "cuda-call",
				Message: fmt.Sprintf("New should have called nothing, but it called %s.", suite.CallName(r)),
				Why:     ofNew.Why, Fix: ofNew.Fix})}
		}
	}
	hostWaits := e.WaitsIn(r.Notes)
	q := &counts{given: map[allocator.Stream]bool{}, known: map[allocator.Stream]bool{},
		worked: map[allocator.Stream]bool{}, gone: map[trace.ID]bool{},
		land: land{apart: true}}
	for i := range l.Steps {
		x := &l.Steps[i]
		if !x.Called() || x.Err == sequence.ErrClosed {
			continue
		}
		q.meet(x)
		if f, at := q.judge(x, hostWaits); f != nil {
			return []verdict.Finding{x.Finding(e, at, *f)}
		}
		q.settle(x)
	}
	return nil
}

// fewEvents is how many events a pool may keep beyond those that it can use, since it need not clear up at once.
const fewEvents = 8

// meet takes in which stream an operation names.
func (q *counts) meet(x *allocator.Step) {
	if x.Stream == nobody || x.Kind == allocator.KindForget {
		return
	}
	q.given[x.Stream] = true
	if !q.known[x.Stream] {
		q.known[x.Stream] = true
		q.came++
	}
	delete(q.gone, x.ID)
}

func (q *counts) settle(x *allocator.Step) {
	if x.Stream != nobody && x.Kind != allocator.KindForget && (x.Err == sequence.Nil || x.Err == sequence.ErrFull) {
		q.worked[x.Stream] = true
	}
	q.land.settle(x)
	q.pieces = max(q.pieces, len(q.parts))
	if x.Err != sequence.Nil || x.Kind != allocator.KindForget || !q.known[x.Stream] {
		return
	}
	q.forgot, q.gone[x.ID] = true, true
	delete(q.known, x.Stream)
	q.kept++
	if len(x.Stats()) == statsFields && x.Stats()[0] == x.Stats()[1] {
		q.kept = 0 // all is out
	}
}

// tally is what one operation has called.
type tally struct {
	waits, records int
	mallocs, frees int // of the upstream's that are left
	made           map[orderCall]bool
}

// orderCall is a call that is about order.
type orderCall struct {
	op            trace.Op
	event, stream trace.ID
	waits         int // of a record: how many waits there were before, which it takes in
}

// again reports whether the operation has made such a call before.
func (t *tally) again(r *trace.Record) bool {
	c := orderCall{op: r.Op, event: r.Event, stream: r.Stream}
	if r.Op == trace.OpEventRecord {
		c.waits = t.waits
	}
	before := t.made[c]
	t.made[c] = true
	return before
}

// judge is what is wrong with the calls of an operation, and the record that shows it.
func (q *counts) judge(x *allocator.Step, hostWaits map[int]string) (f *verdict.Finding, record int) {
	t := tally{made: map[orderCall]bool{}}
	entries(x.Seen(), func(what, _ int64, _ uint64) {
		switch what {
		case calledCUDA:
			t.mallocs++
		case calledFree:
			t.frees++
		}
	})
	for at, r := range x.Calls {
		if f := q.judgeCall(x, &t, r, hostWaits[at]); f != nil {
			return f, at
		}
	}
	return nil, -1
}

// judgeCall judges one call, which makes the host wait in the way that how says, if at all.
func (q *counts) judgeCall(x *allocator.Step, t *tally, r *trace.Record, how string) *verdict.Finding {
	inAlloc, inFree, giving := x.Kind == allocator.KindAlloc, x.Method() == "Free", x.Kind == allocator.KindTrim ||
		x.Kind == allocator.KindClose
	switch r.Op {
	case trace.OpMalloc:
		t.mallocs--
		if t.mallocs >= 0 {
			return nil
		}
	case trace.OpFree:
		t.frees--
		if t.frees >= 0 {
			return nil
		}
	case trace.OpEventDestroy:
		if r.Code == 0 {
			q.alive--
		}
	case trace.OpEventRecord, trace.OpStreamWaitEvent, trace.OpStreamQuery, trace.OpStreamSynchronize:
		if q.gone[r.Stream] {
			return &verdict.Finding{Rule: "forgotten-stream",
				Message: fmt.Sprintf("%s should have made no call with a stream that was forgotten, but it called %s.", x.Method(),
					suite.CallName(r)),
				Why: "Whoever has a stream forgotten destroys it, and a call that names it then fails, or crashes.",
				Fix: "Record the stream's event in Free, or in Forget at the latest, and use only the event from then on."}
		}
	}
	if r.Op == trace.OpDeviceSynchronize && giving {
		return &verdict.Finding{Rule: "cuda-call",
			Message: fmt.Sprintf("%s should have waited for those streams alone that have used what it gives back, but it "+
				"called %s.", x.Method(), suite.CallName(r)),
			Why: ofEverybody.Why, Fix: ofEverybody.Fix}
	}
	if giving {
		return nil
	}
	if how != "" {
		return hostWait(x, r, how)
	}
	if f := q.oneStream(x, r); f != nil {
		return f
	}
	needless := x.Err == sequence.ErrInvalidFree
	switch r.Op {
	case trace.OpEventQuery, trace.OpStreamQuery:
		needless = needless || t.again(r)
	case trace.OpStreamWaitEvent:
		t.waits++
		needless = !inAlloc || t.again(r)
	case trace.OpEventRecord:
		if r.Stream != x.ID {
			needless = needless || len(q.worked) > 1 || q.worked[x.Stream]
			break
		}
		t.records++
		needless = needless || inFree && t.records > 1 || t.again(r)
	case trace.OpEventCreate:
		if q.events++; q.events > 2*q.came+q.pieces {
			return &verdict.Finding{Rule: "event-count",
				Message: fmt.Sprintf("the pool should make at most %d events, two for each of the %d streams that have "+
					"come and one for each of the %d pieces that there were at once, but this is number %d.",
					2*q.came+q.pieces, q.came, q.pieces, q.events),
				Why: "An event costs the driver memory and a call each time, and one that is recorded again serves as well as a " +
					"new one.",
				Fix: "Keep an event for each stream, or for each piece, and record it again."}
		}
		q.alive++
		if most := 2*(len(q.known)+q.kept) + q.pieces + fewEvents; q.alive > most {
			return &verdict.Finding{Rule: "event-count",
				Message: fmt.Sprintf("the pool should hold at most %d events here, two for each stream that may own "+
					"something, one for each piece that there was at once, and %d more, but this makes %d.", most, fewEvents, q.alive),
				Why: "Streams come and go as long as a program runs, and what each leaves behind adds up.",
				Fix: "When a forgotten stream owns nothing any more, have its event serve the next stream, or destroy it."}
		}
	case trace.OpEventDestroy:
	default:
		needless = true
	}
	if !needless {
		return nil
	}
	f := x.Needless(r, allowed(x),
		"Take memory from the upstream alone, record one event in Free, and in Alloc ask each event once and wait for "+
			"it once.")
	return &f
}

// oneStream finds a call that is about order, while there is only one stream.
func (q *counts) oneStream(x *allocator.Step, r *trace.Record) *verdict.Finding {
	switch r.Op {
	case trace.OpEventCreate, trace.OpEventRecord, trace.OpEventQuery, trace.OpStreamWaitEvent, trace.OpStreamQuery:
	default:
		return nil
	}
	if len(q.given) > 1 || q.forgot || x.Kind == allocator.KindForget {
		return nil
	}
	return &verdict.Finding{Rule: "event-count",
		Message: fmt.Sprintf("%s should have made no event and asked for none while only one stream was ever given to the "+
			"pool, but it called %s.", x.Method(), suite.CallName(r)),
		Why: "Within one stream the order is given; a record costs a third of a Free, and most programs have one stream.",
		Fix: "When the second stream comes, record once in the first, and from then on in every Free."}
}

// allowed is what a method may call.
func allowed(x *allocator.Step) string {
	switch {
	case x.Kind == allocator.KindAlloc:
		return "one EventQuery and one StreamWaitEvent for each event, and EventRecord in its own stream"
	case x.Kind == allocator.KindForget:
		return "EventRecord in the stream that it forgets, and EventQuery once for each event"
	case x.Err == sequence.ErrInvalidFree:
		return "nothing at all where no block begins that is out"
	}
	return "one EventRecord in its own stream, EventQuery once for each event, and EventCreate where there is no event yet"
}

func hostWait(x *allocator.Step, r *trace.Record, how string) *verdict.Finding {
	fix := "Have the stream wait (cuda.StreamWaitEvent) where bytes are not done yet."
	switch x.Method() {
	case "Forget":
		fix = "Leave the wait out. Record an event in the stream (cuda.EventRecord) where none stands behind its last Free " +
			"yet, and keep it: whoever gets the bytes next waits for that."
	case "Free":
		fix = "Leave the wait out. Record an event in the stream (cuda.EventRecord) once a second one has come: whoever " +
			"gets the bytes next waits for that."
	}
	f := x.HostWait(r, how, fix)
	return &f
}
