package allocator

import "cudalab/grader/suite/sequence"

// Shrink is a short sequence that still fails; see sequence.Shrink. With an Alloc go the operations on its block.
func Shrink(ops []Op, fails func([]Op) bool) []Op { return sequence.Shrink(ops, without, fails) }

// without is the operations but those from one index up to another, with the blocks numbered anew. An operation on a
// block that is no longer allocated is left out too, and so is the end of a stream that is no longer forgotten before.
func without(ops []Op, from, to int) []Op {
	kept := make([]Op, 0, len(ops))
	number := []int{0} // by the block's old number, its new one; 0 if it is gone
	blocks := 0
	unforgotten := map[Stream]bool{} // those whose Forget is left out
	for i, op := range ops {
		out := i >= from && i < to
		switch op.Kind {
		case KindForget:
			unforgotten[op.Stream] = out
		case KindDestroy:
			out = out || unforgotten[op.Stream]
		case KindAlloc:
			if out {
				number = append(number, 0)
				continue
			}
			blocks++
			number = append(number, blocks)
		case KindFree, KindFreeInside:
			if op.Block < 1 || op.Block >= len(number) || number[op.Block] == 0 {
				continue
			}
			op.Block = number[op.Block]
		}
		if !out {
			kept = append(kept, op)
		}
	}
	return kept
}
