package vmmarena

import (
	"fmt"

	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
	"cudalab/native/device"
)

// wrongAnswer is the fault of an answer that is not the one wanted, and the part that tells it.
func (m *model) wrongAnswer(want sequence.Err, op allocator.Op, a sequence.Answer) (string, *sequence.Fault) {
	wrong := sequence.WrongError(want, a)
	f := &wrong
	switch {
	case want == sequence.ErrClosed:
		f.Rule = "works-after-close"
		f.Why = "After Close the addresses are no longer the arena's, and may already be somebody else's."
		f.Fix = "Remember that Close has succeeded, and look at that first in Alloc, Reset and Close."
	case want == sequence.ErrFull && a.Err == sequence.Nil:
		f.Rule = "beyond-the-range"
		f.Message = fmt.Sprintf("should have returned contract.ErrFull, since %d of %d bytes were left, but it returned nil",
			m.layout.reserved()-m.used, m.layout.reserved())
		f.Why = "Behind the range lie the addresses of somebody else, or none at all."
		f.Fix = "Compare the size with what is left before anything else: reserved minus used."
	case want == sequence.ErrFull && a.Err == sequence.ErrOther:
		f.Fix = "Compare the size with what is left of the addresses, reserved minus used, before you ask CUDA for memory."
	case want == outOfMemory:
		return ofMemory, m.notRefused(f, a)
	case op.Kind == allocator.KindAlloc && want == sequence.Nil:
		return m.refused(f, op, a)
	case want == sequence.Nil:
		f.Rule = "refused"
		f.Why = "Nothing that the caller has done is wrong here, so there is nothing that it could mend."
		if op.Kind == allocator.KindReset {
			return ofReset, f
		}
	}
	return ofBump, f
}

// notRefused is the fault where the device has no memory left and something else was answered.
func (m *model) notRefused(f *sequence.Fault, a sequence.Answer) *sequence.Fault {
	f.Message = fmt.Sprintf("should have returned CUDA's error, %v, since the device has %d bytes of memory, but it "+
		"returned %s",
		device.ErrorOutOfMemory, m.layout.memory, a.Says())
	f.Why = "There are addresses left, so the arena is not full: what is missing is memory, and another program " +
		"may give that back."
	f.Fix = "When the smallest growth that would do has failed as well, return the error that CUDA answered to it, " +
		"as it is or wrapped with %w."
	if a.Err == sequence.Nil {
		f.Rule = "no-memory"
		f.Why = "When a kernel touches a block without memory behind it, every later CUDA call fails."
	}
	return f
}

// refused is the fault of an Alloc that should have succeeded.
func (m *model) refused(f *sequence.Fault, op allocator.Op, a sequence.Answer) (string, *sequence.Fault) {
	switch {
	case m.layout.memory > 0:
		f.Rule = "no-fallback"
		f.Message = fmt.Sprintf("should have got its block, since %d bytes of memory are enough for all blocks and the "+
			"device has %d, but it returned %s", m.end(op), m.layout.memory, a.Says())
		f.Why = "To grow by a factor is a wish, not a need: where the device cannot give so much, less may still be there."
		f.Fix = "If the generous growth fails, try once more with what the block needs, rounded up to the granularity; and " +
			"give back all that a growth which failed has made."
		return ofMemory, f
	case a.Err == sequence.ErrOther:
		f.Rule = "growth-failed"
		f.Message = fmt.Sprintf("should have got its block, since %d bytes of addresses were left, but it returned %s",
			m.layout.reserved()-m.used, a.Says())
		f.Why = fmt.Sprintf("Sizes and addresses of memory are multiples of the granularity, which is %d on this device; "+
			"memory is mapped once, behind what is mapped already.", m.layout.granularity)
		f.Fix = "Look at the CUDA call that the error names: its address is Base plus what is committed, and its size a " +
			"multiple of what cuda.MemGetAllocationGranularity has answered."
		return ofGrowth, f
	}
	f.Rule = "block-refused"
	f.Message = fmt.Sprintf("should have got its block, since %d bytes of addresses were left, but it returned %s",
		m.layout.reserved()-m.used, a.Says())
	f.Why = "An arena is full when its addresses are used up, not before: it grows as far as they reach."
	f.Fix = "Compare the size with what is left of the addresses, reserved minus used; both are multiples of 256."
	return ofBump, f
}
