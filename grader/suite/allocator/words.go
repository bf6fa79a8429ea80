package allocator

import (
	"fmt"
	"strings"

	"cudalab/grader/suite"
)

// maxWords is how many operations Words spells out: a sequence that could not be shrunk is told by its end.
const maxWords = 16

// Of a sequence that is so long that nobody would follow it, only the end is told.
const (
	endless  = 1000
	endWords = 3
)

// Words is a sequence as a person says it: "allocate 300, allocate 5000, free #1, free #1 again". A long one is told by
// its last operations.
func Words(ops []Op) string {
	var words []string
	freed := map[int]bool{}
	for _, op := range ops {
		word := phrase(op)
		if op.Kind == KindFree {
			if freed[op.Block] {
				word += " again"
			}
			freed[op.Block] = true
		}
		words = append(words, word)
	}
	most := maxWords
	if len(words) > endless {
		most = endWords
	}
	if left := len(words) - most; left > 0 {
		words = append([]string{fmt.Sprintf("%d operations", left)}, words[left:]...)
	}
	return strings.Join(words, ", ")
}

// before is an allocator and what has become of it, in words.
func before(made string, ops []Op) string {
	if len(ops) == 0 {
		return made
	}
	return made + ", " + Words(ops)
}

// phrase is one operation in words.
func phrase(op Op) string {
	if op.Stream != 0 {
		return phraseIn(op)
	}
	if op.Own != nil {
		if words := op.Own.Words(op); words != "" {
			return words
		}
	}
	switch op.Kind {
	case KindAlloc:
		return "allocate " + suite.Literal(op.Size)
	case KindFree:
		return fmt.Sprintf("free #%d", op.Block)
	case KindFreeInside:
		return fmt.Sprintf("free #%d plus %d", op.Block, op.Size)
	case KindFreeUnknown:
		return fmt.Sprintf("free %#x, which was never handed out", uint64(op.Size))
	case KindFreeNull:
		return "free the null address"
	case KindReset:
		return "reset"
	case KindTrim:
		return fmt.Sprintf("trim to %d", op.Size)
	case KindIdle:
		return "wait for the device"
	}
	return "close"
}
