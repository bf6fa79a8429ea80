package allocator

import (
	"fmt"
	"runtime"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// patience is how much CPU time RunAtOnce gives, in nanoseconds, twenty times what a quick allocator takes: one that searches
// through its blocks is told by its cost, and not by a case that does not end.
const patience = 1_000_000_000

// RunAtOnce is Run with all operations in one Call, and nobody to use the blocks. It ends early with an allocator that takes
// too long, or that fills its memory, which a simulated device has to find room for: on this scale its host would not have it,
// and other trials tell of the call. Neither the operations nor the allocator's CUDA calls are noted: whoever reads the answers
// has to know the ones, and nobody asks for the others.
//
// Where seldom is set, Stats are asked for only now and then in a long row of operations of one kind.
func (r *Runner) RunAtOnce(name string, ops []Op, seldom bool) {
	var w walk
	first, filled := r.Bench.Calls()+1, r.Bench.Session.Filled()
	made := r.Bench.Call(r.Label, func() (err error) {
		if r.Traced {
			w.subject, err = r.New()
			return err
		}
		r.Bench.Session.Untraced(func() { w.subject, err = r.New() })
		return err
	})
	if !made.OK() {
		return
	}
	w.start(ops)
	if seldom {
		w.unasked = inRow(ops)
	}
	w.atOnce(r.Bench, ops, func() bool { return r.Bench.Session.Filled() != filled })
	note(r.Bench, name, first, 0, nil, w.answers)
}

// goOn carries operations out on an allocator that has a past, all in one Call, and notes both as one sequence.
func goOn(b *suite.Bench, name string, s Subject, past []Op, answers []sequence.Answer, ops []Op) {
	w := walk{subject: s}
	w.start(ops)
	for i, op := range past {
		if op.Kind == KindAlloc {
			w.addrs = append(w.addrs, cuda.DevicePtr(answers[i].Addr))
		}
	}
	first := b.Calls()
	w.atOnce(b, ops, func() bool { return false })
	note(b, name, first, 0, slices.Concat(past, ops), slices.Concat(answers, w.answers))
}

// inRow reports of one operation after the other whether no Stats are asked for behind it: where it is in the midst of a long row
// of its kind, but for every rowAsked'th. A count that is wrong there is wrong behind the next of these as well.
func inRow(ops []Op) func(i int) bool {
	began := 0
	return func(i int) bool {
		if i == 0 || ops[i].Kind != ops[i-1].Kind {
			began = i
		}
		return i-began >= rowBegins && i%rowAsked != 0 && i+1 < len(ops) && ops[i+1].Kind == ops[i].Kind
	}
}

const (
	rowBegins = 256
	rowAsked  = 16
)

// atOnce carries operations out in one Call, until that has taken too long, or there is another reason to end it early.
func (w *walk) atOnce(b *suite.Bench, ops []Op, early func() bool) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := suite.ThreadTime()
	b.CallOf(fmt.Sprintf("carry out %d operations", len(ops)), w.methods[KindAlloc].Site, func() error {
		b.Session.Untraced(func() {
			for i, op := range ops {
				if i%64 == 0 && suite.ThreadTime()-began > patience || i%1024 == 0 && early() || !w.step(op, func(_ trace.Site, f func() error) bool {
					_ = f()
					return true
				}) {
					break
				}
			}
		})
		return nil
	})
}
