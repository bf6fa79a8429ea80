package order

import (
	"fmt"
	"slices"

	"cudalab/native/trace"
)

// object is a thing that a program makes, names by value and destroys; op is the call that destroys it.
type object struct {
	op trace.Op
	id trace.ID
}

// named lists the objects that a call names.
func named(r *trace.Record) []object {
	all := []object{{trace.OpStreamDestroy, r.Stream}, {trace.OpEventDestroy, r.Event}, {trace.OpEventDestroy, r.Event2},
		{trace.OpMemPoolDestroy, r.Pool}, {trace.OpMemRelease, r.Alloc}}
	return slices.DeleteFunc(all, func(x object) bool { return x.id == 0 })
}

// destroyed is the record of the call that destroyed an object; -1 if it is not in the trace.
func (c *checker) destroyed(x object) int {
	if c.ended == nil {
		c.ended = map[object]int{}
		for i := range c.words.t.Records {
			r := &c.words.t.Records[i]
			if r.Code != 0 || r.Phase == trace.Enter {
				continue
			}
			for _, x := range named(r) {
				if x.op == r.Op {
					c.ended[x] = i
				}
			}
		}
	}
	if at, ok := c.ended[x]; ok {
		return at
	}
	return -1
}

// stale takes in a call that was refused because it names an object that had been destroyed. Of what was destroyed
// before the trace began nothing is said.
func (c *checker) stale(i int, r *trace.Record) {
	if r.Op == trace.OpFreeAsync {
		c.triedAt(r.Addr)
	}
	for _, x := range named(r) {
		switch at := c.destroyed(x); {
		case at < 0 || at > i:
		case x.op != trace.OpMemRelease:
			c.report.afterDestroy(i, at, x)
			return
		case r.Op == trace.OpMemRelease:
			c.report.releaseTwice(i, at, c.allocation(x.id))
			return
		default:
			c.report.afterRelease(i, at, c.allocation(x.id))
			return
		}
	}
}

// afterDestroy reports a call that names a stream, event or pool that record destroyed has destroyed.
func (p *report) afterDestroy(i, destroyed int, x object) {
	w := p.words
	p.add(UseAfterDestroy, i, destroyed, -1, 0, func() Finding {
		var thing, kind, fix string
		switch x.op {
		case trace.OpStreamDestroy:
			thing, kind = w.stream(x.id), "stream"
			fix = "Move StreamDestroy after the last call that names the stream; work that is still in it runs to its end."
		case trace.OpEventDestroy:
			thing, kind = fmt.Sprintf("event %d", x.id), "event"
			fix = "Move EventDestroy after the last call that names the event; what already waits for it goes on waiting."
		default:
			thing, kind = fmt.Sprintf("memory pool %d", x.id), "pool"
			fix = "Move MemPoolDestroy after the last call that names the pool; what is allocated from it stays valid."
		}
		when := "after its last use"
		if w.record(i).Op == x.op {
			when = "once"
			fix = "Destroy each " + kind + " once: " + p.removeOne(destroyed, i, "forget the "+kind+" once it is destroyed") +
				"."
		}
		return Finding{
			Message: fmt.Sprintf("%s is given %s, but %s has destroyed it before; every %s should be destroyed %s.",
				capital(w.call(i)), thing, w.call(destroyed), kind, when),
			Why: "After the destroy the old value means nothing: the driver may crash on it, or take it for another " + kind +
				" that was made since.",
			Fix:     fix,
			Related: []Related{{destroyed, "destroyed here"}},
		}
	})
}

// afterRelease reports a call that names the handle of memory after record released has released it.
func (p *report) afterRelease(i, released int, a *allocation) {
	w := p.words
	p.add(UseAfterDestroy, i, released, a.made, 0, func() Finding {
		return Finding{
			Message: fmt.Sprintf("%s is given the handle of %s, but MemRelease has released it before; the release should come "+
				"after the last use.", capital(w.call(i)), w.memory(a)),
			Why:     whyHandle,
			Fix:     "Move MemRelease after the last MemMap of the handle; what is mapped by then stays mapped.",
			Related: append([]Related{{released, "released here"}}, p.from(a)...),
		}
	})
}
