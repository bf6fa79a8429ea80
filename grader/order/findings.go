package order

import (
	"cmp"
	"fmt"
	"slices"

	"cudalab/native/trace"
)

const (
	whyStreams = "Work on different streams runs in any order, and at the same time, unless an event, the legacy " +
		"default stream or the host puts it in order."
	whyNonBlocking = "A stream created with cuda.StreamNonBlocking does not wait for the legacy default stream, and the " +
		"legacy default stream does not wait for it."
	whyPinned = "An asynchronous copy with pinned memory only joins its stream's queue: it may run at any time " +
		"until the host has waited for it."
	// Seen on an H200, 64 KiB to 1 MiB beside another copy, 100 runs of each size.
	whyStaged = "A Memcpy from pageable memory may return once the bytes are staged; the rest of it runs on the legacy " +
		"default stream, which a non-blocking stream does not wait for. While the copy engine was busy, an H200 read the " +
		"old bytes every time."
	whyAlloc = " returns the pointer at once, but the memory exists only for work that comes after it: later on " +
		"the same stream, after a wait for an event recorded there, or after the host has waited." // behind the call's name
	whyDead = "Once a free has been called, neither a stream nor the host may use the pointer: the next allocation may " +
		"get the same bytes."
	whyFreeAsync = "FreeAsync waits only for earlier work on its own stream, and for what that stream was made to wait " +
		"for; then the bytes may go to another allocation."
	whyFree     = "Free and FreeHost do not promise to wait for work that is still in a stream."
	whyUnmapped = "Once MemUnmap has been called, there is no memory behind the addresses, even where a handle or " +
		"another mapping keeps the memory itself."
	whyBlock = "An allocator like this one knows nothing of streams and may hand out the same bytes again at once, so " +
		"its caller has to be done with them."
	whyBlockIn = "An allocator that knows streams takes a block for free behind what is in the stream that it is given " +
		"back in; of other streams it knows nothing."
)

// race reports an access by q that conflicts with the earlier one y.
func (p *report) race(i int, x *trace.Access, a *allocation, q *queue, y conflict) {
	w, with := p.words, y.by.record()
	rule, severity := p.raceRule(i, with)
	entry := p.add(rule, i, with, a.made, x.Arg, func() Finding {
		attempt, cause := w.attempt(with, i)
		f := Finding{
			Severity: severity,
			Why:      whyStreams,
			Fix:      w.edge(with, i),
			Related:  append([]Related{w.doing(with, y.kind)}, attempt...),
			Cause:    cause,
		}
		what := w.part(a, y.lo, y.hi)
		switch {
		case rule == HostRace:
			f.Why = whyPinned
			f.Message = fmt.Sprintf("The host %s %s (%s), which %s %s. The host should wait for that first, but never does.",
				verb(x.Kind), what, w.call(i), w.callOn(with), verb(y.kind))
		case rule == StagedCopy:
			f.Why = whyStaged
			f.Message = fmt.Sprintf("%s %s %s, which %s fills from pageable memory. It should come after that copy, but %s "+
				"never waits for it.",
				capital(w.callOn(i)), verb(x.Kind), what, w.call(with), w.stream(q.id))
			f.Fix = fmt.Sprintf("Copy on the same stream (cuda.MemcpyHtoDAsync on %s)", w.stream(q.id))
			if !w.unwaited {
				f.Fix += ", or call cuda.StreamSynchronize for the legacy default stream after " + w.call(with)
			}
			f.Fix += "."
		default:
			if q.id == legacyID || y.by.stream == legacyID {
				f.Why = whyNonBlocking
			}
			f.Message = fmt.Sprintf("%s %s %s, which %s %s. It should come after that, but %s never waits for it: the two may "+
				"run in either order, or at once.",
				capital(w.callOn(i)), verb(x.Kind), what, w.callOn(with), verb(y.kind), w.stream(q.id))
		}
		f.Related = append(f.Related, p.from(a)...)
		return f
	}).behind(with)
	if rule == DataRace {
		p.orMove(entry, cmp.Or(w.inStreamOf(with, i), w.inStreamOf(i, with)))
	}
}

// raceRule is the rule that the call at record i breaks by not being ordered behind the one at record with.
func (p *report) raceRule(i, with int) (string, Severity) {
	switch {
	case onHost(p.words.record(i)):
		return HostRace, Error
	case staged(p.words.record(with)):
		return StagedCopy, Error
	}
	return DataRace, Error
}

// staged reports whether a call is a synchronous copy from pageable memory, of which only the staging is waited for.
func staged(r *trace.Record) bool { return r.Op == trace.OpMemcpyHtoD && r.Host == trace.Pageable }

// beforeAlloc reports a use that is not ordered behind the allocation. cause is the last thing on the allocation's
// stream that the use depends on.
func (p *report) beforeAlloc(i int, x *trace.Access, a *allocation, cause stamp) {
	w := p.words
	entry := p.add(UseBeforeAlloc, i, a.made, a.made, x.Arg, func() Finding {
		attempt, why := w.attempt(cause.record(), i)
		return Finding{
			Message: fmt.Sprintf("%s uses %s. It should come after that %s, but %s never waits for it: the memory may not "+
				"exist yet.",
				capital(w.callOn(i)), w.memory(a), w.call(a.made), w.stream(w.record(i).Stream)),
			Why:     w.call(a.made) + whyAlloc,
			Fix:     w.edge(cause.record(), i),
			Related: append(p.from(a), attempt...),
			Cause:   why,
		}
	}).behind(cause.record())
	p.orMove(entry, w.inStreamOf(a.made, i))
}

// afterFree reports a use of memory that record free has freed or unmapped; -1: it is not known which has.
func (p *report) afterFree(i int, x *trace.Access, a *allocation, free int) {
	w := p.words
	p.add(UseAfterFree, i, free, a.made, x.Arg, func() Finding {
		f := Finding{Why: whyDead, Related: p.from(a)}
		if free < 0 {
			f.Message = fmt.Sprintf("%s uses %s, which was freed before; the free should come after the last use.",
				capital(w.callOn(i)), w.memory(a))
			f.Fix = "Free the memory after its last use."
			return f
		}
		f.Message = fmt.Sprintf("%s uses %s, but %s has freed that memory before; the free should come after the last use.",
			capital(w.callOn(i)), w.memory(a), w.callOn(free))
		f.Related = append([]Related{{free, "freed here"}}, f.Related...)
		if a.physical != nil {
			f.Message = fmt.Sprintf("%s uses %s, but %s has unmapped that memory before; the unmap should come after the "+
				"last use.",
				capital(w.callOn(i)), w.memory(a), w.callOn(free))
			f.Why = whyUnmapped
			f.Related[0].Note = "unmapped here"
		}
		here, there := w.record(i), w.record(free)
		f.Fix = fmt.Sprintf("Move %s after %s.", w.call(free), w.call(i))
		switch {
		case onHost(here):
		case onHost(there):
			f.Fix = fmt.Sprintf("Move %s after %s, and let the host wait for %s in between (cuda.StreamSynchronize).",
				w.call(free), w.call(i), w.stream(here.Stream))
			if w.unwaited {
				f.Fix = fmt.Sprintf("Free in stream order, after %s: cuda.FreeAsync on %s.", w.call(i), w.stream(here.Stream))
			}
		case here.Stream != there.Stream:
			f.Fix += " " + w.edge(i, free)
		}
		return f
	})
}

// overlappingCopy reports a copy that reads and writes the bytes of a between lo and hi.
func (p *report) overlappingCopy(i int, a *allocation, lo, hi int64) {
	w := p.words
	p.add(OverlappingCopy, i, -1, a.made, 0, func() Finding {
		return Finding{
			Message: fmt.Sprintf("%s should read and write different bytes, but both reads and writes %s.", capital(w.callOn(i)),
				w.part(a, lo, hi)),
			Why: "A copy within the device moves many bytes at once, in no promised order: where source and destination " +
				"overlap, what arrives is undefined.",
			Fix: "Copy to other memory first and from there to the destination, or in pieces that are no longer than the " +
				"distance between the two.",
			Related: p.from(a),
		}
	})
}

// leaveMapped is the advice to leave mapped memory alone where it is used behind the call of a record, else fix.
func (w *words) leaveMapped(i int, a *allocation, fix string) string {
	if w.usedLater(i, a) {
		return "Leave this call out, since the memory is used again behind it: to grow, map more behind what is mapped."
	}
	return fix
}

// revokeBeforeUse reports a MemSetAccess that takes access away from a use that may be still to come.
func (p *report) revokeBeforeUse(i int, a *allocation, y conflict) {
	w, with := p.words, y.by.record()
	p.add(RevokeBeforeUse, i, with, a.made, 0, func() Finding {
		attempt, cause := w.attempt(with, i)
		what := "all access to"
		if w.record(i).Flags != 0 {
			what = "the right to write"
		}
		return Finding{
			Message: fmt.Sprintf("MemSetAccess takes away %s %s, which %s %s. The host should wait for that first, but "+
				"never does.", what,
				w.memory(a), w.callOn(with), verb(y.kind)),
			Why: "MemSetAccess waits for nothing and holds for work that was enqueued before: a kernel that finds its " +
				"access gone ends with an illegal address, and from then on every CUDA call fails.",
			Fix:     w.leaveMapped(i, a, w.edge(with, i)),
			Related: append([]Related{w.doing(with, y.kind)}, append(attempt, p.from(a)...)...),
			Cause:   cause,
		}
	}).behind(with)
}

func (p *report) freeBeforeUse(i int, a *allocation, y conflict) {
	w, with := p.words, y.by.record()
	op := w.record(i).Op
	rule, severity := FreeBeforeUse, Error
	switch {
	case op == trace.OpFree && a.made >= 0 && w.record(a.made).Op == trace.OpMalloc:
		rule, severity = freeWhilePending, Remark
	case staged(w.record(with)):
		rule = StagedCopy
	}
	entry := p.add(rule, i, with, a.made, 0, func() Finding {
		f := Finding{
			Severity: severity,
			Message: fmt.Sprintf("%s frees %s, which %s %s. The free should come after that, but %s never waits for it: the "+
				"bytes may go to another allocation while they are in use.", capital(w.callOn(i)), w.memory(a), w.callOn(with),
				verb(y.kind), w.freer(i)),
			Why: whyFreeAsync,
			Fix: w.edge(with, i),
		}
		if op != trace.OpFreeAsync {
			f.Why = whyFree
		}
		switch {
		case rule == freeWhilePending:
			f.Message = fmt.Sprintf("%s frees %s, which %s %s. The host should wait for that first, but never does.",
				capital(w.callOn(i)), w.memory(a), w.callOn(with), verb(y.kind))
			f.Why = "cuda.Free of memory from Malloc waits for the device in practice, but the manual says only that it may, " +
				"so nothing should rely on it."
		case rule == StagedCopy:
			f.Why = whyStaged
		case op == trace.OpMemUnmap:
			f.Message = fmt.Sprintf("%s unmaps %s, which %s %s. The host should wait for that first, but never does: the "+
				"memory may be gone while it is in use.", capital(w.callOn(i)), w.memory(a), w.callOn(with), verb(y.kind))
			f.Why = "CUDA does not promise that MemUnmap waits, and an H200 does not: a kernel that runs later finds no " +
				"memory there, and from then on every CUDA call fails."
			f.Fix = w.leaveMapped(i, a, f.Fix)
		case op == trace.OpBlockFree:
			f.Message = fmt.Sprintf("%s takes back %s, which %s %s. The caller of Free should wait for that first, but never "+
				"does: the next block may get the same bytes while they are in use.", capital(w.callOn(i)), w.memory(a),
				w.callOn(with), verb(y.kind))
			f.Why = whyBlock
			if inStream(w.record(i)) {
				f.Message = fmt.Sprintf("%s takes back %s, which %s %s. The caller of Free should give it back behind that, but "+
					"%s never waits for it: the next block may get the same bytes while they are in use.", capital(w.callOn(i)),
					w.memory(a), w.callOn(with), verb(y.kind), w.freer(i))
				f.Why = whyBlockIn
			}
		case op == trace.OpFree:
			f.Fix = "Free in stream order: cuda.FreeAsync on " + w.stream(y.by.stream) + "."
		}
		if rule == freeWhilePending && w.unwaited {
			f.Fix = "Take the memory with cuda.MallocAsync, and free it with cuda.FreeAsync, both on " + w.stream(y.by.stream) +
				"."
		}
		attempt, cause := w.attempt(with, i)
		f.Related, f.Cause = slices.Concat([]Related{w.doing(with, y.kind)}, attempt, p.from(a)), cause
		return f
	}).behind(with)
	p.orMove(entry, w.inStreamOf(with, i))
}

func (p *report) freeBeforeAlloc(i int, a *allocation) {
	w := p.words
	p.add(FreeBeforeUse, i, a.made, a.made, 0, func() Finding {
		attempt, cause := w.attempt(a.made, i)
		return Finding{
			Message: fmt.Sprintf("%s frees %s. It should come after that %s, but %s never waits for it: the free may come "+
				"first.",
				capital(w.callOn(i)), w.memory(a), w.call(a.made), w.stream(w.record(i).Stream)),
			Why:     w.call(a.made) + whyAlloc,
			Fix:     "Free on " + w.stream(a.birth.stream) + ".",
			Related: append(p.from(a), attempt...),
			Cause:   cause,
		}
	}).behind(a.made)
}

func (p *report) doubleFree(i int, a *allocation) {
	w := p.words
	p.add(DoubleFree, i, a.freed-1, a.made, 0, func() Finding {
		f := Finding{
			Message: fmt.Sprintf("%s frees %s, which was freed before; once is enough.", capital(w.callOn(i)), w.memory(a)),
			Why:     whyDead,
			Fix:     "Free each allocation once: leave one of the two calls out.",
			Related: p.from(a),
		}
		if a.freed > 0 {
			f.Message = fmt.Sprintf("%s frees for a second time %s; %s has freed that memory before, and once is enough.",
				capital(w.callOn(i)), w.memory(a), w.callOn(a.freed-1))
			f.Related = append([]Related{{a.freed - 1, "freed first here"}}, f.Related...)
			if p.origin(i) == p.origin(a.freed-1) {
				f.Fix = "This one call is made twice for the same memory: set the pointer to 0 behind it, since freeing 0 does " +
					"nothing, or see that it is " +
					"come to once for each allocation."
			}
		}
		return f
	})
}

// invalidFree reports a free of an address that no allocation starts at; a is the allocation around it, or nil.
func (p *report) invalidFree(i int, a *allocation) {
	w, made := p.words, -1
	if a != nil {
		made = a.made
	}
	p.add(InvalidFree, i, -1, made, 0, func() Finding {
		f := Finding{
			Why: "A free takes exactly the pointer that the allocation returned; an address in the middle of the memory is " +
				"refused.",
			Fix: "Pass the pointer that the allocation returned.",
		}
		if a == nil {
			f.Message = fmt.Sprintf("%s should be given a pointer that an allocation returned, but is given the address 0x%x, "+
				"where no allocation of this program starts.",
				capital(w.callOn(i)), w.record(i).Addr)
			return f
		}
		f.Message = fmt.Sprintf("%s should be given a pointer that an allocation returned, but is given an address in the "+
			"middle of %s.", capital(w.callOn(i)), w.memory(a))
		f.Related = p.from(a)
		return f
	})
}
