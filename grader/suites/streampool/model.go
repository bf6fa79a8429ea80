package streampool

import (
	"fmt"
	"math"
	"strings"

	"cudalab/exercises/contract"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
	"cudalab/native/device"
)

// The parts that the model finds faults of.
const (
	ofSpace  = "space"
	ofErrors = "errors"
	ofTrim   = "trim"
)

// model is a pool without memory, which follows where the student's has put its blocks.
type model struct {
	layout
	room   *room
	chunks map[uint64]uint64 // by where they begin, how long they are
	out    map[uint64]block  // by where they begin
	held   int64             // from the upstream
	inUse  int64
	newest uint64 // the chunk that came last
	least  int64  // that the upstream has refused since it was given something back
	// ruledOut is the least that the upstream had refused before it was given something back.
	ruledOut  int64
	forgot    bool // a stream was
	destroyed bool // a stream was, by its owner
	waits     int
	counted   bool // waits is known
	closed    bool
	lost      bool // a fault has left it without a notion of what is right
	failed    bool // what it takes in is of an operation that has failed
}

// block is one that is out.
type block struct{ size, chunk uint64 }

func newModel(w *workload) allocator.Model {
	return modelOf(w.Layout, len(w.Ops)/3)
}

// modelOf has room for so many blocks that are out.
func modelOf(l layout, blocks int) *model {
	return &model{layout: l, room: newRoom(), chunks: map[uint64]uint64{}, out: make(map[uint64]block, blocks),
		least: math.MaxInt64, ruledOut: math.MaxInt64, counted: true}
}

// Blind: what one part tells of spoils no other.
func (m *model) Blind(string) bool { return false }

// Step judges one answer. After a fault it says no more: what follows may come of it.
func (m *model) Step(op allocator.Op, a sequence.Answer) []sequence.Fault {
	if m.lost || op.Kind >= allocator.KindWait {
		m.destroyed = m.destroyed || op.Kind == allocator.KindDestroy
		return nil
	}
	f, part := m.judge(op, a)
	if f == nil {
		return nil
	}
	m.lost = true
	return f.In(part)
}

// Failed takes in what the upstream was asked in an operation that came to nothing: what it has refused it need not be
// asked again, and what had come may have gone back.
func (m *model) Failed(op allocator.Op, a sequence.Answer) {
	m.failed = true
	_, _ = m.follow(op, a)
	m.failed = false
}

func (m *model) judge(op allocator.Op, a sequence.Answer) (f *sequence.Fault, part string) {
	asked, f := m.follow(op, a)
	if want := m.want(op, a); want == sequence.ErrSize && a.Err != want {
		return m.wrongAnswer(op, a, want)
	}
	if f != nil {
		if op.Kind == allocator.KindAlloc {
			return f, ofSpace
		}
		return f, ofTrim
	}
	want := m.want(op, a)
	if a.Err != want {
		return m.wrongAnswer(op, a, want)
	}
	if want == sequence.ErrFull && asked && (len(a.Seen()) == 0 || a.Seen()[0] == 0) {
		return &sequence.Fault{Rule: "wrong-error",
			Message: "should have returned an error that is contract.ErrFull and the upstream's, which it has asked, but " +
				"errors.Is does not find the upstream's in it",
			Why: "The upstream knows why there is no more, and only its error says so.",
			Fix: "Keep the upstream's error and return both: fmt.Errorf(\"%w: %w\", contract.ErrFull, err)."}, ofErrors
	}
	if want == sequence.Nil {
		if f := m.carryOut(op, a); f != nil {
			return f, ofSpace
		}
	}
	if m.closed || a.Stats() == nil {
		return nil, ""
	}
	return m.judgeStats(op, a, want)
}

// What to do where a pool goes on behind Close.
const (
	whyClosed = "Close has given all back: what a pool hands out or gets behind it nobody gives back any more."
	fixClosed = "Keep in mind that Close has succeeded, and return contract.ErrClosed at the beginning of every method " +
		"that returns an error."
)

// need is a size as rounded up.
func need(size int64) int64 { return (size + 255) / 256 * 256 }

// sized reports whether a size can be asked for.
func sized(size int64) bool { return size >= 1 && size <= 1<<62 }

// want is what a right pool answers.
func (m *model) want(op allocator.Op, a sequence.Answer) sequence.Err {
	switch {
	case m.closed:
		return sequence.ErrClosed
	case op.Kind == allocator.KindTrim && op.Size < 0:
		return sequence.ErrArgument
	case op.Kind == allocator.KindAlloc && !sized(op.Size):
		return sequence.ErrSize
	case op.Kind == allocator.KindAlloc && m.room.longest() < uint64(need(op.Size)) && m.least <= need(op.Size):
		return sequence.ErrFull
	case op.Kind == allocator.KindFree, op.Kind == allocator.KindFreeInside, op.Kind == allocator.KindFreeUnknown,
		op.Kind == allocator.KindFreeNull:
		if _, out := m.out[a.Addr]; !out {
			return sequence.ErrInvalidFree
		}
	}
	return sequence.Nil
}

// carryOut brings the model up to date with an operation that succeeded, as it should have.
func (m *model) carryOut(op allocator.Op, a sequence.Answer) *sequence.Fault {
	switch op.Kind {
	case allocator.KindClose:
		m.closed = true
	case allocator.KindForget:
		m.forgot = true
	case allocator.KindAlloc:
		size := uint64(need(op.Size))
		if a.Addr%256 != 0 {
			return &sequence.Fault{Rule: "misaligned",
				Message: fmt.Sprintf("should have handed out an address that is a multiple of 256, but it handed out %#x", a.Addr),
				Why:     "What cudaMalloc answers is aligned so, and kernels rely on it.",
				Fix:     "Round every size up to a multiple of 256, so that every piece begins at one."}
		}
		chunk, ok := m.room.take(a.Addr, a.Addr+size)
		if !ok {
			return m.misplaced(a.Addr, size)
		}
		m.out[a.Addr] = block{size, chunk}
		m.inUse += int64(size)
	case allocator.KindFree, allocator.KindFreeInside, allocator.KindFreeUnknown:
		b := m.out[a.Addr]
		delete(m.out, a.Addr)
		m.room.give(a.Addr, a.Addr+b.size, b.chunk, origin{in: op.Stream})
		m.inUse -= int64(b.size)
	}
	return nil
}

// misplaced is what is wrong with a block that does not lie in free bytes of a chunk.
func (m *model) misplaced(at, size uint64) *sequence.Fault {
	for begin, length := range m.chunks {
		if at >= begin && at-begin < length && size <= length-(at-begin) {
			return &sequence.Fault{Rule: "overlap",
				Message: fmt.Sprintf("should have handed out %d bytes that are free, but some of those that it handed out are "+
					"still another block's", size),
				Why: "Each block belongs to one user from Alloc until Free; whoever else has some of its bytes destroys what is " +
					"there.",
				Fix: "Take a piece off its owner's list when it is handed out, and cut off no more than what is too much of it."}
		}
	}
	return &sequence.Fault{Rule: "outside",
		Message: fmt.Sprintf("should have handed out %d bytes of one chunk, but they do not lie in any of the %d that the "+
			"upstream has handed out", size, len(m.chunks)),
		Why: "Chunks are allocations of their own: even where two lie side by side they go back one by one, and a block " +
			"across both would lose its half.",
		Fix: "Join neighbours within a chunk alone, and count a block's address from where its piece begins."}
}

// fixRefusal mends that free bytes were not found by who asked for them.
func (o origin) fixRefusal(by allocator.Stream) string {
	switch {
	case o.in == nobody:
		return "Join what is free side by side, whoever gave it back, and wait for all of them, before you answer that " +
			"there is no room."
	case o.joined && o.in == by:
		return "Join in Free what a stream gives back with the free pieces beside it that are its own, and look among them " +
			"first."
	case o.joined:
		return "Join in Free what a stream gives back with the free pieces beside it that are its own. When the upstream " +
			"has refused, take such bytes of another stream, and have the one that asks wait for the event behind them " +
			"(cuda.StreamWaitEvent), if any was recorded."
	case o.in != by:
		return "When the upstream has refused, take bytes of another stream, and have the one that asks wait for the event " +
			"behind them (cuda.StreamWaitEvent), if any was recorded. What is too much of a piece stays free."
	case o.fresh:
		return "Cut off a piece what is too much of it, and keep the rest free, as the stream's own: a later Alloc " +
			"finds it there, also where it is exactly enough."
	}
	return "Keep what is given back among the stream's own free pieces, and look there first: one that is exactly " +
		"enough will do, and of a longer one the rest stays free."
}

func (m *model) wrongAnswer(op allocator.Op, a sequence.Answer, want sequence.Err) (*sequence.Fault, string) {
	f := sequence.WrongError(want, a)
	switch {
	case op.Kind == allocator.KindAlloc && want == sequence.Nil && a.Err == sequence.ErrFull:
		f.Rule = "room-refused"
		if longest := m.room.longest(); longest >= uint64(need(op.Size)) {
			how := m.room.longestOrigin()
			f.Message = fmt.Sprintf("should have handed out %d bytes, since %d side by side in one chunk are free, which %v, "+
				"but answered contract.ErrFull",
				need(op.Size), longest, how)
			f.Why = "Room that is not found is lost: the caller goes without memory that nobody uses."
			f.Fix = how.fixRefusal(op.Stream)
		} else {
			f.Message = fmt.Sprintf("should have asked the upstream for %d bytes before it says that there is no room, but "+
				"answered contract.ErrFull", need(op.Size))
			f.Why = "The upstream may have as much as the block needs, if not a whole step."
			f.Fix = "If the upstream refuses the step and the block needs less, ask for what the block needs."
			if m.ruledOut <= max(m.step, need(op.Size)) {
				f.Message = fmt.Sprintf("should have asked the upstream for %d bytes before it says that there is no room, since "+
					"the upstream was given something back after it had refused so much, but answered contract.ErrFull", need(op.Size))
				f.Why, f.Fix = whyAskAgain, fixAskAgain
			}
		}
		return &f, ofSpace
	case want == sequence.ErrInvalidFree && a.Err == sequence.Nil:
		f.Rule = "invalid-free-accepted"
		f.Why = "A block that is taken back twice, or that never was one, is handed out to two users in the end."
		f.Fix = "Answer contract.ErrInvalidFree unless a block begins at the address that is handed out now."
	case want == sequence.ErrClosed:
		f.Why, f.Fix = whyClosed, fixClosed
	case want == sequence.ErrSize:
		f.Message = fmt.Sprintf("should have returned contract.ErrSize for a size of %d, but it returned %s", op.Size,
			a.Says())
		f.Why = "A block of no bytes is none, and what is above 1<<62 may run over when it is rounded up."
		f.Fix = "Return contract.ErrSize for a size below 1 or above 1<<62, before you round it up and before you ask for " +
			"anything."
	case want == sequence.Nil && m.destroyed && strings.Contains(a.Details().Text, device.ErrorInvalidHandle.Name()):
		f.Why = "Whoever has a stream forgotten may destroy it at once: a call that names it then fails, or crashes."
		f.Fix = "Name a stream in no call from its Forget on: its event stays good. Wait with cuda.EventSynchronize " +
			"for the event in place of the stream."
	case op.Kind == allocator.KindAlloc && want == sequence.ErrFull && a.Err == sequence.Nil:
		return m.misplaced(a.Addr, uint64(need(op.Size))), ofSpace
	}
	if op.Kind == allocator.KindTrim {
		return &f, ofTrim
	}
	return &f, ofErrors
}

// statsFields is how many numbers a pool's Stats are.
const statsFields = 5

// judgeStats judges what Stats said after an operation. Waits may have gone up by one, in an Alloc; how many there
// really were shows by the trace.
func (m *model) judgeStats(op allocator.Op, a sequence.Answer, want sequence.Err) (*sequence.Fault, string) {
	if len(a.Stats()) != statsFields {
		return nil, "" // no answer of a runner's
	}
	said := statsOf(a.Stats())
	if !m.counted {
		m.counted, m.waits = true, said.Waits
	}
	right := contract.PoolStats{Reserved: m.held, InUse: m.inUse, LargestFree: int64(m.room.longest()),
		Chunks: len(m.chunks), Waits: m.waits}
	if op.Kind == allocator.KindAlloc && want == sequence.Nil && said.Waits == m.waits+1 {
		right.Waits++
	}
	m.waits = right.Waits
	if said == right {
		return nil, ""
	}
	wanted := differing(right, said)
	if said.Waits != right.Waits && op.Kind == allocator.KindAlloc && want == sequence.Nil {
		wanted += fmt.Sprintf(" or %d", right.Waits+1)
	}
	f := &sequence.Fault{Rule: "wrong-stats", Look: sequence.Differing(said, right),
		Message: fmt.Sprintf("should have left Stats with %s, but Stats says %s", wanted, differing(said, right)),
		Why: "Stats is what callers go by: whether there is room, how torn it is, and how much concurrency the pool " +
			"has cost.",
		Fix: m.fixStats(op, right, said)}
	if want != sequence.Nil {
		f.Rule = ruleChanged
		f.Message = fmt.Sprintf("failed, as it should, but should have changed nothing: Stats should still say %s, but "+
			"says %s", inWords(right), inWords(said))
		f.Why = "A caller that is told of an error goes on as if the call had not been made."
		f.Fix = "Find out whether the call can succeed before you change anything."
		return f, ofErrors
	}
	if op.Kind == allocator.KindTrim {
		return f, ofTrim
	}
	return f, ofSpace
}

// differing names the numbers of one Stats that are others in another: "InUse = 256 and Chunks = 1".
func differing(one, other contract.PoolStats) string {
	var all []string
	for _, field := range []struct {
		name       string
		one, other int64
	}{
		{"Reserved", one.Reserved, other.Reserved}, {"InUse", one.InUse, other.InUse}, {"LargestFree", one.LargestFree,
			other.LargestFree},
		{"Chunks", int64(one.Chunks), int64(other.Chunks)}, {"Waits", int64(one.Waits), int64(other.Waits)},
	} {
		if field.one != field.other {
			all = append(all, fmt.Sprintf("%s = %d", field.name, field.one))
		}
	}
	return strings.Join(all, " and ")
}

// fixStats mends the numbers that are wrong behind an operation.
func (m *model) fixStats(op allocator.Op, right, said contract.PoolStats) string {
	var all []string
	add := func(wrong bool, fix string) {
		if wrong {
			all = append(all, fix)
		}
	}
	beside := said.Chunks < right.Chunks && m.ends(m.newest)
	largest := "LargestFree is the longest free bytes side by side in one chunk, whosever they are."
	switch {
	case m.forgot:
		largest += " What a forgotten stream owned stays free as well: Forget takes the stream away, and not its pieces."
	case op.Kind == allocator.KindAlloc:
		largest += " Cut off a piece what is too much of it, and keep the rest free."
	}
	add(said.Reserved != right.Reserved, "Reserved is what the upstream has handed out and was not given back.")
	add(said.InUse != right.InUse, "InUse is what is out, in rounded sizes: count it up in Alloc and down in Free.")
	add(said.LargestFree != right.LargestFree, largest)
	add(beside, "The chunk that came last begins where another ends, and is one of its own all the same: each goes back "+
		"alone, so no piece is joined with one of another chunk.")
	add(said.Chunks != right.Chunks && !beside, "Chunks is how often the upstream has handed out memory, less how often "+
		"it was given some back.")
	add(said.Waits != right.Waits, "Count Waits once for each Alloc that has handed out a block and made its stream "+
		"wait, however many streams it waits for.")
	return strings.Join(all, " ")
}

// ends reports whether a chunk ends at an address.
func (m *model) ends(at uint64) bool {
	for begin, size := range m.chunks {
		if begin+size == at {
			return true
		}
	}
	return false
}

const ruleChanged = "changed-by-error"

// statsOf are the Stats of an answer.
func statsOf(n []int64) contract.PoolStats {
	return contract.PoolStats{Reserved: n[0], InUse: n[1], LargestFree: n[2], Chunks: int(n[3]), Waits: int(n[4])}
}

// InWords has what Stats said in words.
func (m *model) InWords(stats []int64) string { return inWords(statsOf(stats)) }

func inWords(s contract.PoolStats) string {
	return fmt.Sprintf("{Reserved: %d, InUse: %d, LargestFree: %d, Chunks: %d, Waits: %d}", s.Reserved, s.InUse,
		s.LargestFree, s.Chunks, s.Waits)
}
