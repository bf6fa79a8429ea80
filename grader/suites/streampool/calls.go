package streampool

import (
	"fmt"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// counts is what a pool may have called by one place of a sequence.
type counts struct {
	given   map[allocator.Stream]bool // named in any Alloc or Free
	known   map[allocator.Stream]bool // given since it was forgotten last
	came    int                       // how many streams have, those again that were forgotten
	gone    map[trace.ID]bool         // forgotten, and not given since
	worked  map[allocator.Stream]bool // in which anything was handed out, given back, or refused for want of room
	others  int                       // records in another stream than that which was named
	forgot  bool
	kept    int // forgotten streams that may still own something, or did when a stream was forgotten last
	events  int // that were made
	alive   int // of these
	out     int
	mostOut int
}

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
				Why:     "A pool that nobody asks for anything needs no memory, and no event.",
				Fix:     "Make an event when the second stream comes, and ask the upstream when the first block is asked for."})}
		}
	}
	q := &counts{given: map[allocator.Stream]bool{}, known: map[allocator.Stream]bool{}, worked: map[allocator.Stream]bool{}, gone: map[trace.ID]bool{}}
	for i := range l.Steps {
		x := &l.Steps[i]
		if !x.Called() || x.Err == sequence.ErrClosed {
			continue
		}
		q.meet(x)
		if f, at := q.judge(x); f != nil {
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
	if x.Err != sequence.Nil {
		return
	}
	switch x.Kind {
	case allocator.KindAlloc:
		q.out++
		q.mostOut = max(q.mostOut, q.out)
	case allocator.KindForget:
		if q.known[x.Stream] {
			q.forgot, q.gone[x.ID] = true, true
			delete(q.known, x.Stream)
			q.kept++
			if len(x.Stats()) == statsFields && x.Stats()[0] == x.Stats()[1] {
				q.kept = 0 // all is out
			}
		}
	case allocator.KindFree, allocator.KindFreeInside, allocator.KindFreeUnknown:
		q.out--
	}
}

// tally is what one operation has called.
type tally struct {
	queries, waits, records int
	mallocs, frees          int // of the upstream's that are left
	notReady                map[[2]trace.ID]bool
}

// judge is what is wrong with the calls of an operation, and the record that shows it.
func (q *counts) judge(x *allocator.Step) (f *verdict.Finding, record int) {
	t := tally{notReady: map[[2]trace.ID]bool{}}
	entries(x.Seen(), func(what, _ int64, _ uint64) {
		switch what {
		case calledCUDA:
			t.mallocs++
		case calledFree:
			t.frees++
		}
	})
	for at, r := range x.Calls {
		if f := q.judgeCall(x, &t, r); f != nil {
			return f, at
		}
	}
	return nil, -1
}

func (q *counts) judgeCall(x *allocator.Step, t *tally, r *trace.Record) *verdict.Finding {
	inAlloc, inFree, giving := x.Kind == allocator.KindAlloc, x.Method() == "Free", x.Kind == allocator.KindTrim || x.Kind == allocator.KindClose
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
				Message: fmt.Sprintf("%s should have made no call with a stream that was forgotten, but it called %s.", x.Method(), suite.CallName(r)),
				Why:     "Whoever has a stream forgotten destroys it, and a call that names it then fails, or crashes.",
				Fix:     "Record the stream's event in Free, or in Forget at the latest, and use only the event from then on."}
		}
	}
	if r.Op == trace.OpDeviceSynchronize && giving {
		return &verdict.Finding{Rule: "cuda-call",
			Message: fmt.Sprintf("%s should have waited for those streams alone that have used what it gives back, but it called %s.", x.Method(), suite.CallName(r)),
			Why:     "DeviceSynchronize waits for the work of everybody, also of streams that the pool has never seen.",
			Fix:     "Wait for the owners' events (cuda.EventSynchronize)."}
	}
	if giving {
		return nil
	}
	if allocator.HostWaits(r.Op) {
		return hostWait(x, suite.CallName(r))
	}
	if f := q.oneStream(x, r); f != nil {
		return f
	}
	needless := false
	switch r.Op {
	case trace.OpEventQuery, trace.OpStreamQuery:
		which := [2]trace.ID{r.Event, r.Stream}
		if t.notReady[which] {
			return hostWait(x, "asking again and again with "+suite.CallName(r)+" what had answered \"not ready\"")
		}
		t.notReady[which] = r.Code == int32(device.ErrorNotReady)
		t.queries++
		needless = !inAlloc || t.queries > q.came
	case trace.OpStreamWaitEvent:
		t.waits++
		needless = !inAlloc || t.waits > q.came
	case trace.OpEventRecord:
		if r.Stream != x.ID {
			q.others++
			needless = q.others > 1 || len(q.worked) > 1 || q.worked[x.Stream]
			break
		}
		t.records++
		needless = inAlloc && t.records > 2 || inFree && t.records > 1
	case trace.OpEventCreate:
		if q.events++; q.events > 2*q.came+q.mostOut {
			return &verdict.Finding{Rule: "event-count",
				Message: fmt.Sprintf("the pool should make at most %d events, two for each of the %d streams that have come and one for each of the %d blocks that were out at once, "+
					"but this is number %d.", 2*q.came+q.mostOut, q.came, q.mostOut, q.events),
				Why: "An event costs the driver memory and a call each time, and one that is recorded again serves as well as a new one.",
				Fix: "Keep an event for each stream, or for each piece, and record it again."}
		}
		q.alive++
		if most := 2*(len(q.known)+q.kept) + q.mostOut + fewEvents; q.alive > most {
			return &verdict.Finding{Rule: "event-count",
				Message: fmt.Sprintf("the pool should hold at most %d events here, two for each stream that may own something, one for each block that was out at once, "+
					"and %d more, but this makes %d.", most, fewEvents, q.alive),
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
		"Take memory from the upstream alone, record one event in Free, and in Alloc ask each stream's event once and "+
			"wait for it once.")
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
		Message: fmt.Sprintf("%s should have made no event and asked for none while only one stream was ever given to the pool, but it called %s.", x.Method(), suite.CallName(r)),
		Why:     "Within one stream the order is given; a record costs a third of a Free, and most programs have one stream.",
		Fix:     "When the second stream comes, record once in the first, and from then on in every Free."}
}

// allowed is what a method may call.
func allowed(x *allocator.Step) string {
	switch {
	case x.Kind == allocator.KindAlloc:
		return "one EventQuery and one StreamWaitEvent for each stream it has seen, and EventRecord in its own"
	case x.Kind == allocator.KindForget:
		return "EventRecord in the stream that it forgets"
	case x.Err == sequence.ErrInvalidFree:
		return "nothing at all where no block begins that is out"
	}
	return "one EventRecord, and EventCreate where there is no event yet"
}

func hostWait(x *allocator.Step, by string) *verdict.Finding {
	fix := "Have the stream wait (cuda.StreamWaitEvent) where bytes are not done yet."
	switch x.Method() {
	case "Forget":
		fix = "Leave the wait out. Record an event in the stream (cuda.EventRecord) where none stands behind its last Free yet, and keep it: whoever gets " +
			"the bytes next waits for that."
	case "Free":
		fix = "Leave the wait out. Record an event in the stream (cuda.EventRecord) once a second one has come: whoever gets the bytes next waits for that."
	}
	f := x.HostWait(by, fix)
	return &f
}
