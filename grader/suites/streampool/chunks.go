package streampool

import (
	"fmt"
	"math"

	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
)

// entries yields what an upstream was asked in an operation: what, how much, where.
func entries(seen []int64, yield func(what, size int64, at uint64)) {
	for i := 1; i+logged <= len(seen); i += logged {
		yield(seen[i], seen[i+1], uint64(seen[i+2]))
	}
}

// mostAsked is how often an Alloc may ask the upstream.
const mostAsked = 2

// follow takes in what the upstream was asked in an operation, and reports whether it was asked for memory. A fault is
// of what a right pool would not have asked.
func (m *model) follow(op allocator.Op, a sequence.Answer) (asked bool, f *sequence.Fault) {
	judged := len(a.Seen()) > 0 && a.Seen()[0] != past
	m.counted = m.counted && (judged || len(a.Seen()) == 0)
	asks := 0
	before := m.held
	entries(a.Seen(), func(what, size int64, at uint64) {
		if f != nil {
			return
		}
		switch what {
		case handedOut, refused:
			asks++
			if judged {
				f = m.wrongAsk(op, size, asks)
			}
			if what == refused {
				m.least = min(m.least, size)
			} else if f == nil {
				f = m.grow(size, at, op.Stream)
			}
		case takenBack:
			f = m.giveBack(op, at, judged)
		}
	})
	if f == nil && op.Kind == allocator.KindTrim && a.Err == sequence.Nil {
		f = m.trimmed(op.Size, before)
	}
	return asks > 0, f
}

// wrongAsk is what is wrong with what the upstream was asked for in an operation.
func (m *model) wrongAsk(op allocator.Op, size int64, asks int) *sequence.Fault {
	if op.Kind != allocator.KindAlloc || m.closed || !sized(op.Size) {
		f := &sequence.Fault{Rule: "needless-growth",
			Message: fmt.Sprintf("should not have asked the upstream for memory, but asked for %d bytes", size),
			Why:     "Whoever asks for nothing needs no memory.",
			Fix:     "Ask the upstream in Alloc alone, when nothing that is there will do."}
		switch {
		case m.closed:
			f.Message = fmt.Sprintf("should have returned contract.ErrClosed and asked the upstream for nothing, but asked for "+
				"%d bytes", size)
			f.Why, f.Fix = whyClosed, fixClosed
		case op.Kind == allocator.KindAlloc:
			f.Why = "A size that cannot be asked for needs no memory."
			f.Fix = "Look at the size, and return contract.ErrSize, before you ask the upstream."
		}
		return f
	}
	need := need(op.Size)
	if asks > mostAsked {
		return &sequence.Fault{Rule: "asks-too-often",
			Message: fmt.Sprintf("should have asked the upstream at most %d times, for a step and for what the block needs, "+
				"but asked again for %d bytes", mostAsked, size),
			Why: "An upstream that is asked calls the driver, which takes microseconds, also to refuse.",
			Fix: "Ask for max(step, size), and if that is refused and size is less, for size."}
	}
	whole := max(m.step, need)
	if asks == 1 && size == whole || size == need && (asks > 1 || m.least <= whole) {
		return nil
	}
	wanted := fmt.Sprintf("%d bytes", whole)
	if need < whole {
		wanted += fmt.Sprintf(", or, if that is refused, for %d", need)
	}
	f := &sequence.Fault{Rule: "wrong-chunk",
		Message: fmt.Sprintf("should have asked the upstream for %s, but asked for %d", wanted, size),
		Why: "Whoever made the pool has chosen the step: what it takes beyond that is missing elsewhere, and less than " +
			"the block needs is no use.",
		Fix: "Ask for max(step, size), and if that is refused and size is less, for size, each rounded up to a multiple " +
			"of 256."}
	switch cut := int64(uint32(need)); {
	case cut != need && (size == cut || size == max(m.step, cut)):
		f.Message += fmt.Sprintf(", as if the block were of %d: in 32 bits that is all that is left of %d", cut, need)
		f.Why = "Above 4 GiB a size has more than 32 bits, and a conversion drops what is above them without a word."
		f.Fix = "Count sizes, offsets and addresses in 64 bits throughout: look for an int32 or uint32."
	case size%256 != 0:
		f.Message += ", which is no multiple of 256"
		f.Why = "A chunk that ends within a piece's 256 bytes has an end that no block can use."
	case size == need && m.ruledOut <= whole:
		f.Message += ": it had refused so much before, but was given something back since"
		f.Why = whyAskAgain
		f.Fix = fixAskAgain
	}
	return f
}

// What to do where an upstream was given something back.
const (
	whyAskAgain = "An upstream that was given something back may have room for what it has refused before."
	fixAskAgain = "Forget what the upstream has refused whenever you give something back to it, as in Trim, and ask for " +
		"the step again."
)

// grow takes in a chunk.
func (m *model) grow(size int64, at uint64, by allocator.Stream) *sequence.Fault {
	if size < 1 || size > 1<<62 || at > 1<<62 || m.chunks[at] > 0 || m.held > math.MaxInt64-size {
		// no answer of a runner's
		return &sequence.Fault{Rule: "wrong-chunk", Message: "should have got memory that lies somewhere"}
	}
	m.chunks[at] = uint64(size)
	m.held += size
	m.room.give(at, at+uint64(size), at, origin{in: by, fresh: true})
	m.newest = at
	return nil
}

// giveBack takes in that a chunk went back to the upstream.
func (m *model) giveBack(op allocator.Op, at uint64, judged bool) *sequence.Fault {
	size, known := m.chunks[at]
	if !known || op.Kind == allocator.KindClose {
		return nil // the order checker tells of what goes back twice
	}
	f := &sequence.Fault{Rule: "gives-back-used",
		Message: fmt.Sprintf("should have given back only chunks of which nothing is out, but it gave back one of %d bytes "+
			"with a block that is out", size),
		Why: "The memory of a chunk goes as a whole: whoever has a block of it writes to somebody else's memory from now on.",
		Fix: "Count the blocks that are out of each chunk, and let only those go of which none is."}
	if judged && op.Kind != allocator.KindTrim && !m.failed {
		f.Rule = "gives-back-early"
		f.Message = fmt.Sprintf("should have given no memory back to the upstream, which Trim and Close are for, but it "+
			"gave back %d bytes", size)
		f.Why = "Memory that has gone back has to be got again, by a call of the driver's, when the next block is asked for."
		f.Fix = "Give chunks back in Trim and in Close alone."
		return f
	}
	if chunk, whole := m.room.take(at, at+size); !whole || chunk != at {
		return f
	}
	delete(m.chunks, at)
	m.held -= int64(size)
	if m.failed && op.Kind == allocator.KindAlloc {
		return nil // it had come in the same call, so that the upstream has no more than before
	}
	m.ruledOut = min(m.ruledOut, m.least)
	m.least = math.MaxInt64
	return nil
}

// trimmed is what is wrong with what is left behind a Trim.
func (m *model) trimmed(keep, before int64) *sequence.Fault {
	if m.held < keep && m.held < before {
		return &sequence.Fault{Rule: "trims-too-much",
			Message: fmt.Sprintf("should have kept at least %d bytes, but of %d bytes it kept %d", keep, before, m.held),
			Why:     "The caller keeps so much because it will soon be asked for again.",
			Fix:     "Let a chunk go only if what is held without it is still at least keep."}
	}
	for at, size := range m.chunks {
		s := m.room.at(at)
		if s == nil || s.lo != at || s.hi-s.lo != size || m.held-int64(size) < keep {
			continue
		}
		return &sequence.Fault{Rule: "trims-too-little",
			Message: fmt.Sprintf("should have given back all that it can with %d bytes still held, but it holds %d, and a "+
				"chunk of %d bytes of which nothing is out", keep, m.held, size),
			Why: "Memory that the pool holds for nobody is missing elsewhere.",
			Fix: "Look at every chunk: if nothing of it is out, whoever its free bytes belong to, and enough is held without " +
				"it, it goes."}
	}
	return nil
}
