package sequence_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
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
}

func newBump(b bump) (*bump, error) {
	var err error
	b.base, err = cuda.Malloc(16 * 256)
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
	if b.closed {
		return contract.ErrClosed
	}
	b.closed = true
	return cuda.Free(b.base)
}

// model is what bump has to answer.
type model struct {
	live   map[uint64]bool
	closed bool
}

func newModel() sequence.Model { return &model{live: map[uint64]bool{}} }

func (m *model) Step(op sequence.Op, a sequence.Answer) *sequence.Fault {
	want := sequence.Nil
	switch {
	case m.closed:
		want = sequence.ErrClosed
	case op.Kind == sequence.Alloc && (op.Size < 1 || op.Size > 256):
		want = sequence.ErrSize
	case op.Kind == sequence.Alloc && len(m.live) == 16:
		want = sequence.ErrFull
	case op.Kind != sequence.Alloc && op.Kind != sequence.Close && !m.live[a.Addr]:
		want = sequence.ErrInvalidFree
	}
	if a.Err != want {
		return &sequence.Fault{Rule: "wrong-answer", Message: fmt.Sprintf("should have returned %v, but it returned %s", want, a.Says())}
	}
	if want != sequence.Nil {
		return nil
	}
	switch op.Kind {
	case sequence.Alloc:
		m.live[a.Addr] = true
	case sequence.Close:
		m.closed = true
	default:
		delete(m.live, a.Addr)
	}
	return nil
}

// notebook keeps a case's notes as cudalab gets them.
type notebook struct{ suite.CaseNotes }

func (n *notebook) Outcome(o suite.Outcome)     { n.Outcomes = append(n.Outcomes, o) }
func (n *notebook) Value(name string, v uint64) { n.Values[name] = append(n.Values[name], v) }
func (n *notebook) Sample(series string, took int64) {
	n.Samples[series] = append(n.Samples[series], took)
}

// drive runs one case on the simulator and answers what it left.
func drive(t *testing.T, f func(*suite.Bench)) *suite.CaseNotes {
	d := sim.New(sim.Options{})
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	s := session.New(d)
	s.Use()
	n := &notebook{suite.CaseNotes{Values: map[string][]uint64{}, Samples: map[string][]int64{}}}
	s.StartTrace()
	f(&suite.Bench{Session: s, CaseID: "test", Notes: n})
	n.Trace = s.StopTrace()
	return &n.CaseNotes
}

func runner(b *suite.Bench, from bump) *sequence.Runner {
	return &sequence.Runner{Bench: b, Label: "bump.New()", New: func() (sequence.Subject, error) {
		a, err := newBump(from)
		if err != nil {
			return sequence.Subject{}, err
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
		return sequence.Subject{Allocator: a, Stats: stats}, nil
	}}
}

// random is a sequence with everything in it.
func random(r *rand.Rand, n int) []sequence.Op {
	var ops []sequence.Op
	blocks := 0
	for range n {
		switch k := r.IntN(10); {
		case k < 5 || blocks == 0:
			blocks++
			ops = append(ops, sequence.Op{Kind: sequence.Alloc, Size: r.Int64N(270)})
		case k == 5:
			ops = append(ops, sequence.Op{Kind: sequence.FreeInside, Block: 1 + r.IntN(blocks), Size: 1 + r.Int64N(255)})
		case k == 6:
			ops = append(ops, sequence.Op{Kind: sequence.FreeNull})
		case k == 7:
			ops = append(ops, sequence.Op{Kind: sequence.FreeUnknown, Size: 0x1234567})
		default:
			ops = append(ops, sequence.Op{Kind: sequence.Free, Block: 1 + r.IntN(blocks)})
		}
	}
	return append(ops, sequence.Op{Kind: sequence.Close}, sequence.Op{Kind: sequence.Close})
}

func TestARightAllocatorHasNoFault(t *testing.T) {
	var answers []sequence.Answer
	var ops []sequence.Op
	notes := drive(t, func(b *suite.Bench) {
		r := runner(b, bump{})
		for range 5 {
			ops = random(b.Rand(), 300)
			require.True(t, r.Check("random", ops, newModel))
			answers = r.Run("again", ops)
		}
	})
	require.Empty(t, sequence.Failures(notes, "random", newModel))
	require.Len(t, sequence.Read(notes, "random"), 5)

	read := sequence.Read(notes, "again")
	require.Len(t, read, 5)
	last := read[4]
	require.Equal(t, ops, last.Ops)
	require.Equal(t, answers, last.Answers)
	seen := map[sequence.Err]bool{}
	for i, a := range last.Answers {
		seen[a.Err] = true
		if a.Err != sequence.Skipped {
			require.Equal(t, a.Text, notes.Outcomes[last.Call(i)].Err)
			require.Len(t, a.Stats, 2)
		}
	}
	for _, e := range []sequence.Err{sequence.Nil, sequence.ErrSize, sequence.ErrFull, sequence.ErrInvalidFree,
		sequence.ErrClosed, sequence.Skipped} {
		require.True(t, seen[e], "%v", e)
	}
}

func TestAFaultIsShrunkToItsCore(t *testing.T) {
	notes := drive(t, func(b *suite.Bench) {
		require.False(t, runner(b, bump{forgetsDoubleFree: true}).Check("random", random(b.Rand(), 300), newModel))
	})
	failures := sequence.Failures(notes, "random", newModel)
	require.Len(t, failures, 1)
	require.Len(t, failures[0].Ops, 3)
	require.Equal(t, sequence.Alloc, failures[0].Ops[0].Kind)

	place := func(s trace.Site) []suite.Place {
		return []suite.Place{{File: "bump.go", Line: s[0].Line, Func: s[0].Func}}
	}
	f := failures[0].Finding(&suite.Evidence{Place: place}, "bump.New()")
	require.Regexp(t, `^After bump.New\(\): allocate \d+, free #1, free #1 again. The last of these should have returned `+
		`contract.ErrInvalidFree, but it returned nil.$`, f.Message)
	require.Equal(t, 54, f.Line, "the line of bump's Free in this file")
}

func TestAPanicEndsASequence(t *testing.T) {
	notes := drive(t, func(b *suite.Bench) {
		ops := []sequence.Op{{Kind: sequence.Alloc, Size: 5}, {Kind: sequence.Alloc, Size: 7}, {Kind: sequence.Alloc, Size: 9}}
		require.False(t, runner(b, bump{panicsOn: 7}).Check("panics", ops, newModel))
	})
	require.Empty(t, sequence.Failures(notes, "panics", newModel))
	require.Equal(t, sequence.Panic, sequence.Read(notes, "panics")[0].Answers[1].Err)
	require.Equal(t, "on this size", notes.Outcomes[2].Panic)
}

func TestHooksSeeEveryBlockComeAndGo(t *testing.T) {
	var came, went []int
	notes := drive(t, func(b *suite.Bench) {
		r := runner(b, bump{})
		r.Hooks = sequence.Hooks{
			Allocated: func(block int, at cuda.DevicePtr, size int64) {
				require.NoError(t, cuda.Memset(at, 1, size))
				came = append(came, block)
			},
			Freeing: func(block int, at cuda.DevicePtr, size int64) {
				require.NoError(t, cuda.DeviceSynchronize())
				went = append(went, block)
			},
		}
		r.Run("hooks", []sequence.Op{{Kind: sequence.Alloc, Size: 0}, {Kind: sequence.Alloc, Size: 7}, {Kind: sequence.Alloc, Size: 9},
			{Kind: sequence.Free, Block: 3}, {Kind: sequence.Free, Block: 3}, {Kind: sequence.Free, Block: 1}})
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
		r.New = func() (sequence.Subject, error) { return sequence.Subject{Allocator: everything{}}, nil }
		r.Run("joined", []sequence.Op{{Kind: sequence.Alloc, Size: 1}})
	})
	a := sequence.Read(notes, "joined")[0].Answers[0]
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
	fails := func(ops []sequence.Op) bool {
		tries++
		allocated, nulls := 0, 0
		for _, op := range ops {
			switch op.Kind {
			case sequence.Alloc:
				allocated++
			case sequence.FreeNull:
				nulls++
			}
		}
		return allocated >= 3 && nulls >= 2
	}
	short := sequence.Shrink(ops, fails)
	require.True(t, fails(short))
	require.Len(t, short, 5)
	require.LessOrEqual(t, tries, 401)
}

func TestWords(t *testing.T) {
	require.Equal(t, "allocate 300, allocate 5000, free #1, free #1 again", sequence.Words([]sequence.Op{
		{Kind: sequence.Alloc, Size: 300}, {Kind: sequence.Alloc, Size: 5000}, {Kind: sequence.Free, Block: 1},
		{Kind: sequence.Free, Block: 1}}))
	require.Equal(t, "allocate 1, free #1 plus 8, free the null address, free 0x80, which was never handed out, reset, close",
		sequence.Words([]sequence.Op{{Kind: sequence.Alloc, Size: 1}, {Kind: sequence.FreeInside, Block: 1, Size: 8},
			{Kind: sequence.FreeNull}, {Kind: sequence.FreeUnknown, Size: 0x80}, {Kind: sequence.Reset}, {Kind: sequence.Close}}))
	require.Equal(t, "4 operations, "+sequence.Words(make([]sequence.Op, 16)), sequence.Words(make([]sequence.Op, 20)))
}
