package vmmarena

import (
	"fmt"
	"strings"

	"cudalab/exercises/contract"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/mapping"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
)

// The parts that the model finds faults of.
const (
	ofBump   = "bump"   // where blocks lie, and which error a call answers
	ofGrowth = "growth" // that growing works, and moves nothing
	ofReset  = "reset"  // what Reset changes, and what it does not
	ofMemory = "memory" // what happens when the device has no memory left
)

// What a Subject's Stats are, in their order.
const (
	statBase = iota
	statUsed
	statCommitted
	statReserved
	statGranularity
	statCount
)

// numbers is an arena's Stats as they are noted.
func numbers(s contract.ArenaStats) []int64 {
	return []int64{statBase: int64(s.Base), statUsed: s.Used, statCommitted: s.Committed, statReserved: s.Reserved,
		statGranularity: s.Granularity}
}

// model is an arena without memory: it knows how many bytes are used.
type model struct {
	layout    layout
	base      int64 // 0 until the first answer
	used      int64
	committed int64 // as Stats said last; -1 where it has not yet
	resets    int
	closed    bool
	lost      bool // after a fault
}

func newModel(w *workload) allocator.Model { return &model{layout: w.Layout, committed: -1} }

// Blind: a wrong answer is in the way of everything else.
func (m *model) Blind(string) bool { return m.lost }

// Step judges one answer. After a fault it says no more: what follows may come of it.
func (m *model) Step(op allocator.Op, a sequence.Answer) []sequence.Fault {
	if m.lost || a.Stats() != nil && len(a.Stats()) != statCount {
		return nil
	}
	part, f := m.judge(op, a)
	if a.Stats() != nil {
		m.committed = a.Stats()[statCommitted]
	}
	if f == nil {
		return nil
	}
	m.lost = a.Err != sequence.ErrArgument // what was refused has changed nothing
	return f.In(part)
}

// judge is what is wrong with an answer, and whose it is to tell.
func (m *model) judge(op allocator.Op, a sequence.Answer) (part string, f *sequence.Fault) {
	if m.base == 0 && a.Stats() != nil {
		m.base = a.Stats()[statBase]
	}
	want := m.want(op)
	if !m.accepts(want, op, a) {
		return m.wrongAnswer(want, op, a)
	}
	before := m.used
	if a.Err == sequence.Nil {
		switch op.Kind {
		case allocator.KindAlloc:
			if at := uint64(m.base + m.used); a.Addr != at {
				return m.misplaced(a.Addr, at)
			}
			m.used += mapping.RoundUp(op.Size, alignment)
		case allocator.KindReset:
			m.used = 0
			m.resets++
		case allocator.KindClose:
			m.closed = true
		}
	}
	if m.closed || a.Stats() == nil {
		return "", nil // what Stats says of a closed arena is not judged
	}
	return m.wrongStats(op, a, before)
}

// outOfMemory is what the device answers where it has none left.
const outOfMemory = sequence.ErrOther

// want is what an operation has to be answered with.
func (m *model) want(op allocator.Op) sequence.Err {
	switch {
	case m.closed:
		return sequence.ErrClosed
	case op.Kind != allocator.KindAlloc:
		return sequence.Nil
	case op.Size < 1:
		return sequence.ErrSize
	case op.Size > m.layout.reserved()-m.used:
		return sequence.ErrFull
	case m.layout.memory > 0 && m.end(op) > m.layout.memory:
		return outOfMemory
	}
	return sequence.Nil
}

// end is where the memory must reach for an Alloc to succeed.
func (m *model) end(op allocator.Op) int64 {
	return mapping.RoundUp(m.used+mapping.RoundUp(op.Size, alignment), m.layout.granularity)
}

// accepts reports whether an answer is the one wanted. A size beyond all that was reserved may count as a wrong one:
// the arena will never have such a block.
func (m *model) accepts(want sequence.Err, op allocator.Op, a sequence.Answer) bool {
	switch {
	case want == sequence.ErrFull && op.Size > m.layout.reserved():
		return a.Err == sequence.ErrFull || a.Err == sequence.ErrSize
	case want == outOfMemory:
		return a.Err == outOfMemory && strings.Contains(a.Details().Text, device.ErrorOutOfMemory.String())
	}
	return a.Err == want
}

// misplaced is what is wrong with the address of a block that belongs elsewhere.
func (m *model) misplaced(addr, want uint64) (part string, f *sequence.Fault) {
	f = &sequence.Fault{Rule: "misplaced",
		Message: fmt.Sprintf("should have handed out %s, right behind the block before, but it handed out %s",
			m.fromBase(want), m.fromBase(addr)),
		Why: "An arena has no holes: its memory reaches from Base to the end of the last block, and each block begins at a " +
			"multiple of 256 because every size is rounded up to one.",
		Fix: "Hand out Base plus the bytes that are used, and add the size, rounded up to a multiple of 256, to them."}
	base := uint64(m.base)
	switch {
	case addr < base || addr-base >= uint64(m.layout.reserved()):
		f.Rule = "moved"
		f.Message = fmt.Sprintf("should have handed out %s, but it handed out a block outside of the range that New reserved",
			m.fromBase(want))
		f.Why = "Whoever has an address from before holds on to it: an arena that moves leaves them all pointing to where " +
			"it was."
		f.Fix = "Reserve all addresses once, in New, and map more memory behind those that are used."
		return ofGrowth, f
	case m.used == 0 && m.resets > 0:
		f.Rule = "not-at-base"
		f.Message = "should have begun at Base again, but it handed out " + m.fromBase(addr)
		f.Why = "Reset takes all blocks back at once, so that the first address is free again."
		f.Fix = "Set the number of bytes that are used to 0 in Reset."
		return ofReset, f
	case m.used == 0:
		f.Rule = "not-at-base"
		f.Message = "should have handed out Base for the first block, but it handed out " + m.fromBase(addr)
	case addr%alignment != 0:
		f.Rule = "misaligned"
		f.Message = fmt.Sprintf("should have handed out %s, the next multiple of 256, but it handed out %s", m.fromBase(want),
			m.fromBase(addr))
		f.Why = "A kernel that reads a float4 or a double has to find it at a multiple of its size; elsewhere every later " +
			"CUDA call fails."
	}
	return ofBump, f
}

// fromBase names an address in the range that New reserved: "Base + 512".
func (m *model) fromBase(addr uint64) string {
	if offset := addr - uint64(m.base); offset != 0 {
		return fmt.Sprintf("Base + %d", offset)
	}
	return "Base"
}

// wrongStats is what is wrong with what Stats says after an operation.
func (m *model) wrongStats(op allocator.Op, a sequence.Answer, before int64) (part string, f *sequence.Fault) {
	s := a.Stats()
	fault := func(rule, name string, got, want int64, why, fix string) *sequence.Fault {
		return &sequence.Fault{Rule: rule, Why: why, Fix: fix, Look: verdict.Look{Field: name},
			Message: fmt.Sprintf("should have left Stats with %s = %d, but it says %d", name, want, got)}
	}
	const whyStats = "A caller decides by these numbers what to do next."
	failed := a.Err != sequence.Nil
	recommitted := m.committed >= 0 && s[statCommitted] != m.committed
	switch {
	case s[statBase] != m.base || s[statBase] == 0:
		f := &sequence.Fault{Rule: "moved", Message: "should have left Base where it was, but Stats says that it is " +
			"elsewhere",
			Why: "Whoever has an address from before holds on to it.",
			Fix: "Reserve all addresses once, in New, and let Base be where they begin."}
		if m.base == 0 {
			f.Message = "should have found a range of addresses at Base, but Stats says that Base is 0"
		}
		return ofGrowth, f
	case s[statGranularity] != m.layout.granularity:
		return ofGrowth, fault("wrong-granularity", "Granularity", s[statGranularity], m.layout.granularity,
			"Devices differ in what they map memory in multiples of: a number that is right on one is refused by another, or "+
				"too much there.",
			"Ask with cuda.MemGetAllocationGranularity in New, for the minimum, and keep what it answers.")
	case s[statReserved] != m.layout.reserved():
		return ofGrowth, fault("wrong-stats", "Reserved", s[statReserved], m.layout.reserved(),
			"Addresses are reserved in whole granules, so New rounds up what it is asked for.",
			"Keep the size that was reserved: reserve, rounded up to the granularity.")
	case s[statUsed] != m.used && failed:
		of := ofBump
		if m.layout.memory > 0 {
			of = ofMemory
		}
		return of, fault("changed-by-error", "Used", s[statUsed], before, "A call that answers an error has changed nothing.",
			"Count a block only when its memory is there.")
	case s[statUsed] != m.used:
		of := ofBump
		if op.Kind == allocator.KindReset {
			of = ofReset
		}
		return of, fault("wrong-stats", "Used", s[statUsed], m.used, whyStats,
			"Used reaches from Base to the end of the last block: count each with its size rounded up to a multiple of 256, "+
				"and set it to 0 in Reset.")
	case recommitted && failed:
		of := ofGrowth
		if m.layout.memory > 0 {
			of = ofMemory
		}
		return of, fault("changed-by-error", "Committed", s[statCommitted], m.committed,
			"A growth that fails leaves the arena as it was, so that smaller blocks may still be had.",
			"Add to the bytes that are committed only when the memory is created, mapped, and may be used; and give back what "+
				"a growth that stops halfway has made.")
	case recommitted && op.Kind == allocator.KindReset:
		return ofReset, fault("changed-by-reset", "Committed", s[statCommitted], m.committed,
			"What is mapped once costs nothing to use again; to unmap it and map it anew takes many microseconds.",
			"Leave the memory and its number alone in Reset.")
	}
	return "", nil
}
