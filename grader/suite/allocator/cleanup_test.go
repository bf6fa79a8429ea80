package allocator_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/exercises/contract"
	"cudalab/grader/order"
	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

type newOfBump func() (*bump, error)

type sixteen struct{}

func (sixteen) String() string { return "bump.New()" }

var bumps = &allocator.Lab[newOfBump, sixteen]{
	New: func(code newOfBump, _ sixteen) (allocator.Subject, error) {
		b, err := code()
		s := allocator.Subject{Allocator: allocator.OrNil[allocator.Allocator](b)}
		s.Stats = func() []int64 {
			live := int64(0)
			for _, used := range b.used {
				if used {
					live++
				}
			}
			return []int64{live}
		}
		return s, err
	},
	Model: func(*allocator.Workload[sixteen]) allocator.Model { return newModel() },
	Parts: []string{""},
}

// judged drives a part's cases over some code, and judges them.
func judged(p suite.Part[newOfBump], code newOfBump) suite.Answer {
	e := &suite.Evidence{Cases: map[string]*verdict.CaseNotes{}, Place: func(trace.Site) []verdict.Place { return nil }}
	for _, c := range p.Cases {
		s, n := session.New(sim.New(sim.Options{})), &notebook{verdict.CaseNotes{ID: c.ID, Values: map[string][]uint64{}}}
		s.Use()
		s.StartTrace()
		c.Drive(&suite.Bench{Session: s, CaseID: c.ID, Notes: n}, suite.Sides[newOfBump]{Student: code})
		n.Trace = s.StopTrace()
		for _, f := range order.Check(n.Trace) {
			n.Findings = append(n.Findings, verdict.Finding{Rule: f.Rule, Severity: verdict.Error, Message: f.Message,
				Record: f.At})
		}
		e.Cases[c.ID] = &n.CaseNotes
	}
	return p.Judge(e)
}

var whole = allocator.Good[newOfBump, sixteen]{bumps.Steps("examples", "1a", allocator.Fixed(
	allocator.Workload[sixteen]{Name: "one", Ops: []allocator.Op{allocator.Alloc(1), allocator.Close}}))}

var cleanup = whole.Cleanup(allocator.Cleanup[sixteen]{Name: "cleanup", After: "1a",
	Draw: func(from sequence.Source) allocator.Workload[sixteen] {
		return allocator.Workload[sixteen]{Ops: []allocator.Op{allocator.Alloc(1 + from.Int64N(256)),
			allocator.Alloc(1 + from.Int64N(256)), allocator.Close}}
	}})

func rulesOf(a suite.Answer) (found []string) {
	for _, f := range a.Findings {
		found = append(found, f.Rule)
	}
	return found
}

// of makes bumps that have some faults.
func of(faults bump) newOfBump {
	return func() (*bump, error) {
		b, err := newBump(faults)
		if err != nil {
			return nil, err
		}
		return b, nil
	}
}

func TestCallsFailInALife(t *testing.T) {
	a := judged(cleanup, of(bump{}))
	require.Empty(t, a.Findings)
	require.Empty(t, a.Skip)
}

// A Close that fails has closed nothing: the allocator goes on working, and is closed again.
func TestACloseFails(t *testing.T) {
	a := judged(cleanup, of(bump{forgetsOnClose: true}))
	require.Equal(t, []string{"changed-by-error"}, rulesOf(a))
	require.Contains(t, a.Findings[0].Message,
		"As a test, the 1st call of cuda.Free was made to fail with CUDA_ERROR_INVALID_VALUE (1). "+
			"After bump.New(): allocate ")
	require.Contains(t, a.Findings[0].Message, ", close. The last of these should have returned that error and left "+
		"Stats as they were, but they are others now.")

	a = judged(cleanup, of(bump{closesFirst: true}))
	require.Contains(t, rulesOf(a), "leak-on-error")
}

// A Close that has given something back and then fails leaves an allocator that must not hand that out.
func TestACloseFailsHalfway(t *testing.T) {
	require.Empty(t, judged(cleanup, of(bump{keepsBooks: true})).Findings)
	a := judged(cleanup, of(bump{keepsBooks: true, goesOn: true}))
	require.Equal(t, []string{"outside-on-error"}, rulesOf(a))
	require.Contains(t, a.Findings[0].Message, "As a test, the 2nd call of cuda.Free was made to fail")
	require.Contains(t, a.Findings[0].Message, "After that, the allocator should have handed out memory of its own")
	require.Contains(t, a.Findings[0].Fix, "Answer contract.ErrClosed to everything but Close")
}

func TestAnAllocatorComesWithAnError(t *testing.T) {
	a := judged(cleanup, func() (*bump, error) { return newBump(bump{}) })
	require.Equal(t, []string{"allocator-with-error"}, rulesOf(a))
	require.Contains(t, a.Findings[0].Message,
		"As a test, the 1st call of cuda.Malloc was made to fail with CUDA_ERROR_OUT_OF_MEMORY (2). New should")
}

// Memory that an earlier allocator had is none of this one's.
func TestABlockLiesWhereOneWas(t *testing.T) {
	made, base := 0, cuda.DevicePtr(0)
	a := judged(cleanup, func() (*bump, error) {
		if made++; made > 3 && base != 0 {
			return &bump{base: base, borrowed: true}, nil
		}
		b, err := of(bump{})()
		if err == nil {
			base = b.base
		}
		return b, err
	})
	require.Equal(t, []string{"left-out"}, rulesOf(a))
	require.Contains(t, a.Findings[0].Message, "The allocator should have handed out memory of its own")
}

// Without a call that could have failed nothing is known.
func TestNoCallIsMade(t *testing.T) {
	a := judged(cleanup, func() (*bump, error) { return &bump{borrowed: true}, nil })
	require.Empty(t, a.Findings)
	require.NotEmpty(t, a.Skip)
}

func TestNeitherAnAllocatorNorAnError(t *testing.T) {
	a := judged(whole.Telling(whole.Part("", "part", "Passed.", nil)), func() (*bump, error) { return nil, nil })
	require.Equal(t, []string{"no-allocator"}, rulesOf(a))
}

// What is refused at first has to be refused behind a good call, too.
func TestArgumentsAreBadBehindGoodOnes(t *testing.T) {
	p := bumps.Arguments(allocator.Arguments[sixteen]{Bad: []sixteen{{}, {}}, Good: []sixteen{{}}})
	for second, rules := range map[error][]string{contract.ErrArgument: nil, contract.ErrFull: {"wrong-error"}} {
		made := 0
		a := judged(p, func() (*bump, error) {
			switch made++; {
			case made < 3:
				return nil, contract.ErrArgument
			case made == 3:
				return of(bump{})()
			}
			return nil, second
		})
		require.Equal(t, rules, rulesOf(a))
		require.Equal(t, 5, made)
		require.Empty(t, a.Skip)
	}
	// What good arguments come to is told elsewhere.
	made := 0
	a := judged(p, func() (*bump, error) {
		if made++; made == 3 {
			panic("not yet")
		}
		return nil, contract.ErrArgument
	})
	require.Empty(t, a.Findings)
	require.Empty(t, a.Skip)
	require.Equal(t, 3, made)
}

// abreast are sequences on allocators that are alive at once.
var abreast = bumps.Steps("far", "1a", allocator.Fixed(
	allocator.Workload[sixteen]{Name: "short", Ops: []allocator.Op{allocator.Alloc(1), allocator.Close}},
	allocator.Workload[sixteen]{Name: "long", Ops: []allocator.Op{allocator.Alloc(1), allocator.Alloc(2),
		allocator.Free(1), allocator.Alloc(3), allocator.Free(1), allocator.Close}})).Large(whole).Abreast()

func TestAllocatorsAreAliveAtOnce(t *testing.T) {
	part := abreast.Also(whole.Part("", "answers", "All was well.", nil))
	require.Empty(t, judged(part, of(bump{})).Findings)
	one := &bump{}
	a := judged(part, func() (*bump, error) {
		made, err := newBump(bump{})
		if err == nil {
			*one = *made
		}
		return one, err
	})
	require.Len(t, a.Findings, 1)
	require.Contains(t, a.Findings[0].Message, "alone it went well")
	require.Contains(t, a.Findings[0].Fix, "its own fields")
}

// A fault that shows with few blocks is not told again in the words of those that are alive at once.
func TestWhatIsWrongWithFewIsToldOnce(t *testing.T) {
	twice := func(id string, size int64) *allocator.Steps[newOfBump, sixteen] {
		return bumps.Steps(id, "1a", allocator.Fixed(allocator.Workload[sixteen]{Name: id, Ops: []allocator.Op{
			allocator.Alloc(size), allocator.Free(1), allocator.Free(1), allocator.Close}}))
	}
	few := allocator.Good[newOfBump, sixteen]{twice("few", 1)}
	part := twice("far", 200).Large(few).Abreast().Also(few.Part("", "answers", "All was well.", nil))
	a := judged(part, of(bump{forgetsDoubleFree: true}))
	require.Len(t, a.Findings, 1)
	require.Contains(t, a.Findings[0].Message, "allocate 1,")
}

func TestACallFailsInEachFarLife(t *testing.T) {
	lives := 0
	part := whole.Cleanup(allocator.Cleanup[sixteen]{Name: "cleanup", After: "1a",
		Draw: func(sequence.Source) allocator.Workload[sixteen] {
			return allocator.Workload[sixteen]{Ops: []allocator.Op{allocator.Alloc(1), allocator.Close}}
		},
		Far: func(sequence.Source) (ws []allocator.Workload[sixteen]) {
			for n := range 20 { // of which each has other calls to make
				blocks := slices.Repeat([]allocator.Op{allocator.Alloc(200)}, n%16)
				ws = append(ws, allocator.Workload[sixteen]{Ops: append(blocks, allocator.Close)})
			}
			lives = len(ws)
			return ws
		}})
	require.Empty(t, judged(part, of(bump{})).Findings)
	require.Equal(t, 20, lives)
	news := 0
	a := judged(part, func() (*bump, error) { // from some New on, a Close that fails has closed all the same
		news++
		return of(bump{closesFirst: news > 12})()
	})
	require.NotEmpty(t, a.Findings)
}
