package slab

import (
	"fmt"
	"math"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
)

// The parts that the model finds faults of.
const (
	ofClasses = "classes" // which class an Alloc is served from
	ofErrors  = "errors"  // which error a call answers
	ofStats   = "stats"   // what Stats says
	ofBlocks  = "blocks"  // where the blocks lie
)

// model is a slab allocator without memory: it knows of each class how many blocks are out, and of each address what
// was handed out there.
type model struct {
	classes []contract.ClassStats
	live    []allocator.Places[int] // for each class, the numbers of its blocks
	spans   []span                  // for each class, where all its blocks have been so far
	blocks  int                     // Allocs so far
	closed  bool
	lost    bool // a fault has left it without a notion of what is right
}

// span is the addresses from low up to high.
type span struct{ low, high uint64 }

// at is the number of the live block that begins at an address, and its class.
func (m *model) at(addr uint64) (number, class int, live bool) {
	for class := range m.live {
		if number, ok := m.live[class].Get(addr); ok {
			return number, class, true
		}
	}
	return 0, 0, false
}

func newModel(w *workload) allocator.Model {
	m := &model{}
	for _, size := range w.Layout.classes {
		m.classes = append(m.classes, contract.ClassStats{BlockSize: size, Total: w.Layout.blocks})
		m.live = append(m.live, allocator.NewPlaces[int](size))
		m.spans = append(m.spans, span{low: math.MaxUint64})
	}
	return m
}

// Blind: what one part tells of spoils no other.
func (m *model) Blind(string) bool { return false }

// Step judges one answer. After a fault it says no more: what follows may come of it.
func (m *model) Step(op allocator.Op, a sequence.Answer) []sequence.Fault {
	if m.lost {
		return nil
	}
	found := []sequence.Fault(nil)
	if len(a.Stats()) == 1 {
		found = changed(a.Stats()[0]) // what is answered wrong comes of it
	} else {
		found = m.judge(op, a)
	}
	m.lost = len(found) > 0
	return found
}

func (m *model) judge(op allocator.Op, a sequence.Answer) []sequence.Fault {
	var fits, class int
	var want sequence.Err
	switch op.Kind {
	case allocator.KindAlloc:
		m.blocks++
		fits, class, want = m.place(op.Size)
	case allocator.KindClose:
		fits, class = -1, -1
	default:
		var ok bool
		if _, class, ok = m.at(a.Addr); !ok {
			want = sequence.ErrInvalidFree
		}
	}
	if m.closed {
		want = sequence.ErrClosed
	}
	if a.Err != want {
		return m.wrongAnswer(op, a, want, class)
	}
	var before []contract.ClassStats
	if a.Stats() != nil {
		before = slices.Clone(m.classes)
	}
	if want == sequence.Nil {
		if f := m.carryOut(op, a, fits, class); f != nil {
			return f.In(ofBlocks)
		}
	}
	if m.closed || a.Stats() == nil {
		return nil // what Stats says of a closed allocator is not judged
	}
	return m.judgeStats(op, a, want, class, before)
}

// place is the smallest class that fits, the class that serves, and what Alloc has to answer.
func (m *model) place(size int64) (fits, class int, want sequence.Err) {
	if size < 1 || size > m.classes[len(m.classes)-1].BlockSize {
		return 0, 0, sequence.ErrSize
	}
	for m.classes[fits].BlockSize < size {
		fits++
	}
	for class = fits; class < len(m.classes); class++ {
		if m.classes[class].InUse < m.classes[class].Total {
			return fits, class, sequence.Nil
		}
	}
	return fits, fits, sequence.ErrFull
}

// carryOut brings the model up to date with an operation that succeeded, as it should have.
func (m *model) carryOut(op allocator.Op, a sequence.Answer, fits, class int) *sequence.Fault {
	switch op.Kind {
	case allocator.KindClose:
		m.closed = true
	case allocator.KindAlloc:
		if f := m.misplaced(a.Addr, class); f != nil {
			return f
		}
		each := uint64(m.classes[class].BlockSize)
		m.live[class].Put(a.Addr, m.blocks)
		m.spans[class] = span{min(m.spans[class].low, a.Addr), max(m.spans[class].high, a.Addr+each)}
		m.classes[class].InUse++
		if class != fits {
			m.classes[fits].Spills++
		}
	default:
		m.live[class].Delete(a.Addr)
		m.classes[class].InUse--
	}
	return nil
}

// misplaced is what is wrong with a block of a class at an address, or nil.
func (m *model) misplaced(addr uint64, class int) *sequence.Fault {
	size := uint64(m.classes[class].BlockSize)
	if addr == 0 {
		return &sequence.Fault{Rule: "null-block",
			Message: "should have handed out a block, but it returned the null address and no error",
			Why:     "There is no memory at the null address: when a kernel uses it, every later CUDA call fails.",
			Fix:     "Return the address of the block, or an error."}
	}
	if other, ok := m.around(addr, size); ok {
		number, its, _ := m.at(other)
		where := fmt.Sprintf("inside block #%d", number)
		if addr < other {
			where = fmt.Sprintf("before block #%d and reaches into it", number)
		}
		f := &sequence.Fault{Rule: "overlap",
			Message: fmt.Sprintf("should have handed out a block that is free, but the block of %d bytes begins %s, which is "+
				"still handed out",
				size, where),
			Why: "Whoever writes to one of two blocks that overlap destroys what the user of the other has there.",
			Fix: "Give block i of a class the address first + i*blockSize, and begin each class behind the last block of the " +
				"one before."}
		if addr == other {
			f.Message = fmt.Sprintf("should have handed out a block that is free, but it handed out block #%d, which somebody "+
				"still has", number)
			f.Fix = "Take a block out of the free ones when you hand it out, and put it back only in a Free that succeeds."
			if its != class {
				f.Message = fmt.Sprintf("should have handed out a block that is free, but the block of %d bytes begins where "+
					"block #%d does, one of %d bytes, which somebody still has", size, number, m.classes[its].BlockSize)
				f.Fix = "Begin each class behind the last block of the one before: first + blocks*blockSize."
			}
		}
		return f
	}
	if addr%256 != 0 {
		return &sequence.Fault{Rule: "misaligned",
			Message: fmt.Sprintf("should have handed out an address that is a multiple of 256, but its remainder by 256 is %d",
				addr%256),
			Why: "A kernel that reads a float4 or a double has to find it at a multiple of its size; elsewhere every later " +
				"CUDA call fails.",
			Fix: "Begin every class at a multiple of 256 from what cuda.Malloc returned; the block sizes then keep it so."}
	}
	return nil
}

// around is the first live block that has any of the bytes at an address.
func (m *model) around(addr, size uint64) (first uint64, found bool) {
	for class := range m.live {
		blocks, each := &m.live[class], uint64(m.classes[class].BlockSize)
		if s := m.spans[class]; addr >= s.high || addr+size <= s.low {
			continue
		}
		take := func(other uint64) {
			if addr < other+each && other < addr+size && (!found || other < first) {
				first, found = other, true
			}
		}
		// No two live blocks overlap, so that in as many bytes as a block has there begins one at most.
		from, to := (addr-min(addr, each))/each, (addr+size)/each
		if to-from > uint64(blocks.Len()) {
			for other := range blocks.All() {
				take(other)
			}
			continue
		}
		for i := from; i <= to; i++ {
			if other, _, ok := blocks.Cell(i); ok {
				take(other)
			}
		}
	}
	return first, found
}

// wrongAnswer is the fault of an answer that is not the one wanted.
func (m *model) wrongAnswer(op allocator.Op, a sequence.Answer, want sequence.Err, class int) []sequence.Fault {
	f := sequence.WrongError(want, a)
	switch {
	case want == sequence.ErrClosed:
		f.Rule = "works-after-close"
		f.Why = "After Close the memory is no longer the allocator's, and may already be somebody else's."
		f.Fix = "Remember that Close has succeeded, and look at that first in Alloc, Free and Close."
	case want == sequence.ErrInvalidFree && a.Err == sequence.Nil:
		f.Rule = "invalid-free-accepted"
		f.Why = "A block that is taken back twice would be handed out to two users at once, and an address where no block " +
			"begins is not the allocator's to hand out."
		f.Fix = "Check that the address is exactly where a block begins and that this block is handed out, before you " +
			"change anything."
	case op.Kind == allocator.KindAlloc && want == sequence.Nil:
		f.Rule = "block-refused"
		f.Message = fmt.Sprintf("should have got a block of %d bytes, since only %d of %d are handed out, but it returned %s",
			m.classes[class].BlockSize, m.classes[class].InUse, m.classes[class].Total, a.Says())
		f.Why = "A block that is too large serves as well; only when no class that fits has one left is the allocator full."
		f.Fix = "Try the smallest class that fits first, and then every larger one."
		return f.In(ofClasses)
	case want == sequence.ErrFull && a.Err == sequence.Nil:
		f.Rule = "too-many-blocks"
		f.Message = "should have returned contract.ErrFull, since all blocks of the classes that fit are out, but it " +
			"returned nil"
		f.Why = "No block is left that is large enough: what was handed out is somebody else's, or too small."
		f.Fix = "Hand out a block only if it is free and large enough; never look into smaller classes."
		return f.In(ofClasses)
	case want == sequence.Nil:
		f.Rule = "free-refused"
		f.Message = "should have returned nil, but it returned " + a.Says()
		f.Why = "What is handed out has to come back, or the allocator runs full."
		f.Fix = "Look at how the block and its class are found from the address: only blocks that are not handed out " +
			"are to be refused."
		if op.Kind == allocator.KindClose {
			f.Rule = "close-refused"
			f.Why = "Close gives back all memory, and with it every block that is still handed out."
			f.Fix = "Free the memory with one cuda.Free, and return its error."
		}
	}
	return f.In(ofErrors)
}
