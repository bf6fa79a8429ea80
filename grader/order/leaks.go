package order

import (
	"cmp"
	"fmt"
	"slices"

	"cudalab/native/trace"
)

// stray is a thing that the program made and never gave back.
type stray struct {
	made  int // record of the call that made it
	alloc *allocation
	event trace.ID // alloc, event, queue or pool says what it is; the others are zero
	queue trace.ID
	pool  trace.ID
}

// strays reports what is left at the end. What was made before the trace began is not the program's to give back.
func (c *checker) strays() {
	var left []stray
	for _, a := range c.allocs {
		if a.freed == 0 && !a.tried && a.made >= 0 {
			left = append(left, stray{made: a.made, alloc: a})
		}
	}
	for _, e := range c.events {
		if e.known {
			left = append(left, stray{made: e.made, event: e.id})
		}
	}
	for _, q := range c.queues.streams {
		if q.created && !q.destroyed {
			left = append(left, stray{made: q.made, queue: q.id})
		}
	}
	for id, made := range c.pools {
		left = append(left, stray{made: made, pool: id})
	}
	slices.SortFunc(left, func(a, b stray) int { return cmp.Compare(a.made, b.made) })
	for _, s := range left {
		if c.words.record(s.made).Site != 0 {
			c.report.leak(s)
		}
	}
}

func (p *report) leak(s stray) {
	w := p.words
	p.add(Leak, s.made, -1, s.made, 0, func() Finding {
		f := Finding{Why: "Nothing is given back before the process ends: a program that repeats this runs out."}
		switch {
		case s.event != 0:
			f.Message = fmt.Sprintf("Nothing destroys event %d.", s.event)
			f.Fix = "Call cuda.EventDestroy once nothing more is to wait for it; what already waits is not disturbed."
			return f
		case s.queue != 0:
			f.Message = fmt.Sprintf("Nothing destroys stream %d.", s.queue)
			f.Fix = "Call cuda.StreamDestroy; work that is still in the stream runs to its end."
			return f
		case s.pool != 0:
			f.Message = fmt.Sprintf("Nothing destroys memory pool %d.", s.pool)
			f.Fix = "Call cuda.MemPoolDestroy after the last use, on every path; what is still allocated from it stays valid."
			return f
		}
		f.Message = "Nothing frees " + w.memory(s.alloc) + "."
		switch r := w.record(s.made); r.Op {
		case trace.OpMallocAsync, trace.OpMallocFromPoolAsync:
			f.Fix = "Call cuda.FreeAsync on " + w.stream(r.Stream) + " after the last use, on every path: also where a call in " +
				"between fails."
		case trace.OpMallocHost:
			f.Fix = "Call cuda.FreeHost once the host has waited for the last copy."
		default:
			f.Fix = "Call cuda.Free once the host has waited for the last use."
		}
		return f
	})
}
