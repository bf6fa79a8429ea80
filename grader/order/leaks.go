package order

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"cudalab/native/trace"
)

// leaked is something that the program made and never gave back.
type leaked struct {
	made  int         // record of the call that made it
	alloc *allocation // of memory; nil for everything else
}

// leaks reports what is left at the end. What was made before the trace began is not the program's to give back, and
// blocks are the allocator's.
func (c *checker) leaks() {
	var left []leaked
	for _, a := range c.allocs {
		if a.freed == 0 && !a.tried && a.made >= 0 && a.block == nil && (a.physical == nil || a.physical.released == 0) {
			left = append(left, leaked{a.made, a})
		}
	}
	for _, e := range c.events {
		if e.known {
			left = append(left, leaked{made: e.made})
		}
	}
	for _, q := range c.queues.streams {
		if q.created && !q.destroyed {
			left = append(left, leaked{made: q.made})
		}
	}
	for _, made := range c.pools {
		left = append(left, leaked{made: made})
	}
	for _, list := range []*spans{&c.space.reserved, &c.space.mapped} {
		for x := range list.Within(0, math.MaxInt64) {
			if !c.space.tried[x.Value.record()] {
				left = append(left, leaked{made: x.Value.record()})
			}
		}
	}
	slices.SortFunc(left, func(a, b leaked) int { return cmp.Compare(a.made, b.made) })
	for _, s := range left {
		if c.words.record(s.made).Site != 0 {
			c.report.leak(s)
		}
	}
}

func (p *report) leak(s leaked) {
	w := p.words
	p.add(Leak, s.made, -1, s.made, 0, func() Finding {
		r := w.record(s.made)
		f := Finding{Why: "CUDA takes nothing back by itself before the process ends, so a program that does this " +
			"again and again runs out."}
		if s.alloc != nil {
			f.Message = "Every allocation should be freed, but nothing frees " + w.memory(s.alloc) + "."
		}
		switch r.Op {
		case trace.OpEventCreate:
			f.Message = fmt.Sprintf("Every event should be destroyed in the end, but nothing destroys event %d.", r.Event)
			f.Fix = "Call cuda.EventDestroy after the last call that names the event; what already waits for it goes on waiting."
		case trace.OpStreamCreate:
			f.Message = fmt.Sprintf("Every stream should be destroyed in the end, but nothing destroys stream %d.", r.Stream)
			f.Fix = "Call cuda.StreamDestroy after the last call that names the stream; work that is still in it runs to " +
				"its end."
		case trace.OpMemPoolCreate:
			f.Message = fmt.Sprintf("Every memory pool should be destroyed in the end, but nothing destroys memory pool %d.",
				r.Pool)
			f.Fix = "Call cuda.MemPoolDestroy after the last use, on every path; what is still allocated from it stays valid."
		case trace.OpMemAddressReserve:
			f.Message = "Every reserved range should be given back, but nothing gives back the " + bytes(r.Size) +
				" of addresses from MemAddressReserve."
			f.Fix = "Call cuda.MemAddressFree with the address and size that were reserved, once all that is mapped there is " +
				"unmapped."
		case trace.OpMemMap:
			f.Message = "Every mapping should be unmapped in the end, but nothing unmaps the " + bytes(r.Size) +
				" that MemMap has mapped."
			f.Why = whyPhysical
			f.Fix = "Call cuda.MemUnmap with the address and size of the mapping, once the host has waited for the last use."
		case trace.OpMemCreate:
			f.Message = "Every handle should be released, but nothing releases that of " + w.memory(s.alloc) + "."
			f.Why = whyPhysical
			f.Fix = "Call cuda.MemRelease, on every path: as soon as the memory is mapped, or at the latest when it is unmapped."
		case trace.OpMallocAsync, trace.OpMallocFromPoolAsync:
			f.Fix = "Call cuda.FreeAsync on " + w.stream(r.Stream) +
				" after the last use, on every path: also where a call in " +
				"between fails."
		case trace.OpMallocHost:
			f.Fix = "Call cuda.FreeHost once the host has waited for the last copy."
		default:
			f.Fix = "Call cuda.Free once the host has waited for the last use."
			if w.unwaited {
				f.Fix = "Take the memory with cuda.MallocAsync, and call cuda.FreeAsync on the same stream after the last use."
			}
		}
		return f
	})
}
