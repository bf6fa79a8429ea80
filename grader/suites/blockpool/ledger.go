package blockpool

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// steps is a sequence with its trace.
type steps struct {
	*allocator.Ledger
	layout
	memory uint64 // where the pool's memory begins; 0: it has none
}

// follow are the operations that a right pool would have answered so, with their records.
func follow(r *allocator.Run[layout]) *steps {
	l := allocator.NewLedger(r)
	if l == nil {
		return nil
	}
	s := &steps{Ledger: l, layout: r.Layout}
	for _, x := range l.New.Calls {
		if x.Op == trace.OpMalloc && x.Code == 0 {
			s.memory = x.Addr
		}
	}
	return s
}

// waitsCounted looks at what shows by the trace alone: the memory that New got, where the blocks lie in it, and the
// number of waits.
func waitsCounted(e *suite.Evidence, r *allocator.Run[layout]) (found []verdict.Finding) {
	s := follow(r)
	if s == nil {
		return nil
	}
	if f, wrong := s.wrongMemory(e); wrong {
		return []verdict.Finding{f}
	}
	waits := 0
	for i := range s.Steps {
		x := &s.Steps[i]
		if x.Err == sequence.Skipped || x.Kind >= allocator.KindWait {
			continue
		}
		if offset := x.Addr - s.memory; x.Kind == allocator.KindAlloc && x.Err == sequence.Nil &&
			(x.Addr < s.memory || offset%uint64(s.layout.size) != 0 || offset/uint64(s.layout.size) >= uint64(s.layout.blocks)) {
			return append(found, x.Finding(e, -1, verdict.Finding{Rule: "outside",
				Message: fmt.Sprintf("Alloc should have handed out one of the blocks at memory + i*%d, but it answered an address "+
					"that is none.", s.layout.size),
				Why: "Memory outside belongs to somebody else, whose data a kernel would destroy, or to nobody, and then every " +
					"later CUDA call fails.",
				Fix: "Count a block's address from what cuda.Malloc returned: memory + i*blockSize, with i from 0 to blocks-1."}))
		}
		if x.Waited() >= 0 && x.Err == sequence.Nil {
			waits++
		}
		if x.Kind != allocator.KindClose && len(x.Stats()) == statsFields && x.Stats()[3] != int64(waits) {
			return append(found, x.Finding(e, -1, verdict.Finding{Rule: "wrong-stats",
				Message: fmt.Sprintf("Stats should count %d Allocs that made a stream wait, but Waits is %d.", waits, x.Stats()[3]),
				Why: "Waits says how much concurrency the pool has cost: each is a StreamWaitEvent, behind which a stream " +
					"cannot run beside another.",
				Fix: "Count one for each Alloc whose StreamWaitEvent has succeeded, and nothing else."}))
		}
	}
	return nil
}

// wrongMemory is what is wrong with what New got.
func (s *steps) wrongMemory(e *suite.Evidence) (f verdict.Finding, wrong bool) {
	first := &s.New
	mallocs := 0
	for at, r := range first.Calls {
		if suite.Allocates(r.Op) {
			mallocs++
		}
		if mallocs == 0 || r.Op == trace.OpMalloc && mallocs == 1 && r.Size == s.layout.size*int64(s.layout.blocks) {
			continue
		}
		if r.Op == trace.OpMalloc || mallocs > 1 {
			return first.Finding(e, at, verdict.Finding{Rule: "wrong-memory",
				Message: fmt.Sprintf("New should have got %d bytes in one cuda.Malloc, but it called %s for %d.",
					s.layout.size*int64(s.layout.blocks), suite.CallName(r), r.Size),
				Why: "Who asks for so many blocks has planned with so much memory: what a pool takes beyond that is missing " +
					"elsewhere.",
				Fix: "Call cuda.Malloc once, with blockSize times blocks."}), true
		}
	}
	return f, false
}

// queues is what is known of streams at one place of a sequence.
type queues struct {
	free     map[trace.ID][]int // blocks that were given back in a stream, by their numbers
	numbers  map[uint64]int     // of the blocks that are out, by address
	back     map[uint64]trace.ID
	had      int               // different blocks that were handed out
	through  map[trace.ID]bool // the host has waited for the stream since it was given anything
	recorded map[trace.ID]mark // by event
	freed    map[trace.ID]int  // the record behind a stream's last Free
}

// mark is where an event was recorded last.
type mark struct {
	at     int // the record
	stream trace.ID
	inFree bool
}

// needless finds the Allocs that made a stream wait while there was a block that needed no edge, or for more than they
// had to, and those that asked CUDA about another stream's block then, and handed it out.
func needless(e *suite.Evidence, r *allocator.Run[layout]) (found []verdict.Finding) {
	s := follow(r)
	if s == nil {
		return nil
	}
	q := &queues{free: map[trace.ID][]int{}, numbers: map[uint64]int{}, back: map[uint64]trace.ID{},
		through:  map[trace.ID]bool{},
		recorded: map[trace.ID]mark{}, freed: map[trace.ID]int{}}
	at := 0
	for i := range s.Steps {
		x := &s.Steps[i]
		for ; at < x.From; at++ {
			q.take(at, &s.Records[at], false)
		}
		for ; at < x.To; at++ {
			if x.Kind == allocator.KindAlloc && x.Err == sequence.Nil {
				switch f, wrong := q.wrongCall(s, x, &s.Records[at]); {
				case wrong && f.Rule != needlessQuery:
					return []verdict.Finding{x.Finding(e, at, f)}
				case wrong && len(found) == 0:
					found = append(found, x.Finding(e, at, f)) // a stream may have to wait as well
				}
			}
			q.take(at, &s.Records[at], x.Kind != allocator.KindAlloc)
		}
		q.settle(x)
	}
	return found
}

// take takes in one record of the trace.
func (q *queues) take(at int, r *trace.Record, inFree bool) {
	if r.Code != 0 || r.Phase == trace.Enter {
		return
	}
	switch r.Op {
	case trace.OpEventRecord:
		q.recorded[r.Event] = mark{at, r.Stream, inFree}
		q.through[r.Stream] = false
	case trace.OpStreamWaitEvent, trace.OpLaunch:
		q.through[r.Stream] = false
	case trace.OpStreamSynchronize:
		q.through[r.Stream] = true
	case trace.OpDeviceSynchronize:
		for s := range q.free {
			q.through[s] = true
		}
	}
}

// settle takes in an operation that is over.
func (q *queues) settle(x *allocator.Step) {
	switch {
	case x.Err != sequence.Nil:
	case x.Kind == allocator.KindAlloc:
		if owner, known := q.back[x.Addr]; known {
			for i, n := range q.free[owner] {
				if n == q.numbers[x.Addr] {
					q.free[owner] = append(q.free[owner][:i:i], q.free[owner][i+1:]...)
					break
				}
			}
			delete(q.back, x.Addr)
		} else {
			q.had++
		}
		q.numbers[x.Addr] = x.Number
	case x.Kind == allocator.KindFree, x.Kind == allocator.KindFreeInside, x.Kind == allocator.KindFreeUnknown:
		if n, out := q.numbers[x.Addr]; out {
			q.back[x.Addr] = x.ID
			q.free[x.ID] = append(q.free[x.ID], n)
			q.freed[x.ID] = x.To
		}
	}
}

const (
	needlessWhy = "Every edge is concurrency lost: what comes behind the wait cannot run beside what is waited for."
	needlessFix = "Look among what was given back in this stream, and among what nobody has had, before anything else."
)

// needlessQuery is the rule of an Alloc that asks about another stream's block, and hands it out, while it needs none.
const needlessQuery = "needless-query"

// asking leaves needless questions out where streams wait needlessly: the one comes of the other.
func asking(p suite.Part[Make]) suite.Part[Make] {
	judge := p.Judge
	p.Judge = func(e *suite.Evidence) suite.Answer {
		a := judge(e)
		asks := func(f verdict.Finding) bool { return f.Rule == needlessQuery }
		if slices.ContainsFunc(a.Findings, func(f verdict.Finding) bool { return !asks(f) }) {
			a.Findings = slices.DeleteFunc(a.Findings, asks)
		}
		return a
	}
	return p
}

// wrongCall is what is wrong with a call that an Alloc has made.
func (q *queues) wrongCall(s *steps, x *allocator.Step, r *trace.Record) (f verdict.Finding, wrong bool) {
	switch {
	case r.Phase == trace.Enter:
	case r.Op == trace.OpStreamWaitEvent && r.Code == 0:
		return q.wrongWait(s, x, r)
	case r.Op == trace.OpEventQuery || r.Op == trace.OpStreamQuery:
		owner, given := q.back[x.Addr] // asking alone is no harm: a pool may look ahead
		if ready := q.ready(s, x); ready != "" && given && owner != x.ID {
			return verdict.Finding{Rule: needlessQuery,
				Message: fmt.Sprintf("Alloc in %v asked with %s, and handed out a block that was given back in another stream, "+
					"although %s.", x.Stream,
					suite.CallName(r), ready),
				Why: "A block of the stream's own costs nothing; to ask whether another stream is through is a call of the " +
					"driver's, and its block is missing when that stream wants one.",
				Fix: needlessFix}, true
		}
	}
	return f, false
}

// ready says which block there is that needs neither an edge nor a question; "" where there is none.
func (q *queues) ready(s *steps, x *allocator.Step) string {
	if own := q.free[x.ID]; len(own) > 0 {
		return fmt.Sprintf("block #%d, which was given back in %v, was free and needed no edge", own[len(own)-1], x.Stream)
	}
	if q.had < s.layout.blocks {
		return "there was a block that nobody has had, which needed no edge"
	}
	return ""
}

// wrongWait is what is wrong with an Alloc's wait.
func (q *queues) wrongWait(s *steps, x *allocator.Step, r *trace.Record) (f verdict.Finding, wrong bool) {
	event := q.recorded[r.Event]
	made := fmt.Sprintf("Alloc in %v should have made no stream wait, but it made %s wait for %s", x.Stream,
		s.Name(r.Stream), s.Name(event.stream))
	f = verdict.Finding{Rule: "needless-wait", Why: needlessWhy, Fix: needlessFix}
	if ready := q.ready(s, x); ready != "" {
		f.Message = fmt.Sprintf("%s although %s.", made, ready)
		return f, true
	}
	var done, others []trace.ID
	for id, blocks := range q.free {
		switch {
		case len(blocks) == 0:
		case q.through[id]:
			done = append(done, id)
		default:
			others = append(others, id)
		}
	}
	if len(done) > 0 && len(others) <= 1 {
		f.Message = fmt.Sprintf("%s although block #%d was free, which was given back in %s, and the host had waited for "+
			"that stream.", made,
			q.free[done[0]][0], s.Name(done[0]))
		f.Fix = "Ask the event of each stream with free blocks whether it is done (cuda.EventQuery) before you wait for any."
		return f, true
	}
	if event.at > 0 && !event.inFree {
		for at := q.freed[event.stream]; at < event.at; at++ {
			if later := &s.Records[at]; later.Op == trace.OpLaunch && later.Stream == event.stream && later.Code == 0 {
				return verdict.Finding{Rule: "waits-too-long",
					Message: fmt.Sprintf("Alloc in %v should have made it wait for what was in %s at its last Free, but it waits for "+
						"the launch of %s as well, which %s was given later.", x.Stream, s.Name(event.stream), later.Kernel,
						s.Name(event.stream)),
					Why: "An event remembers all that is in the stream when it is recorded.",
					Fix: "Record the event in Free, where the last use of the block lies behind, and not in Alloc."}, true
			}
		}
	}
	return f, false
}

// calls finds what Alloc and Free call beyond what they need.
func calls(e *suite.Evidence, run *allocator.Run[layout]) (found []verdict.Finding) {
	s := follow(run)
	if s == nil {
		return nil
	}
	events, streams, hostWaits := 0, map[trace.ID]bool{}, e.WaitsIn(run.Notes)
	for _, r := range s.New.Calls {
		if r.Op == trace.OpEventCreate && r.Code == 0 {
			events++
		}
	}
	for i := range s.Steps {
		x := &s.Steps[i]
		if x.Err == sequence.Skipped || x.Kind == allocator.KindClose || x.Kind >= allocator.KindWait {
			continue
		}
		if streams[x.ID] = true; x.Err == sequence.ErrClosed {
			continue
		}
		asked, waits, records := 0, 0, 0
		for at, r := range x.Calls {
			needless := false
			switch r.Op {
			case trace.OpEventQuery, trace.OpStreamQuery:
				asked++
				needless = x.Kind != allocator.KindAlloc || asked > len(streams)
			case trace.OpStreamWaitEvent:
				waits++
				needless = x.Kind != allocator.KindAlloc || waits > 1
			case trace.OpEventRecord:
				records++
				needless = x.Kind == allocator.KindAlloc || records > 1
			case trace.OpEventCreate:
				events++
				needless = x.Kind == allocator.KindAlloc
				if !needless && events > s.layout.blocks+len(streams) {
					return append(found, x.Finding(e, at, verdict.Finding{Rule: "event-count",
						Message: fmt.Sprintf("the pool should make at most %d events, one for each of its %d blocks and of the %d "+
							"streams it has seen, but this is number %d.",
							s.layout.blocks+len(streams), s.layout.blocks, len(streams), events),
						Why: "An event costs the driver memory and a call each time, and one that is recorded again serves as " +
							"well as a new one.",
						Fix: "Make an event when a stream is first given a block back, or one for each block, and record it again in " +
							"each Free."}))
				}
			default:
				needless = true
			}
			if how := hostWaits[at]; how != "" {
				return append(found, x.Finding(e, at, hostWait(x, r, how)))
			}
			if needless {
				f := x.Needless(r, allowed(x),
					"Get memory in New, make events in New or in Free, record one event in Free, and in Alloc ask each stream's "+
						"event once and wait once.")
				switch {
				case r.Op == trace.OpStreamWaitEvent && waits > 1:
					f.Message = fmt.Sprintf("Alloc should have made the stream wait once, for the Free of the block that it hands "+
						"out, but it called %s a second time.", suite.CallName(r))
					f.Why = "Each wait costs concurrency: what comes behind it cannot run beside what is waited for, and this block " +
						"needs one stream alone."
					f.Fix = "Choose the block first, and have the stream wait for the event of the one stream that it was given " +
						"back in."
				case r.Op == trace.OpEventRecord && x.Kind == allocator.KindAlloc:
					f.Why = "By the time of the Alloc the other stream may have more work, or be gone: an event that is recorded " +
						"then stands for too much, or fails."
					f.Fix = "Leave it out, and record the event in Free alone (cuda.EventRecord), where the last use of the block " +
						"lies behind."
				}
				return append(found, x.Finding(e, at, f))
			}
		}
	}
	return nil
}

// allowed is what a method may call.
func allowed(x *allocator.Step) string {
	switch {
	case x.Kind == allocator.KindAlloc:
		return "one EventQuery for each stream it has seen and one StreamWaitEvent"
	case x.Err == sequence.ErrInvalidFree:
		return "nothing at all where no block begins that is out"
	}
	return "one EventRecord, and EventCreate where there is no event yet"
}

func hostWait(x *allocator.Step, r *trace.Record, how string) verdict.Finding {
	fix := "Have the stream wait (cuda.StreamWaitEvent) where a block is not done yet."
	if x.Method() == "Free" {
		fix = "Leave the wait out. Record an event in the stream (cuda.EventRecord): if another stream gets the block, " +
			"Alloc has that one wait for it."
	}
	return x.HostWait(r, how, fix)
}
