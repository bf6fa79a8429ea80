package streampool

import (
	"fmt"
	"math"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// waitsCounted looks whether Stats counts the waits that there were.
func waitsCounted(e *suite.Evidence, r *allocator.Run[layout]) []verdict.Finding {
	l := allocator.NewLedger(r)
	if l == nil {
		return nil
	}
	waits := 0
	for i := range l.Steps {
		x := &l.Steps[i]
		if !x.Called() {
			continue
		}
		if x.Waited() >= 0 && x.Err == sequence.Nil {
			waits++
		}
		if x.Kind != allocator.KindClose && x.Err != sequence.ErrClosed && len(x.Stats()) == statsFields &&
			x.Stats()[4] != int64(waits) {
			return []verdict.Finding{x.Finding(e, -1, verdict.Finding{Rule: "wrong-stats",
				Message: fmt.Sprintf("Stats should count %d Allocs that made a stream wait, but Waits is %d.", waits, x.Stats()[4]),
				Why: "Waits says how much concurrency the pool has cost: behind each StreamWaitEvent a stream cannot run " +
					"beside another.",
				Fix: "Count one for each Alloc that has handed out a block and made a stream wait, however often."})}
		}
	}
	return nil
}

// standing is what is known of a pool and its streams at one place of a sequence.
type standing struct {
	land
	arrived  map[allocator.Stream]bool
	came     int                       // how many streams have, those again that were forgotten
	absent   map[allocator.Stream]bool // were forgotten before, also those that were given again
	idle     bool                      // the host has waited for the device, and nothing was enqueued since
	through  map[trace.ID]bool         // by stream: the host has waited for it, and it was given nothing since
	ids      map[allocator.Stream]trace.ID
	least    int64             // that the upstream has refused since it was given something back
	recorded map[trace.ID]mark // by event
	freed    map[trace.ID]int  // the record behind a stream's last Free
	last     map[trace.ID]int  // the pool's last record of an event in a stream
}

// mark is where an event was recorded last.
type mark struct {
	at     int // the record
	stream trace.ID
	late   bool // in an Alloc, in another stream than that which asked, or in a Forget, though it was recorded before
	before int  // of a late one in a Forget, the record before it in the stream; 0: none
}

// policy finds the Allocs that made a stream wait, or the pool grow, where neither was needed.
func policy(e *suite.Evidence, r *allocator.Run[layout]) []verdict.Finding {
	l := allocator.NewLedger(r)
	if l == nil {
		return nil
	}
	q := &standing{arrived: map[allocator.Stream]bool{}, absent: map[allocator.Stream]bool{}, least: math.MaxInt64,
		recorded: map[trace.ID]mark{}, freed: map[trace.ID]int{}, last: map[trace.ID]int{}, through: map[trace.ID]bool{},
		ids: map[allocator.Stream]trace.ID{}}
	at := 0
	for i := range l.Steps {
		x := &l.Steps[i]
		for ; at < x.From; at++ {
			q.see(at, &l.Records[at], nil, false)
		}
		second := !q.arrived[x.Stream] && q.came == 1
		if f, record := q.judge(l, x, second); f != nil {
			return []verdict.Finding{x.Finding(e, record, *f)}
		}
		for ; at < x.To; at++ {
			q.see(at, &l.Records[at], x, second)
		}
		q.settle(x)
	}
	return nil
}

// see takes in one record of the trace; x is the operation that it is of, nil where it is the grader's.
func (q *standing) see(at int, r *trace.Record, x *allocator.Step, second bool) {
	if r.Code != 0 || r.Phase == trace.Enter {
		return
	}
	switch r.Op {
	case trace.OpEventRecord:
		m := mark{at: at, stream: r.Stream}
		if x != nil {
			switch before, again := q.last[r.Stream]; {
			case x.Kind == allocator.KindAlloc:
				m.late = !second && r.Stream != x.ID
			case x.Kind == allocator.KindForget && again:
				m.late, m.before = true, before
			}
			q.last[r.Stream] = at
		}
		q.recorded[r.Event] = m
		q.idle, q.through[r.Stream] = false, false
	case trace.OpStreamWaitEvent, trace.OpLaunch, trace.OpMemsetAsync:
		q.idle, q.through[r.Stream] = false, false
	case trace.OpStreamSynchronize:
		q.through[r.Stream] = true
	case trace.OpDeviceSynchronize:
		q.idle = true
	}
}

// judge is what is wrong with an Alloc, and the record that shows it, or -1.
func (q *standing) judge(l *allocator.Ledger, x *allocator.Step, second bool) (f *verdict.Finding, record int) {
	if x.Kind != allocator.KindAlloc || x.Err != sequence.Nil && x.Err != sequence.ErrFull {
		return nil, -1
	}
	size := uint64(need(x.Size))
	own, hasOwn := q.suffices(size, x.Stream)
	there, hasAny := part{}, false
	if q.idle && !second {
		there, hasAny = q.suffices(size, nobody)
	}
	done, hasDone := q.sufficesDone(size)
	least, grew := q.least, int64(0)
	entries(x.Seen(), func(what, bytes int64, _ uint64) {
		switch what {
		case refused:
			least = min(least, bytes)
		case handedOut:
			grew = bytes
		}
	})
	instead := better{}
	switch {
	case hasOwn:
		instead = better{own, "were free and needed no wait", q.hint(x, own, size)}
	case hasAny:
		instead = better{there, "were free, and the device was through with all", q.hint(x, there, size)}
	case hasDone && !second:
		instead = better{done, "were free, and the host had waited for that stream", q.hint(x, done, size)}
	}
	if grew > 0 && instead.why != "" {
		return &verdict.Finding{Rule: "needless-growth",
			Message: fmt.Sprintf("Alloc in %v should have asked the upstream for nothing, but it got %d bytes more although %s.",
				x.Stream, grew, instead),
			Why: "Memory that one pool holds without need is missing elsewhere, and to get it takes a call of the driver's.",
			Fix: instead.hint + "Look among what the stream owns first, then among what is done, and only then ask the " +
				"upstream."}, -1
	}
	ready := map[trace.ID]bool{}
	for at, r := range x.Calls {
		switch {
		case r.Op == trace.OpEventQuery && r.Code == 0:
			ready[r.Event] = true
		case r.Op == trace.OpEventRecord:
			q.see(at, r, x, second)
		case r.Op == trace.OpStreamWaitEvent && r.Code == 0:
			if f := q.wrongWait(l, x, r, instead, least > int64(size) && !ready[r.Event]); f != nil {
				return f, at
			}
		}
	}
	return nil, -1
}

// better is free bytes that an Alloc should have taken: why, and what the pool has perhaps not seen to.
type better struct {
	part
	why  string
	hint string
}

func (b better) String() string {
	return fmt.Sprintf("%d bytes side by side that %s %s", b.hi-b.lo, b.whose(), b.why)
}

// hint is what may have kept an Alloc from free bytes that are enough, a sentence of its own; "" where nothing is known
// of it.
func (q *standing) hint(x *allocator.Step, p part, size uint64) string {
	if p.whole < size {
		return fmt.Sprintf("Join in Free what one stream has given back side by side: each piece of these %d bytes by "+
			"itself is too short. ", p.hi-p.lo)
	}
	if q.absent[p.owner] {
		return fmt.Sprintf("%v was forgotten before it was given again: have Forget take a stream out of all that Alloc and "+
			"Free look it up in, so that it comes back as a new one, whose pieces are found. ", p.owner)
	}
	for at, r := range x.Calls {
		event, known := q.recorded[r.Event]
		if r.Op == trace.OpEventQuery && r.Code == int32(device.ErrorNotReady) && known && event.at < at &&
			p.owner != x.Stream && event.stream != q.ids[p.owner] {
			return fmt.Sprintf("Here one event was asked that stands for other bytes, and it was not done: go on with the next "+
				"stream's (cuda.EventQuery), up to that of %v. ",
				p.owner)
		}
	}
	return ""
}

// sufficesDone finds bytes that are enough, of a stream that the host has waited for.
func (q *standing) sufficesDone(size uint64) (part, bool) {
	for _, p := range q.parts {
		if id, known := q.ids[p.owner]; known && q.through[id] && !p.out && p.hi-p.lo >= size {
			return p, true
		}
	}
	return part{}, false
}

// whose says whose free bytes are.
func (p part) whose() string {
	if p.fresh {
		return fmt.Sprintf("nobody has had since %v made the pool grow", p.owner)
	}
	return fmt.Sprintf("were given back in %v", p.owner)
}

// wrongWait is what is wrong with an Alloc's wait; nil: nothing.
func (q *standing) wrongWait(l *allocator.Ledger, x *allocator.Step, r *trace.Record, instead better,
	mayGrow bool) *verdict.Finding {
	event := q.recorded[r.Event]
	made := fmt.Sprintf("Alloc in %v should have made no stream wait, but it made %s wait for %s", x.Stream,
		l.Name(r.Stream), l.Name(event.stream))
	switch {
	case instead.why != "":
		return &verdict.Finding{Rule: "needless-wait",
			Message: fmt.Sprintf("%s although %s.", made, instead),
			Why:     "Every edge is concurrency lost: what comes behind the wait cannot run beside what is waited for.",
			Fix: instead.hint + "Look among what the stream owns first, and then ask the events of the others " +
				"(cuda.EventQuery) before you wait for any."}
	case mayGrow:
		return &verdict.Finding{Rule: "waits-before-growing",
			Message: fmt.Sprintf("%s before the upstream had refused %d bytes.", made, need(x.Size)),
			Why: "Memory is there to be used: a stream that waits while the upstream has more gives its concurrency away " +
				"for nothing.",
			Fix: "Ask the upstream before you have a stream wait, for the step and then for what the block needs."}
	case event.late:
		for at := max(q.freed[event.stream], event.before); at < event.at; at++ {
			if later := &l.Records[at]; later.Op == trace.OpLaunch && later.Stream == event.stream && later.Code == 0 {
				return &verdict.Finding{Rule: "waits-too-long",
					Message: fmt.Sprintf("Alloc in %v should have made it wait for what was in %s at its last Free, but it waits for "+
						"the launch of %s as well, which %s was given later.", x.Stream, l.Name(event.stream), later.Kernel,
						l.Name(event.stream)),
					Why: "An event remembers all that is in the stream when it is recorded.",
					Fix: "Record the event in Free, where the last use of the bytes lies behind, and not in Alloc; nor again in " +
						"Forget."}
			}
		}
	}
	return nil
}

// settle takes in an operation that is over.
func (q *standing) settle(x *allocator.Step) {
	if !x.Called() || x.Err == sequence.ErrClosed {
		return
	}
	entries(x.Seen(), func(what, size int64, _ uint64) {
		switch what {
		case refused:
			q.least = min(q.least, size)
		case takenBack:
			q.least = math.MaxInt64
		}
	})
	full := x.Kind == allocator.KindAlloc && x.Err == sequence.ErrFull
	if x.Kind == allocator.KindAlloc && (full || x.Err == sequence.Nil && q.asked(x)) {
		q.mix()
	}
	q.land.settle(x)
	if x.Err != sequence.Nil && !full {
		return
	}
	switch x.Kind {
	case allocator.KindAlloc:
		q.arrive(x.Stream)
	case allocator.KindForget:
		delete(q.arrived, x.Stream)
		q.absent[x.Stream] = true
		q.disown(x.Stream)
	case allocator.KindFree, allocator.KindFreeInside, allocator.KindFreeUnknown:
		q.arrive(x.Stream)
		q.freed[x.ID], q.ids[x.Stream] = x.To, x.ID
	}
}

func (q *standing) arrive(s allocator.Stream) {
	if !q.arrived[s] {
		q.arrived[s] = true
		q.came++
	}
}

// asked reports whether an Alloc has asked an event, or made a stream wait for one: then it may have joined what is
// done, or waited for.
func (q *standing) asked(x *allocator.Step) bool {
	for _, r := range x.Calls {
		if r.Op == trace.OpEventQuery || r.Op == trace.OpStreamQuery || r.Op == trace.OpStreamWaitEvent {
			return true
		}
	}
	return false
}
