package allocator_test

import (
	"fmt"

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

// Make makes an allocator of so many blocks of 256 bytes, as New of the exercise does.
type Make func(blocks int) (allocator.Allocator, error)

// row is what New is called with.
type row int

func (r row) String() string { return fmt.Sprintf("row.New(%d)", int(r)) }

// expected is the Model: it knows which blocks are handed out, and so what has to be answered.
type expected struct {
	blocks int
	out    map[uint64]bool
}

func (m *expected) Blind(string) bool { return false }

func (m *expected) Step(op allocator.Op, a sequence.Answer) []sequence.Fault {
	want := sequence.Nil
	switch {
	case op.Kind == allocator.KindAlloc && len(m.out) == m.blocks:
		want = sequence.ErrFull
	case op.Kind == allocator.KindFree && !m.out[a.Addr]:
		want = sequence.ErrInvalidFree
	}
	if a.Err != want {
		return sequence.WrongError(want, a).In("errors")
	}
	switch {
	case want != sequence.Nil:
	case op.Kind == allocator.KindAlloc:
		m.out[a.Addr] = true
	case op.Kind == allocator.KindFree:
		delete(m.out, a.Addr)
	}
	return nil
}

var lab = &allocator.Lab[Make, row]{
	New: func(code Make, r row) (allocator.Subject, error) {
		a, err := code(int(r))
		return allocator.Subject{Allocator: a}, err
	},
	Model: func(w *allocator.Workload[row]) allocator.Model {
		return &expected{int(w.Layout), map[uint64]bool{}}
	},
	Parts: []string{"errors"},
}

// The trial draws 200 operations from the seed. A block may be freed twice.
var (
	trials = allocator.Good[Make, row]{lab.Steps("random", "1c", func(from sequence.Source) []allocator.Workload[row] {
		w := allocator.Workload[row]{Name: "drawn", Layout: 4}
		for blocks := 0; len(w.Ops) < 200; {
			if blocks == 0 || from.IntN(2) == 0 {
				w.Ops = append(w.Ops, allocator.Alloc(1+from.Int64N(256)))
				blocks++
			} else {
				w.Ops = append(w.Ops, allocator.Free(1+from.IntN(blocks)))
			}
		}
		return []allocator.Workload[row]{w}
	})}
	part = trials.Part("errors", "each mistake gets its own error", "Every mistake was answered with its own error.", nil)
)

// list is an allocator that takes back whatever it is given.
type list struct{ free []cuda.DevicePtr }

func newList(blocks int) (allocator.Allocator, error) {
	l := &list{}
	for i := range blocks {
		l.free = append(l.free, cuda.DevicePtr(256*(1+i)))
	}
	return l, nil
}

func (l *list) Alloc(int64) (p cuda.DevicePtr, err error) {
	if len(l.free) == 0 {
		return 0, contract.ErrFull
	}
	p, l.free = l.free[0], l.free[1:]
	return p, nil
}

func (l *list) Free(p cuda.DevicePtr) error {
	l.free = append(l.free, p)
	return nil
}

func (l *list) Close() error { return nil }

// Two hundred operations find that an allocator takes a block back twice. Of these, three are left to tell it by.
func ExampleLab_Steps() {
	s, n := session.New(sim.New(sim.Options{})), &notebook{verdict.CaseNotes{Values: map[string][]uint64{}}}
	s.Use()
	s.StartTrace()
	trials[0].Drive(&suite.Bench{Session: s, CaseID: "random", Notes: n}, suite.Sides[Make]{Student: newList})
	n.Trace = s.StopTrace()

	a := part.Judge(&suite.Evidence{Cases: map[string]*verdict.CaseNotes{"random": &n.CaseNotes},
		Place: func(trace.Site) []verdict.Place { return nil }})
	for _, f := range a.Findings {
		fmt.Println(f.Message)
	}
	// Output:
	// After row.New(4): allocate 241, free #1, free #1 again. The last of these should have returned contract.ErrInvalidFree, but it returned nil.
}
