package allocator_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

// bump is an allocator of 16 blocks of 256 bytes with the faults that a test wants.
type bump struct {
	base   cuda.DevicePtr
	used   [16]bool
	closed bool

	forgetsDoubleFree bool // takes a second free of the same block
	panicsOn          int64
	forgetsOnClose    bool // takes its blocks back before it is closed
	closesFirst       bool // counts as closed whether it could be or not
	borrowed          bool // its memory is not its own
	keepsBooks        bool // in memory that Close gives back last
	goesOn            bool // and is open until that is gone

	books cuda.DevicePtr
	gone  bool // base was given back
}

func newBump(b bump) (*bump, error) {
	var err error
	if b.base, err = cuda.Malloc(16 * 256); err == nil && b.keepsBooks {
		if b.books, err = cuda.Malloc(256); err != nil {
			err = errors.Join(err, cuda.Free(b.base))
		}
	}
	return &b, err
}

func (b *bump) Alloc(size int64) (cuda.DevicePtr, error) {
	switch {
	case b.closed:
		return 0, contract.ErrClosed
	case size == b.panicsOn && size > 0:
		panic("on this size")
	case size < 1 || size > 256:
		return 0, fmt.Errorf("%d bytes: %w", size, contract.ErrSize)
	}
	for i, used := range b.used {
		if !used {
			b.used[i] = true
			return b.base + cuda.DevicePtr(256*i), nil
		}
	}
	return 0, contract.ErrFull
}

func (b *bump) Free(p cuda.DevicePtr) error {
	i := int(p-b.base) / 256
	switch {
	case b.closed:
		return contract.ErrClosed
	case p < b.base || i >= 16 || (p-b.base)%256 != 0 || !b.used[i] && !b.forgetsDoubleFree:
		return contract.ErrInvalidFree
	}
	b.used[i] = false
	return nil
}

func (b *bump) Close() error {
	if b.closed && b.books == 0 {
		return contract.ErrClosed
	}
	if b.forgetsOnClose {
		b.used = [16]bool{}
	}
	if !b.borrowed && !b.gone {
		b.closed = b.closesFirst
		if err := cuda.Free(b.base); err != nil {
			return err
		}
		b.gone = true
	}
	if b.books != 0 {
		b.closed = !b.goesOn
		if err := cuda.Free(b.books); err != nil {
			return err
		}
		b.books = 0
	}
	b.closed = true
	return nil
}

// model is what bump has to answer.
type model struct {
	live   map[uint64]bool
	closed bool
}

func newModel() allocator.Model { return &model{live: map[uint64]bool{}} }

func (m *model) Blind(string) bool { return false }

func (m *model) Step(op allocator.Op, a sequence.Answer) []sequence.Fault {
	want := sequence.Nil
	switch {
	case m.closed:
		want = sequence.ErrClosed
	case op.Kind == allocator.KindAlloc && (op.Size < 1 || op.Size > 256):
		want = sequence.ErrSize
	case op.Kind == allocator.KindAlloc && len(m.live) == 16:
		want = sequence.ErrFull
	case op.Kind != allocator.KindAlloc && op.Kind != allocator.KindClose && !m.live[a.Addr]:
		want = sequence.ErrInvalidFree
	}
	if a.Err != want {
		return []sequence.Fault{{Rule: "wrong-answer", Message: fmt.Sprintf("should have returned %v, but it returned %s",
			want, a.Says())}}
	}
	if want != sequence.Nil {
		return nil
	}
	switch op.Kind {
	case allocator.KindAlloc:
		m.live[a.Addr] = true
	case allocator.KindClose:
		m.closed = true
	default:
		delete(m.live, a.Addr)
	}
	return nil
}

// notebook keeps a case's notes as cudalab gets them.
type notebook struct{ verdict.CaseNotes }

func (n *notebook) Outcome(o verdict.Outcome)       { n.Outcomes = append(n.Outcomes, o) }
func (n *notebook) Value(name string, vs ...uint64) { n.Values[name] = append(n.Values[name], vs...) }
func (n *notebook) Sample(series string, took int64) {
	n.Samples[series] = append(n.Samples[series], took)
}

// drive runs one case on the simulator and answers what it left.
func drive(t *testing.T, f func(*suite.Bench)) *verdict.CaseNotes {
	d := sim.New(sim.Options{})
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	s := session.New(d)
	s.Use()
	n := &notebook{verdict.CaseNotes{Values: map[string][]uint64{}, Samples: map[string][]int64{}}}
	s.StartTrace()
	f(&suite.Bench{Session: s, CaseID: "test", Notes: n})
	n.Trace = s.StopTrace()
	return &n.CaseNotes
}

func runner(b *suite.Bench, from bump) *allocator.Runner {
	return &allocator.Runner{Bench: b, Label: "bump.New()", New: func() (allocator.Subject, error) {
		a, err := newBump(from)
		if err != nil {
			return allocator.Subject{}, err
		}
		stats := func() []int64 {
			n := int64(0)
			for _, used := range a.used {
				if used {
					n++
				}
			}
			return []int64{n, -n}
		}
		return allocator.Subject{Allocator: a, Stats: stats}, nil
	}}
}

// random is a sequence with everything in it.
func random(r *rand.Rand, n int) []allocator.Op {
	var ops []allocator.Op
	blocks := 0
	for range n {
		switch k := r.IntN(10); {
		case k < 5 || blocks == 0:
			blocks++
			ops = append(ops, allocator.Alloc(r.Int64N(270)))
		case k == 5:
			ops = append(ops, allocator.FreeInside(1+r.IntN(blocks), 1+r.Int64N(255)))
		case k == 6:
			ops = append(ops, allocator.FreeNull)
		case k == 7:
			ops = append(ops, allocator.FreeUnknown(0x1234567))
		default:
			ops = append(ops, allocator.Free(1+r.IntN(blocks)))
		}
	}
	return append(ops, allocator.Close, allocator.Close)
}

func TestARightAllocatorHasNoFault(t *testing.T) {
	var answers []sequence.Answer
	var ops []allocator.Op
	notes := drive(t, func(b *suite.Bench) {
		r := runner(b, bump{})
		for range 5 {
			ops = random(b.Rand(), 300)
			require.True(t, r.Check("random", ops, newModel, ""))
			answers = r.Run("again", ops)
		}
	})
	require.Empty(t, allocator.Failures(notes, "random", nil, newModel, ""))
	require.Len(t, allocator.Read(notes, "random", nil), 5)

	read := allocator.Read(notes, "again", nil)
	require.Len(t, read, 5)
	last := read[4]
	require.Equal(t, ops, last.Ops)
	require.Equal(t, answers, last.Answers)
	seen := map[sequence.Err]bool{}
	for i, a := range last.Answers {
		seen[a.Err] = true
		if a.Err != sequence.Skipped {
			require.Equal(t, a.Details().Text, notes.Outcomes[last.Call(i)].Err)
			require.Len(t, a.Stats(), 2)
		}
	}
	for _, e := range []sequence.Err{sequence.Nil, sequence.ErrSize, sequence.ErrFull, sequence.ErrInvalidFree,
		sequence.ErrClosed, sequence.Skipped} {
		require.True(t, seen[e], "%v", e)
	}
}

func TestAFaultIsShrunkToItsCore(t *testing.T) {
	notes := drive(t, func(b *suite.Bench) {
		require.False(t, runner(b, bump{forgetsDoubleFree: true}).Check("random", random(b.Rand(), 300), newModel, ""))
	})
	failures := allocator.Failures(notes, "random", nil, newModel, "")
	require.Len(t, failures, 1)
	require.Len(t, failures[0].Ops, 3)
	require.Equal(t, allocator.KindAlloc, failures[0].Ops[0].Kind)

	place := func(s trace.Site) []verdict.Place {
		require.Regexp(t, `\.\(\*bump\)\.Free$`, s[0].Func)
		require.Zero(t, s[0].Line, "of the method as a whole")
		return []verdict.Place{{File: "bump.go", Line: 57}}
	}
	f := failures[0].Finding(&suite.Evidence{Place: place}, "bump.New()")
	require.Regexp(t, `^After bump.New\(\): allocate \d+, free #1, free #1 again. The last of these should have returned `+
		`contract.ErrInvalidFree, but it returned nil.$`, f.Message)
	require.Equal(t, 57, f.Line)
}

func TestAPanicEndsASequence(t *testing.T) {
	notes := drive(t, func(b *suite.Bench) {
		ops := []allocator.Op{allocator.Alloc(5), allocator.Alloc(7), allocator.Alloc(9)}
		require.False(t, runner(b, bump{panicsOn: 7}).Check("panics", ops, newModel, ""))
	})
	require.Empty(t, allocator.Failures(notes, "panics", nil, newModel, ""))
	require.Equal(t, sequence.Panic, allocator.Read(notes, "panics", nil)[0].Answers[1].Err)
	require.Equal(t, "on this size", notes.Outcomes[2].Panic)
}

// user writes to every block, and keeps the numbers of those that came and went.
type user struct {
	t          *testing.T
	came, went *[]int
}

func (u user) Allocated(block int, at cuda.DevicePtr, size int64) {
	require.NoError(u.t, cuda.Memset(at, 1, size))
	*u.came = append(*u.came, block)
}

func (u user) Freeing(block int, _ cuda.DevicePtr, _ int64) {
	require.NoError(u.t, cuda.DeviceSynchronize())
	*u.went = append(*u.went, block)
}

func TestUsersSeeEveryBlockComeAndGo(t *testing.T) {
	var came, went []int
	notes := drive(t, func(b *suite.Bench) {
		r := runner(b, bump{})
		r.User = user{t, &came, &went}
		r.Run("user", []allocator.Op{allocator.Alloc(0), allocator.Alloc(7), allocator.Alloc(9),
			allocator.Free(3), allocator.Free(3), allocator.Free(1)})
	})
	require.Equal(t, []int{2, 3}, came)
	require.Equal(t, []int{3, 2}, went)

	var allocs, frees []trace.Record
	for _, r := range notes.Trace.Records {
		switch r.Op {
		case trace.OpBlockAlloc:
			allocs = append(allocs, r)
		case trace.OpBlockFree:
			frees = append(frees, r)
		case trace.OpMemset:
			require.Equal(t, allocs[len(allocs)-1].Alloc, r.Accesses[0].Alloc, "an access to a block is the block's")
		}
	}
	require.Len(t, allocs, 2)
	require.Equal(t, []int64{7, 9}, []int64{allocs[0].Size, allocs[1].Size})
	require.Len(t, frees, 2)
}

func TestSeveralErrorsAtOnceAreNone(t *testing.T) {
	notes := drive(t, func(b *suite.Bench) {
		r := runner(b, bump{})
		r.New = func() (allocator.Subject, error) { return allocator.Subject{Allocator: everything{}}, nil }
		r.Run("joined", []allocator.Op{allocator.Alloc(1)})
	})
	a := allocator.Read(notes, "joined", nil)[0].Answers[0]
	require.Equal(t, sequence.ErrSeveral, a.Err)
}

// everything answers all errors at once, so that errors.Is finds whichever is asked for.
type everything struct{}

func (everything) Alloc(int64) (cuda.DevicePtr, error) {
	return 0, errors.Join(contract.ErrSize, contract.ErrFull, contract.ErrClosed)
}

func (everything) Close() error { return nil }

func TestShrinkIsBoundedAndKeepsWhatFails(t *testing.T) {
	ops := random(rand.New(rand.NewPCG(1, 2)), 500)
	tries := 0
	fails := func(ops []allocator.Op) bool {
		tries++
		allocated, nulls := 0, 0
		for _, op := range ops {
			switch op.Kind {
			case allocator.KindAlloc:
				allocated++
			case allocator.KindFreeNull:
				nulls++
			}
		}
		return allocated >= 3 && nulls >= 2
	}
	short := allocator.Shrink(ops, fails)
	require.True(t, fails(short))
	require.Len(t, short, 5)
	require.LessOrEqual(t, tries, 401)
}

func TestWords(t *testing.T) {
	require.Equal(t, "allocate 300, allocate 5000, free #1, free #1 again", allocator.Words([]allocator.Op{
		allocator.Alloc(300), allocator.Alloc(5000), allocator.Free(1),
		allocator.Free(1)}))
	require.Equal(t, "allocate 1, free #1 plus 8, free the null address, free 0x80, which was never handed out, "+
		"reset, close",
		allocator.Words([]allocator.Op{allocator.Alloc(1), allocator.FreeInside(1, 8),
			allocator.FreeNull, allocator.FreeUnknown(0x80), allocator.Reset, allocator.Close}))
	require.Equal(t, "4 operations, "+allocator.Words(make([]allocator.Op, 16)), allocator.Words(make([]allocator.Op, 20)))
}
