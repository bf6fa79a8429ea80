package order

import (
	"fmt"

	"cudalab/native/trace"
)

// inStream reports whether a block is handed out or taken back in the order of a stream.
func inStream(r *trace.Record) bool {
	return r.Flags&trace.InStream != 0 && (r.Op == trace.OpBlockAlloc || r.Op == trace.OpBlockFree)
}

// takeBackIn takes in that an allocator has taken back a live block behind what is in a stream. What was done to it is
// then a former owner's doing.
func (c *checker) takeBackIn(i int, r *trace.Record, a *allocation) {
	q := c.queues.next(r.Stream, i)
	mended := a.whole().excuses(q)
	covered := mended > 0 || !a.block.ordered || q.behind(a.birth)
	pending(q, trace.Write, func(y conflict, _ *allocation) {
		ofBirth := y.by.stream == a.birth.stream
		if ofBirth && y.by.pos <= mended {
			return
		}
		covered = covered || ofBirth
		c.report.freeBeforeUse(i, a, y)
	}, usages(a)...)
	if !covered {
		c.report.freeBeforeAlloc(i, a)
	}
	for _, p := range c.parts(nil, a, 0, a.size) {
		if p.memory == a {
			continue
		}
		p.memory.history.retract(a.history, p.lo, p.hi, p.shift)
		if p.memory.former == nil {
			p.memory.former = &history{}
		}
		p.memory.former.absorb(a.history, p.lo, p.hi, p.shift)
		c.returned.Set(int64(c.words.record(a.made).Addr)+p.lo-p.shift, int64(c.words.record(a.made).Addr)+p.hi-p.shift,
			stamp{hostID, position(i)})
	}
	c.endBlocks(i, []*allocation{a})
}

// reuse checks that all that former owners have done to the bytes of a block is over for the work that q does next, to
// which the block is handed out.
func (c *checker) reuse(i int, q *queue, a *allocation) {
	if c.returned.Empty() {
		return
	}
	for _, p := range c.parts(nil, a, 0, a.size) {
		if p.memory.former == nil {
			continue
		}
		pending(q, trace.Write, func(y conflict, _ *allocation) {
			at := int64(c.words.record(i).Addr) - p.shift
			c.report.earlyReuse(i, p.memory, y, recordIn(&c.returned, at+y.lo, at+y.hi))
		}, usage{p.memory, p.memory.former, p.lo, p.hi})
	}
}

// absorb adds the accesses to a block, shift bytes before, to those of former owners of its bytes.
func (h *history) absorb(o *history, lo, hi, shift int64) {
	for x := range o.writes.Within(lo-shift, hi-shift) {
		h.writes.Set(x.Lo+shift, x.Hi+shift, x.Value)
		h.reads.cut(x.Lo+shift, x.Hi+shift)
		h.atomics.cut(x.Lo+shift, x.Hi+shift)
	}
	add := func(list *sharers, others sharers) {
		for i := range others {
			for x := range others[i].spans.Within(lo-shift, hi-shift) {
				list.byStream(others[i].stream).spans.Set(x.Lo+shift, x.Hi+shift, x.Value)
			}
		}
	}
	add(&h.reads, o.reads)
	add(&h.atomics, o.atomics)
}

// earlyReuse reports that the i-th record's call hands out bytes of a that were given back, by record back, while y may
// still be at them.
func (p *report) earlyReuse(i int, a *allocation, y conflict, back int) {
	w, with := p.words, y.by.record()
	p.add(EarlyReuse, i, with, a.made, 0, func() Finding {
		who := "the host"
		if r := w.record(i); inStream(r) {
			who = w.stream(r.Stream)
		}
		tried, cause := w.attempt(with, i)
		f := Finding{
			Message: fmt.Sprintf("%s hands out %s again, which %s %s. It should come after that, but %s never waits for it: "+
				"the next owner's work may run at the same time.", capital(w.callOn(i)), w.part(a, y.lo, y.hi), w.callOn(with),
				verb(y.kind), who),
			Why: "A block that was given back in a stream is free behind what is in that stream by then, and streams run each " +
				"at their own pace.",
			Fix: "Record an event when the block is given back, on the stream that it is given back in, and have the " +
				"stream of the next Alloc wait for it (cuda.StreamWaitEvent); or hand out a block whose event is done " +
				"(cuda.EventQuery).",
			Related: []Related{w.doing(with, y.kind)},
			Cause:   cause,
		}
		if back >= 0 {
			f.Related = append(f.Related, Related{back, "given back here"})
		}
		if r := w.record(with); len(tried) == 0 && inStream(r) {
			f.Message += fmt.Sprintf(" No event was recorded on %s behind that.", w.stream(r.Stream))
		}
		f.Related = append(append(f.Related, tried...), p.from(a)...)
		return f
	})
}
