package order

import "cudalab/native/trace"

// hostID stands for the host where a stream's identity is asked for. All that the host does is ordered before all that
// is enqueued later, so its own accesses are known to everyone.
const hostID = ^trace.ID(0)

// legacyID is the legacy default stream's identity.
const legacyID trace.ID = 0

// nonBlocking is the flag of a stream that the legacy default stream neither waits for nor makes wait (cuda.h:
// CU_STREAM_NON_BLOCKING).
const nonBlocking = 1

// position is where in the trace the i-th record is, counted from 1, so that 0 can mean "nowhere".
func position(i int) int32 { return int32(i) + 1 }

// stamp is a place in a queue: the work enqueued in stream at pos.
type stamp struct {
	stream trace.ID
	pos    int32
}

// record is the index of the record that the stamp is of.
func (s stamp) record() int { return int(s.pos) - 1 }

// mark is a place in a queue, if pos is not 0, with all that is over once the queue has got there.
type mark struct {
	stamp
	clock clock
}

// all is what is over once m has been reached, its own place included.
func (m mark) all() clock {
	if m.pos == 0 {
		return m.clock
	}
	return m.clock.set(m.stream, m.pos)
}

// queue is a stream, or the host, with what work that it does next is ordered behind.
type queue struct {
	id    trace.ID
	clock clock
	last  int32 // position of the last thing enqueued; 0: none
	seen  int   // which state of the host's clock the queue's clock holds

	exempt    bool // created non-blocking: the legacy stream's barriers pass it by
	unbarred  bool // has work that the legacy stream has not waited for; it is in queues.unbarred
	created   bool
	made      int // record of its creation, if created
	destroyed bool
}

func (q *queue) create(i int, flags uint32) {
	q.created, q.made, q.exempt = true, i, flags&nonBlocking != 0
}

func (q *queue) mark() mark { return mark{stamp{q.id, q.last}, q.clock} }

// behind reports whether what q does next is ordered behind s.
func (q *queue) behind(s stamp) bool {
	return s.stream == q.id || s.stream == hostID || q.clock.position(s.stream) >= s.pos
}

// wait orders what q does next behind m. It reports false where it was so already.
func (q *queue) wait(m mark) bool {
	if m.pos > 0 && q.behind(m.stamp) {
		return false // whoever knows of a place in a queue knows all that was over there
	}
	q.clock = q.clock.join(m.all())
	return true
}

// queues are the host and the streams.
type queues struct {
	host     *queue
	waits    int // counts the changes of the host's clock
	streams  map[trace.ID]*queue
	unbarred []*queue
}

func (qs *queues) stream(id trace.ID) *queue {
	q := qs.streams[id]
	if q == nil {
		q = &queue{id: id, seen: -1}
		qs.streams[id] = q
	}
	return q
}

// hostWaited orders all that the host does next behind m.
func (qs *queues) hostWaited(m mark) {
	if m == (mark{}) {
		return
	}
	if qs.host.wait(m) {
		qs.waits++
	}
}

// enqueue puts the i-th record's call at the end of a stream. The stream's clock is then what that call is ordered
// behind.
func (qs *queues) enqueue(id trace.ID, i int) *queue {
	q := qs.stream(id)
	if q.seen != qs.waits {
		q.seen = qs.waits
		q.clock = q.clock.join(qs.host.clock)
	}
	switch {
	case id == legacyID:
		for _, other := range qs.unbarred {
			q.wait(other.mark())
			other.unbarred = false
		}
		clear(qs.unbarred)
		qs.unbarred = qs.unbarred[:0]
	case !q.exempt:
		if legacy := qs.streams[legacyID]; legacy != nil && legacy.last > 0 {
			q.wait(legacy.mark())
		}
		if !q.unbarred {
			q.unbarred = true
			qs.unbarred = append(qs.unbarred, q)
		}
	}
	q.last = position(i)
	return q
}

// next is a stream as what comes into it next will find it, though nothing does. The legacy default stream's barriers
// are those of real work alone.
func (qs *queues) next(id trace.ID, i int) *queue {
	q := *qs.stream(id)
	q.clock = q.clock.join(qs.host.clock)
	switch {
	case id == legacyID:
		for _, other := range qs.unbarred {
			q.wait(other.mark())
		}
	case !q.exempt:
		if legacy := qs.streams[legacyID]; legacy != nil && legacy.last > 0 {
			q.wait(legacy.mark())
		}
	}
	q.last = position(i)
	return &q
}

// reached is what is over when the host has waited for a stream. Waiting for the legacy default stream waits for the
// streams that it waits for: cuStreamSynchronize and cuStreamQuery follow the default stream's semantics.
func (qs *queues) reached(id trace.ID) mark {
	m := qs.stream(id).mark()
	if id != legacyID || len(qs.unbarred) == 0 {
		return m
	}
	over := m.all()
	for _, other := range qs.unbarred {
		if !qs.host.behind(stamp{other.id, other.last}) {
			over = over.join(other.mark().all())
		}
	}
	return mark{clock: over}
}
