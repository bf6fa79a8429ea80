package buddy

import (
	"fmt"
	"math"

	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
)

// The parts that the model finds faults of.
const (
	ofErrors     = "errors"
	ofBlocks     = "blocks"
	ofCoalescing = "coalescing"
	ofStats      = "stats"
)

// What a Subject's Stats are, in their order.
const (
	statTotal = iota
	statInUse
	statLargestFree
	statFreeBlocks
	statRoot // the root block's address, by the trace; 0 if there is none
	statCount
)

// model is what an allocator must answer. It goes by the blocks as they were handed out, wherever that was. After a
// fault that leaves the allocator with wrong ideas about its blocks it says no more: what follows would be the same
// fault again.
type model struct {
	layout  layout
	misuse  bool   // as in Workload
	root    uint64 // the root block's address, by the trace; 0 until it is known
	space   *space
	live    allocator.Places[liveBlock]
	gone    map[uint64]bool // addresses of blocks that were freed
	inUse   int64           // bytes of the live blocks
	blocks  int             // Allocs so far
	closed  bool
	lost    bool // the root block is not known
	blinded bool
}

// liveBlock is a block in its user's hands.
type liveBlock struct {
	number int
	size   int64
}

func newModel(w *workload) allocator.Model {
	return &model{layout: w.Layout, misuse: w.Misuse, space: newSpace(w.Layout.top()),
		live: allocator.NewPlaces[liveBlock](w.Layout.least()), gone: map[uint64]bool{}}
}

// Blind: what is asked of New goes by other things than answers, and sequences with misuse in them need be seen only by
// the part that is about misuse.
func (m *model) Blind(part string) bool {
	return part != ofMemory && (m.lost || m.blinded && (!m.misuse || part == ofErrors))
}

// Step judges one answer.
func (m *model) Step(op allocator.Op, a sequence.Answer) (found []sequence.Fault) {
	if op.Kind == allocator.KindAlloc {
		m.blocks++
	}
	if len(a.Stats()) == statCount {
		m.root = uint64(a.Stats()[statRoot])
		m.lost = m.lost || m.root == 0
	}
	if m.root == 0 || m.blinded || a.Stats() != nil && len(a.Stats()) != statCount {
		return nil
	}
	part, fault, blinds := m.behaviour(op, a)
	if fault != nil {
		found = fault.In(part)
	}
	if m.blinded = blinds; m.closed || m.blinded || a.Stats() == nil {
		return found
	}
	if fault := m.stats(a); fault != nil {
		found = append(found, fault.In(ofStats)...)
	}
	return found
}

// behaviour judges an answer and takes note of what it has changed. A fault is one of a part, and blinds where nothing
// can be said any more of what follows.
func (m *model) behaviour(op allocator.Op, a sequence.Answer) (part string, f *sequence.Fault, blinds bool) {
	switch {
	case m.closed:
		return ofErrors, m.afterClose(a), false
	case op.Kind == allocator.KindClose:
		m.closed = a.Err == sequence.Nil
		return ofErrors, m.close(a), false
	case op.Kind == allocator.KindAlloc:
		return m.alloc(op.Size, a)
	}
	f, blinds = m.free(a)
	return ofErrors, f, blinds
}

func (m *model) afterClose(a sequence.Answer) *sequence.Fault {
	if a.Err == sequence.ErrClosed {
		return nil
	}
	return &sequence.Fault{
		Rule: "works-after-close", Message: a.InsteadOf(sequence.ErrClosed), Look: a.Look(sequence.ErrClosed),
		Why: "After Close the root block belongs to someone else.",
		Fix: "Remember that Close has succeeded, and return contract.ErrClosed from every method that returns an error.",
	}
}

func (m *model) close(a sequence.Answer) *sequence.Fault {
	if a.Err == sequence.Nil {
		return nil
	}
	return &sequence.Fault{
		Rule: "close-refused", Message: a.InsteadOf(sequence.Nil), Look: a.Look(sequence.Nil),
		Why: "Close gives the whole root block back, and with it whatever is still handed out.",
		Fix: "Free the root block with one cuda.Free, and return its error.",
	}
}

func (m *model) alloc(size int64, a sequence.Answer) (part string, f *sequence.Fault, blinds bool) {
	if size < 1 || size > m.layout.root() {
		if a.Err == sequence.ErrSize {
			return ofErrors, nil, false
		}
		f = &sequence.Fault{
			Rule: "bad-size-accepted", Message: a.InsteadOf(sequence.ErrSize), Look: a.Look(sequence.ErrSize),
			Why: fmt.Sprintf("No block has this size: the root has %d bytes, and the smallest request is 1.", m.layout.root()),
			Fix: "Return contract.ErrSize where size is below 1 or above the root's size, before anything else.",
		}
		if a.Err != sequence.Nil {
			f.Rule = "wrong-error"
		}
		return ofErrors, f, a.Err == sequence.Nil
	}
	block := m.layout.block(size)
	fits := func() bool {
		return m.space.largestFree() >= 0 && m.layout.least()<<m.space.largestFree() >= block
	}
	switch {
	case a.Err == sequence.Nil:
		f = m.place(a, block)
		return ofBlocks, f, f != nil
	case a.Err == sequence.ErrFull && fits():
		return ofCoalescing, &sequence.Fault{
			Rule: "full-too-early", Look: a.Look(sequence.Nil),
			Message: fmt.Sprintf("should have got a block of %d bytes, since as many are free at a multiple of %d, but it "+
				"returned contract.ErrFull", block, block),
			Why: "A block that is halved leaves its other half free, and two free halves of a block are that block again, all " +
				"the way up.",
			Fix: m.roomFix(),
		}, false
	case a.Err == sequence.ErrFull:
		return ofErrors, nil, false
	}
	want := sequence.ErrFull
	if fits() {
		want = sequence.Nil
	}
	return ofErrors, &sequence.Fault{
		Rule: "wrong-error", Message: a.InsteadOf(want), Look: a.Look(want),
		Why: "The caller tells by the error whether to ask for less, to free something first, or to give up.",
		Fix: "Return contract.ErrSize for a size that no block can have, and contract.ErrFull where no block is free that " +
			"is large enough.",
	}, false
}

// roomFix is how room that is there is found, by whether anything has been given back yet.
func (m *model) roomFix() string {
	if len(m.gone) == 0 {
		return "Nothing was given back before, so this is about halving: put the root among the free blocks in New, look " +
			"for a free block from the order that is asked for up to the root's, and keep the half that is not used each time " +
			"one is halved."
	}
	return "When a block is freed, put it back among the free ones of its order and unite it with its buddy as long as " +
		"that is free and whole, up to the root; when one is halved, keep the half that is not used; and find each of them " +
		"again, the one at offset 0 like any other."
}

// alignedFix is how blocks come to lie at multiples of their size, by whether anything has been given back yet.
func (m *model) alignedFix() string {
	if len(m.gone) == 0 {
		return "Round the size up to a power of two, and take only blocks that came from halving larger ones."
	}
	return "Unite a block that is given back with its buddy alone, the other half of the block that was halved: it lies " +
		"at the block's offset XOR its size."
}

// place judges where a block lies, and counts it as live.
func (m *model) place(a sequence.Answer, block int64) *sequence.Fault {
	root, bytes := m.root, uint64(m.layout.root())
	offset := a.Addr - root
	where := func() string {
		return fmt.Sprintf("the block of %d bytes lies at offset %d of the root", block, offset)
	}
	switch {
	case a.Addr < root || offset > bytes || uint64(block) > bytes-offset:
		return &sequence.Fault{
			Rule: "outside",
			Message: fmt.Sprintf("should have got a block inside the root's %d bytes, but %s", bytes, m.whereabouts(a.Addr, root,
				block)),
			Why: "Memory that does not belong to the allocator belongs to someone else.",
			Fix: "Hand out root + n * size for block n of its order, with n below the number of such blocks.",
		}
	case offset%uint64(block) != 0:
		return &sequence.Fault{
			Rule:    "misaligned",
			Message: fmt.Sprintf("should have got a block at a multiple of its size, %d, but %s", block, where()),
			Why: "Only what lies at a multiple of its size is half of a block of the next size: it alone has a buddy to be " +
				"made whole with.",
			Fix: m.alignedFix(),
		}
	}
	if from, to := m.leaves(a, block); m.space.taken(from, to) {
		other := m.around(a.Addr, block)
		h, _ := m.live.Get(other)
		return &sequence.Fault{
			Rule: "overlap",
			Message: fmt.Sprintf("should have got memory that nobody has, but %s, where block #%d of %d bytes lies, at "+
				"offset %d", where(),
				h.number, h.size, other-root),
			Why: "Two owners of the same bytes overwrite each other, and CUDA cannot see it: to CUDA all of the root is one " +
				"allocation.",
			Fix: "Take a block off the free ones when it is handed out, count it with its rounded size, and unite free blocks " +
				"with their own buddies only.",
		}
	}
	m.use(a, block, 1)
	m.live.Put(a.Addr, liveBlock{m.blocks, block})
	delete(m.gone, a.Addr)
	return nil
}

// around is the address of the first live block that has any of the bytes at an address; some live block has.
func (m *model) around(addr uint64, bytes int64) uint64 {
	first := uint64(math.MaxUint64)
	for other, h := range m.live.All() {
		if addr < other+uint64(h.size) && other < addr+uint64(bytes) {
			first = min(first, other)
		}
	}
	return first
}

// leaves are the minimal blocks of the block at an answer's address, from one up to another.
func (m *model) leaves(a sequence.Answer, block int64) (from, to int) {
	from = int((a.Addr - m.root) / uint64(m.layout.least()))
	return from, from + int(block/m.layout.least())
}

// use has the minimal blocks of the block at an answer's address in one more block's use, or in one less.
func (m *model) use(a sequence.Answer, block int64, change int) {
	from, to := m.leaves(a, block)
	m.space.use(from, to, int32(change))
	m.inUse += int64(change) * block
}

// whereabouts is the place of a block that is not in the root.
func (m *model) whereabouts(addr, root uint64, block int64) string {
	switch {
	case addr == 0:
		return "it got the null address"
	case addr < root:
		return fmt.Sprintf("the block of %d bytes begins %d bytes before it", block, root-addr)
	}
	return fmt.Sprintf("the block of %d bytes begins at offset %d", block, addr-root)
}

// free judges the answer to a Free, whatever address it was given.
func (m *model) free(a sequence.Answer) (f *sequence.Fault, blinds bool) {
	h, live := m.live.Get(a.Addr)
	switch {
	case live && a.Err == sequence.Nil:
		m.use(a, h.size, -1)
		m.live.Delete(a.Addr)
		m.gone[a.Addr] = true
		return nil, false
	case live:
		return &sequence.Fault{
			Rule: "free-refused", Message: a.InsteadOf(sequence.Nil), Look: a.Look(sequence.Nil),
			Why: "A block that is handed out begins at this address.",
			Fix: "Find the block by its offset from the root, and keep for each block that is handed out how large it is.",
		}, false
	case a.Err == sequence.ErrInvalidFree:
		return nil, false
	}
	f = &sequence.Fault{
		Rule: "invalid-free-accepted", Message: a.InsteadOf(sequence.ErrInvalidFree), Look: a.Look(sequence.ErrInvalidFree),
		Why: "No block that is handed out begins at this address.",
		Fix: "Look the address up among the blocks that are handed out, and return contract.ErrInvalidFree if none begins " +
			"there.",
	}
	switch {
	case a.Err != sequence.Nil:
		f.Rule = "wrong-error"
	case m.gone[a.Addr]:
		f.Rule = "double-free-accepted"
		f.Why = "The block was freed before: freed again, it would be handed out to two owners."
		f.Fix = "Forget a block's size when it is freed, and return contract.ErrInvalidFree for an address without one."
	}
	return f, a.Err == sequence.Nil
}

// stats judges the account that the allocator gives of itself after an operation.
func (m *model) stats(a sequence.Answer) *sequence.Fault {
	largest := int64(0)
	if order := m.space.largestFree(); order >= 0 {
		largest = m.layout.least() << order
	}
	for _, s := range []struct {
		field, rule string
		got, want   int64
		why, fix    string
	}{
		{"Total", "wrong-total", a.Stats()[statTotal], m.layout.root(),
			"The root is what New was asked for, rounded up to a power of two.",
			"Report the size that cuda.Malloc was asked for."},
		{"InUse", "wrong-in-use", a.Stats()[statInUse], m.inUse,
			"What is in use are whole blocks: what is lost by rounding up is in use too.",
			"Add a block's rounded size when it is handed out, take it off when it is freed, and change nothing when a call " +
				"fails."},
		{"LargestFree", "wrong-largest-free", a.Stats()[statLargestFree], largest,
			"This is the largest request that would succeed now: less than all that is free, when that is in pieces.",
			"Find the highest order that has a free block, once free buddies have been united; 0 if there is none."},
		{"FreeBlocks", "wrong-free-blocks", a.Stats()[statFreeBlocks], int64(m.space.freeBlocks()),
			"Two free buddies are one free block, and an empty allocator is the root alone.",
			"Count one more for each half that a split leaves free, and one less for each buddy that a free unites with."},
	} {
		if s.got != s.want {
			return &sequence.Fault{Rule: s.rule, Why: s.why, Fix: s.fix, Look: verdict.Look{Field: s.field},
				Message: fmt.Sprintf("should have left Stats().%s at %d, but it is %d", s.field, s.want, s.got)}
		}
	}
	return nil
}
