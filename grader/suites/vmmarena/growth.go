package vmmarena

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/mapping"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

func judgeGrowth(e *suite.Evidence) suite.Answer {
	a := plenty.Judge(e, ofGrowth, "The range never moved, nothing was copied, and what kernels had written was there "+
		"after every growth, also on devices of other granularities.", func(r *allocator.Run[layout]) []verdict.Finding {
		c := replayOf(e, r)
		return slices.Concat(c.notReserved(), c.unusable(), c.callsOfAlloc(false))
	})
	if plenty.Seen(e, ofGrowth) && !verdict.HasError(a.Findings) {
		for _, r := range plenty.Runs(e) {
			a.Findings = append(a.Findings, replayOf(e, &r).lost()...)
		}
		a.Findings = verdict.Unique(append(a.Findings, e.Of(verdict.OrderRules, plenty.IDs()...)...))
	}
	return a
}

// notReserved finds an arena whose New has reserved nothing.
func (c *replay) notReserved() []verdict.Finding {
	if len(c.steps) == 0 {
		return nil
	}
	from, to := c.Notes.Window(c.Record.First - 1)
	if slices.ContainsFunc(c.Notes.Trace.Records[from:to], func(r trace.Record) bool {
		return r.Op == trace.OpMemAddressReserve && r.Phase != trace.Enter && r.Code == 0
	}) {
		return nil
	}
	return []verdict.Finding{{Rule: "not-reserved", Severity: verdict.Error, Record: -1, Function: "New",
		Message: fmt.Sprintf("%s should have reserved addresses of its own, but it called no cuda.MemAddressReserve that "+
			"succeeded.", c.Layout),
		Why: "The addresses of an earlier arena were given back in its Close: another allocation may have got them since.",
		Fix: "Call cuda.MemAddressReserve in every New, and use the address that it answers."}}
}

// unusable finds blocks that the device may not use.
func (c *replay) unusable() []verdict.Finding {
	for i := range c.Right {
		if record, f := notUsable(c.steps[i].unusable, c.steps[i].unmapped); f != nil {
			f.Message = c.doing(i) + " " + f.Message
			return c.finding(i, record, *f)
		}
	}
	return nil
}

// notUsable is the finding of a block behind which there is a mapping that may not be read and written, or which has
// addresses without any; nil where neither is so. record is the call that is at fault, or -1. The message goes on
// behind "the arena".
func notUsable(p *mapping.Piece, unmapped bool) (record int, f *verdict.Finding) {
	switch {
	case p != nil && p.Access >= 0:
		return p.Access, &verdict.Finding{Rule: "no-access",
			Message: "should have handed out memory that may be read and written, but this call gave it other access.",
			Why:     "When a kernel writes to memory that may only be read, every later CUDA call fails.",
			Fix:     "Pass cuda.MemAccessFlagsProtReadWrite, for the arena's device."}
	case p != nil:
		return p.Mapped, &verdict.Finding{Rule: "no-access",
			Message: "should have handed out memory that the device may use, but what is mapped here was never given access.",
			Why: "A new mapping allows no access, even right behind one that does; when a kernel touches it, every later " +
				"CUDA call fails.",
			Fix: "Call cuda.MemSetAccess after every cuda.MemMap, for the addresses that were mapped."}
	case unmapped:
		return -1, &verdict.Finding{Rule: "not-mapped",
			Message: "should have handed out memory, but some of the block's addresses have none.",
			Why:     "A reserved address has no memory behind it: when a kernel touches it, every later CUDA call fails.",
			Fix:     "Before a block is handed out, have memory mapped up to its end, without a hole."}
	}
	return -1, nil
}

// callsOfAlloc finds what Alloc asks of CUDA beyond growing in place; either what it asks for memory that was there
// before a Reset, or all else.
func (c *replay) callsOfAlloc(again bool) []verdict.Finding {
	var found []verdict.Finding
	used, resets := int64(0), 0
	for i := range min(c.Right+1, len(c.steps)) {
		s := &c.steps[i]
		if s.op.Kind == allocator.KindReset && s.answer.Err == sequence.Nil {
			used, resets = 0, resets+1
		}
		if s.op.Kind != allocator.KindAlloc {
			continue
		}
		idle := s.op.Size <= s.before-used || s.answer.Err != sequence.Nil
		if s.answer.Err == sequence.Nil {
			used += mapping.RoundUp(s.op.Size, alignment)
		}
		if again != (idle && resets > 0) {
			continue
		}
		for _, at := range s.calls {
			if f, wrong := c.callOfAlloc(i, at, idle); wrong && (i < c.Right || f.Rule != ruleNeedless) {
				found = append(found, c.finding(i, at, f)...)
			}
		}
	}
	return found
}

// ruleNeedless is the rule of a call that does no harm, and no good.
const ruleNeedless = "cuda-call"

// callOfAlloc judges one call; idle says that the Alloc had no need to grow.
func (c *replay) callOfAlloc(i, at int, idle bool) (f verdict.Finding, wrong bool) {
	r := &c.Notes.Trace.Records[at]
	name := suite.CallName(r)
	switch {
	case slices.Contains(mapping.Moving, r.Op):
		return verdict.Finding{Rule: "copied",
			Message: fmt.Sprintf("%s should have grown in its range, but it called %s.", c.doing(i), name),
			Why: "To grow by copying takes longer the more there is, needs the memory twice for a while, and leaves all " +
				"addresses from before pointing to where the data was.",
			Fix: "Create physical memory with cuda.MemCreate and map it behind what is mapped already."}, true
	case r.Op == trace.OpMemAddressReserve:
		return verdict.Finding{Rule: "moved",
			Message: fmt.Sprintf("%s should have grown in the range that New reserved, but it reserved another.", c.doing(i)),
			Why: "Whoever has an address from before holds on to it: an arena that moves leaves them all pointing to where " +
				"it was.",
			Fix: "Reserve all addresses once, in New; they cost no memory."}, true
	case r.Op == trace.OpMemUnmap && c.unmapsOld(i, at):
		return verdict.Finding{Rule: "unmapped",
				Message: fmt.Sprintf("%s should have left the memory where it was, but it unmapped memory that was in use.",
					c.doing(i)),
				Why: "A kernel may be working in the blocks at this moment, and from MemUnmap on there is nothing behind their " +
					"addresses.",
				Fix: "Map only what is missing, behind what is mapped already; CUDA takes any number of mappings side by side."},
			true
	case r.Op == trace.OpMemCreate && r.Code != 0 && r.Size%c.Layout.granularity != 0:
		return verdict.Finding{Rule: "not-rounded",
			Message: fmt.Sprintf("%s should have asked for a multiple of the granularity, which is %d, but it asked for %d "+
				"bytes, and got none.",
				c.doing(i), c.Layout.granularity, r.Size),
			Why: "A device maps memory in granules alone, so memory comes in whole ones as well.",
			Fix: "Round the size up to the granularity: (size + granularity - 1) / granularity * granularity."}, true
	case idle:
		return verdict.Finding{Rule: ruleNeedless,
			Message: fmt.Sprintf("%s should not have called CUDA, since it had the memory or had to refuse, but it called %s.",
				c.doing(i), name),
			Why: "As long as there is memory a block costs an addition on the host; a call into the driver costs many " +
				"times that.",
			Fix: "Call CUDA only if the block ends behind what is committed."}, true
	case !slices.Contains(mapping.Growing, r.Op):
		f := verdict.Finding{Rule: ruleNeedless,
			Message: fmt.Sprintf("%s should have created, mapped and made accessible what was missing, but it called %s "+
				"as well.", c.doing(i), name),
			Why: "Growing in place disturbs nobody: nothing has to be waited for, cleared or moved.",
			Fix: "Leave this call out."}
		if harmless(r.Op) {
			f.Severity = verdict.Remark
		}
		return f, true
	}
	return verdict.Finding{}, false
}

// harmless reports whether a call only takes time.
func harmless(op trace.Op) bool {
	switch op {
	case trace.OpDeviceSynchronize, trace.OpStreamSynchronize, trace.OpEventSynchronize, trace.OpStreamQuery,
		trace.OpEventQuery:
		return true
	}
	return false
}

// unmapsOld reports whether a MemUnmap has taken memory away that was mapped before the operation.
func (c *replay) unmapsOld(i, at int) bool {
	s, r := &c.steps[i], &c.Notes.Trace.Records[at]
	base := uint64(s.answer.Stats()[statBase])
	return r.Addr < base+uint64(s.before) && r.Addr+uint64(r.Size) > base
}

// lost finds data that was not there any more.
func (c *replay) lost() []verdict.Finding {
	wrong := uint64(0)
	for _, n := range c.Notes.Values[noteMismatches+c.Name] {
		wrong += n
	}
	grew := slices.IndexFunc(c.steps, func(s step) bool { return s.mapped > s.before })
	if wrong == 0 || grew < 0 {
		return nil
	}
	return c.finding(grew, -1, verdict.Finding{Rule: "lost",
		Message: fmt.Sprintf("The blocks of the sequence %q with %s should have kept what kernels wrote to them, but when "+
			"all were taken back %d words of 8 bytes were other ones.", c.Name, c.Layout, wrong),
		Why: "What was written stays in physical memory, and goes with it: new memory behind the same addresses holds " +
			"anything.",
		Fix: "Leave what is mapped alone when the arena grows, and write nothing to it."})
}
