package blockpool

import (
	"fmt"
	"math"
	"strings"

	"cudalab/exercises/contract"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
	"cudalab/native/device"
)

// ofPool is the part that the model finds faults of: which blocks there are, errors, Stats.
const ofPool = "pool"

// model is a pool without memory.
type model struct {
	layout
	out       allocator.Places[struct{}]
	low, high uint64 // the first byte of the lowest and highest block so far
	waits     int
	uncounted bool // Stats were not asked for since an Alloc, which may have made its stream wait
	closed    bool
	destroyed bool // a stream was, by its owner
	lost      bool // a fault has left it without a notion of what is right
}

func newModel(w *workload) allocator.Model { return modelOf(w.Layout) }

func modelOf(l layout) *model {
	return &model{layout: l, out: allocator.NewPlaces[struct{}](l.size), low: math.MaxUint64}
}

// Blind: what one part tells of spoils no other.
func (m *model) Blind(string) bool { return false }

// Step judges one answer. After a fault it says no more: what follows may come of it.
func (m *model) Step(op allocator.Op, a sequence.Answer) []sequence.Fault {
	if m.lost {
		return nil
	}
	found := m.judge(op, a)
	m.lost = len(found) > 0
	return found
}

func (m *model) judge(op allocator.Op, a sequence.Answer) []sequence.Fault {
	var want sequence.Err
	switch op.Kind {
	case allocator.KindAlloc:
		if m.out.Len() == m.blocks {
			want = sequence.ErrFull
		}
	case allocator.KindClose:
	case allocator.KindFree, allocator.KindFreeInside, allocator.KindFreeUnknown, allocator.KindFreeNull:
		if _, out := m.out.Get(a.Addr); !out {
			want = sequence.ErrInvalidFree
		}
	case allocator.KindDestroy:
		m.destroyed = true
		return nil
	default:
		return nil // is the caller's
	}
	if m.closed {
		want = sequence.ErrClosed
	}
	if a.Err != want {
		return m.wrongAnswer(op, a, want).In(ofPool)
	}
	if want == sequence.Nil {
		if f := m.carryOut(op, a); f != nil {
			return f.In(ofPool)
		}
	}
	if m.closed || a.Stats() == nil {
		m.uncounted = m.uncounted || op.Kind == allocator.KindAlloc
		return nil // what Stats says of a closed pool is not judged
	}
	if f := m.judgeStats(op, a, want); f != nil {
		return f.In(ofPool)
	}
	return nil
}

// carryOut brings the model up to date with an operation that succeeded, as it should have.
func (m *model) carryOut(op allocator.Op, a sequence.Answer) *sequence.Fault {
	switch op.Kind {
	case allocator.KindClose:
		m.closed = true
	case allocator.KindAlloc:
		if f := m.misplaced(a.Addr); f != nil {
			return f
		}
		m.out.Put(a.Addr, struct{}{})
	default:
		m.out.Delete(a.Addr)
	}
	return nil
}

// narrow is how many blocks 16 bits can number.
const narrow = 1 << 16

// misplaced is what is wrong with where a block lies. That it lies in the pool's memory shows by the trace.
func (m *model) misplaced(at uint64) *sequence.Fault {
	low, high := min(m.low, at), max(m.high, at)
	whole := (at-low)%uint64(m.size) == 0 && (high-low)%uint64(m.size) == 0
	_, out := m.out.Get(at)
	if !out && whole && (high-low)/uint64(m.size) < uint64(m.blocks) {
		m.low, m.high = low, high
		return nil
	}
	f := &sequence.Fault{Rule: "overlap", Why: "Each block belongs to one user from Alloc until Free; whoever else has " +
		"some of its bytes destroys what is there.",
		Fix: "Keep in mind which blocks are out, and count a block's address as memory + i*blockSize, in 64 bits."}
	switch {
	case out:
		f.Message = "should have handed out a block that is free, but it handed out one that is still out"
		if m.out.Len() == narrow {
			f.Message = fmt.Sprintf("should have handed out the block behind the first %d, which are out, but it handed out "+
				"one of these again", narrow)
			f.Fix = "Number blocks with an int: a uint16 has only so many numbers, and begins again at 0. And count a block's " +
				"address as memory + i*blockSize, in 64 bits."
		}
	case !whole:
		f.Message = fmt.Sprintf("should have handed out whole blocks of %d bytes, but the block begins %d bytes behind "+
			"another", m.size, max(at-low, high-at))
	default:
		f.Message = fmt.Sprintf("should have handed out one of %d blocks side by side, but the block begins %d bytes away "+
			"from another", m.blocks, high-low)
	}
	return f
}

func (m *model) wrongAnswer(op allocator.Op, a sequence.Answer, want sequence.Err) sequence.Fault {
	f := sequence.WrongError(want, a)
	switch {
	case op.Kind == allocator.KindAlloc && want == sequence.Nil && a.Err == sequence.ErrFull:
		free := m.blocks - m.out.Len()
		f.Rule = "room-refused"
		f.Message = fmt.Sprintf("should have handed out a block, since %d of %d %s free, but answered contract.ErrFull", free,
			m.blocks, isAre(free))
		f.Why = "Room that is not found is lost: the caller goes without memory that nobody uses."
		f.Fix = "Look through the blocks of every stream, not of one alone, before you answer that all are out."
	case want == sequence.ErrClosed:
		f.Why = "Close has given all back: what a pool hands out behind it is nobody's memory."
		f.Fix = "Keep in mind that Close has succeeded, and return contract.ErrClosed at the beginning of every " +
			"method that returns an error."
	case want == sequence.Nil && m.destroyed && strings.Contains(a.Details().Text, device.ErrorInvalidHandle.Name()):
		f.Why = "The owner of a stream may destroy it as soon as it has given all its blocks back: a call that names it " +
			"then fails, or crashes."
		f.Fix = "Name the stream of a Free in Free alone, where you record an event in it. From then on ask that event " +
			"(cuda.EventQuery), or have the stream that Alloc is given wait for it (cuda.StreamWaitEvent): an event " +
			"stays good when its stream is gone."
	case want == sequence.ErrInvalidFree && a.Err == sequence.Nil:
		f.Rule = "invalid-free-accepted"
		f.Why = "A block that is taken back twice, or that never was one, is handed out to two users in the end."
		f.Fix = "Answer contract.ErrInvalidFree unless a block begins at the address that is handed out now."
	}
	return f
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// statsFields is how many numbers a pool's Stats are.
const statsFields = 4

// judgeStats judges what Stats said after an operation. Waits may have gone up by one, in an Alloc; how many there
// really were shows by the trace.
func (m *model) judgeStats(op allocator.Op, a sequence.Answer, want sequence.Err) *sequence.Fault {
	if len(a.Stats()) != statsFields {
		return nil // no answer of a runner's
	}
	said := statsOf(a.Stats())
	right := contract.BlockPoolStats{BlockSize: m.size, Total: m.blocks, InUse: m.out.Len(), Waits: m.waits}
	if m.uncounted && said.Waits >= m.waits {
		right.Waits = said.Waits
	}
	m.uncounted = false
	waited := op.Kind == allocator.KindAlloc && want == sequence.Nil && said.Waits == right.Waits+1
	if waited {
		right.Waits++
	}
	m.waits = right.Waits
	if said == right {
		return nil
	}
	f := &sequence.Fault{Rule: "wrong-stats", Look: sequence.Differing(said, right),
		Message: fmt.Sprintf("should have left Stats at %s, but Stats says %s", inWords(right), inWords(said)),
		Why:     "Stats is what callers go by: whether there is room, and how much concurrency the pool has cost.",
		Fix: "Count InUse in Alloc and in Free, and Waits in each Alloc that has made a stream wait, when nothing can " +
			"fail any more."}
	if want != sequence.Nil {
		f.Rule = "changed-by-error"
		f.Message = fmt.Sprintf("failed, as it should, but should have changed nothing: Stats should still say %s, but "+
			"says %s", inWords(right), inWords(said))
		f.Why = "A caller that is told of an error goes on as if the call had not been made."
		f.Fix = "Find out whether the call can succeed before you change anything."
	}
	return f
}

// statsOf are the Stats of an answer.
func statsOf(n []int64) contract.BlockPoolStats {
	return contract.BlockPoolStats{BlockSize: n[0], Total: int(n[1]), InUse: int(n[2]), Waits: int(n[3])}
}

// InWords has what Stats said in words.
func (m *model) InWords(stats []int64) string { return inWords(statsOf(stats)) }

func inWords(s contract.BlockPoolStats) string {
	return fmt.Sprintf("{BlockSize: %d, Total: %d, InUse: %d, Waits: %d}", s.BlockSize, s.Total, s.InUse, s.Waits)
}
