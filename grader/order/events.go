package order

import (
	"maps"
	"slices"

	"cudalab/native/trace"
)

// event is what an event remembers.
type event struct {
	id    trace.ID
	mark  mark // what it recorded last; no place if nothing
	made  int  // record of its creation
	known bool // it was created by the program, within the trace

	early    []int // calls that waited for it before anything was recorded
	rewaited bool  // it was waited for again after it had been recorded
}

// event is an event's state. One whose creation is not in the trace may have been recorded before the trace began.
func (c *checker) event(id trace.ID) *event {
	e := c.events[id]
	if e == nil {
		e = &event{id: id}
		c.events[id] = e
	}
	return e
}

// awaited is the mark to wait for when the i-th record waits for an event.
func (c *checker) awaited(i int, r *trace.Record) mark {
	e := c.event(r.Event)
	switch {
	case e.mark.pos > 0:
		e.rewaited = true
	case e.known:
		e.early = append(e.early, i)
	}
	return e.mark
}

// waitEvent takes in a wait of a stream's. One for an event that was never recorded does nothing at all: it does not
// even come into the stream, so that on the legacy default stream it is no barrier (seen on an H200).
func (c *checker) waitEvent(i int, r *trace.Record) {
	m := c.awaited(i, r)
	if m.pos == 0 && c.event(r.Event).known {
		return
	}
	q := c.queues.enqueue(r.Stream, i)
	if m.pos > 0 {
		c.noteWait(i, r, q.wait(m) || m.stream == r.Stream)
	}
}

func (c *checker) syncEvent(i int, r *trace.Record) mark {
	m := c.awaited(i, r)
	if r.Op == trace.OpEventSynchronize && m.pos > 0 {
		c.noteWait(i, r, !c.queues.host.behind(m.stamp))
	}
	return m
}

func (c *checker) syncStream(i int, r *trace.Record) mark {
	m := c.queues.reached(r.Stream)
	if r.Op == trace.OpStreamSynchronize && m.pos > 0 {
		c.noteWait(i, r, !c.queues.host.behind(m.stamp))
	}
	return m
}

// destroyEvent forgets an event. Its identity does not come back.
func (c *checker) destroyEvent(id trace.ID) {
	if e := c.events[id]; e != nil {
		c.judgeEarly(e)
		delete(c.events, id)
	}
}

// unrecorded judges the waits for the events that are left.
func (c *checker) unrecorded() {
	for _, id := range slices.Sorted(maps.Keys(c.events)) {
		c.judgeEarly(c.events[id])
	}
}

// judgeEarly reports the waits that came before anything was recorded. Around a ring of events the first lap does
// that on purpose, and each event is recorded and waited for again later: that is no fault.
func (c *checker) judgeEarly(e *event) {
	recorded := e.mark.pos > 0
	if recorded && e.rewaited {
		return
	}
	for _, at := range e.early {
		later := -1
		if recorded {
			later = e.mark.record()
		}
		c.report.unrecorded(at, later)
	}
}

// waitSite counts what the waits at one place of the source were good for.
type waitSite struct {
	first    int
	needed   int
	needless int
}

// noteWait counts a wait. A place of the source is worth a remark only if no wait there ever ordered anything: code
// that serves any number of streams waits needlessly now and then.
func (c *checker) noteWait(i int, r *trace.Record, needed bool) {
	if r.Site == 0 {
		return
	}
	w := c.waits[r.Site]
	if w == nil {
		w = &waitSite{first: i}
		c.waits[r.Site] = w
	}
	if needed {
		w.needed++
	} else {
		w.needless++
	}
}

func (c *checker) needless() {
	for _, w := range c.waits {
		if w.needed == 0 {
			c.report.needless(w.first, w.needless)
		}
	}
}

// legacyUse is what is known about work given to the legacy default stream by name.
type legacyUse struct {
	sites  map[uint32]legacySite
	others bool // there was work on other streams too
}

type legacySite struct {
	first, count int
	others       bool // the same place of the source also gave work to other streams
}

// note takes in work on a stream. Synchronous calls belong to the legacy stream by nature and do not count.
func (l *legacyUse) note(i int, r *trace.Record) {
	switch r.Op {
	case trace.OpMemcpyHtoD, trace.OpMemcpyDtoH, trace.OpMemcpyDtoD, trace.OpMemset:
		return
	}
	if r.Stream != legacyID {
		l.others = true
		if s, ok := l.sites[r.Site]; ok && !s.others {
			s.others = true
			l.sites[r.Site] = s
		}
		return
	}
	if r.Site == 0 {
		return
	}
	s, ok := l.sites[r.Site]
	if !ok {
		if l.sites == nil {
			l.sites = map[uint32]legacySite{}
		}
		s.first = i
	}
	s.count++
	l.sites[r.Site] = s
}

// legacyByAccident remarks on places that always give their work to the legacy stream, in a program that has others.
func (c *checker) legacyByAccident() {
	if !c.legacy.others {
		return
	}
	for _, s := range c.legacy.sites {
		if !s.others {
			c.report.legacy(s.first, s.count)
		}
	}
}
