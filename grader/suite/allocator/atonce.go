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

// patience is how much CPU time RunAtOnce gives, in nanoseconds, twenty times what a quick allocator takes: one that
// searches through its blocks is told by its cost, and not by a case that does not end.
const patience = 1_000_000_000

// RunAtOnce is Run with all operations in one Call, and nobody to use the blocks. It ends early with an allocator that
// takes too long, or that fills its memory, which a simulated device has to find room for: on this scale its host would
// not have it, and other trials tell of the call. The operations are not noted: whoever reads the answers has to know
// them. The allocator's CUDA calls are counted; see counted.
//
// Where seldom is set, Stats are asked for only now and then in a long row of operations of one kind.
func (r *Runner) RunAtOnce(name string, ops []Op, seldom bool) {
	var w walk
	calls := newCounted(r.Bench)
	first, filled := r.Bench.Calls()+1, r.Bench.Session.Filled()
	made := calls.making(r.Label, func() (err error) {
		w.subject, err = r.New()
		return err
	})
	if !made.OK() {
		return
	}
	w.start(ops)
	if seldom {
		w.unasked = inRow(ops)
	}
	if w.atOnce(r.Bench, ops, calls, func() bool { return r.Bench.Session.Filled() != filled }) && w.closed {
		calls.note(name)
	}
	note(r.Bench, name, first, 0, nil, w.answers)
}

// abreast carries sequences out on allocators that are alive at once, in one Call: an operation of each in turn, so
// that those with fewer are closed while others go on, and none behind an answer that its model finds wrong: what
// follows would come of that. All name the same streams. Else it is like RunAtOnce. It answers how many operations
// there were of each up to a wrong answer; 0 where there was none.
func abreast(b *suite.Bench, runners []*Runner, names []string, ops [][]Op, models []Model) (wrong []int) {
	wrong = make([]int, len(runners))
	walks, calls := make([]*walk, len(runners)), make([]*counted, len(runners))
	streams := map[Stream]cuda.Stream{}
	for i, r := range runners {
		w := &walk{streams: streams}
		calls[i] = newCounted(b)
		made := calls[i].making(r.Label, func() (err error) {
			w.subject, err = r.New()
			return err
		})
		if made.OK() {
			w.start(ops[i])
			walks[i] = w
		}
	}
	first, longest := b.Calls(), 0
	for _, all := range ops {
		longest = max(longest, len(all))
	}
	b.Call(fmt.Sprintf("carry out operations on %d allocators in turn", len(runners)), func() error {
		for at := range longest {
			for i, w := range walks {
				if w == nil || w.broken || wrong[i] > 0 || at >= len(ops[i]) {
					continue
				}
				calls[i].in(stretchOf(ops[i][at]), func() {
					w.step(ops[i][at], func(_ trace.Site, f func() error) bool {
						_ = f()
						return true
					})
				})
				if a := w.answers[at]; !w.broken && a.Err != sequence.Skipped && len(models[i].Step(ops[i][at], a)) > 0 {
					wrong[i] = at + 1
				}
			}
		}
		return nil
	})
	for i, w := range walks {
		if w == nil {
			continue
		}
		if w.closed {
			calls[i].note(names[i])
		}
		note(b, names[i], first, 0, nil, w.answers)
	}
	return wrong
}

// goOn carries operations out on an allocator that has a past, all in one Call, and notes both as one sequence. calls
// has counted those of the past.
func goOn(b *suite.Bench, name string, s Subject, past []Op, answers []sequence.Answer, ops []Op, calls *counted) {
	w := walk{subject: s}
	w.start(ops)
	for i, op := range past {
		if op.Kind == KindAlloc {
			w.addrs = append(w.addrs, cuda.DevicePtr(answers[i].Addr))
		}
	}
	first := b.Calls()
	if w.atOnce(b, ops, calls, func() bool { return false }) && w.closed {
		calls.note(name)
	}
	note(b, name, first, 0, slices.Concat(past, ops), slices.Concat(answers, w.answers))
}

// inRow reports of one operation after the other whether no Stats are asked for behind it: where it is in the midst of
// a long row of its kind, but for every rowAsked'th. A count that is wrong there is wrong behind the next of these as
// well.
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
// It reports whether it came to their end.
func (w *walk) atOnce(b *suite.Bench, ops []Op, calls *counted, early func() bool) (ended bool) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := suite.ThreadTime()
	b.CallOf(fmt.Sprintf("carry out %d operations", len(ops)), w.methods[KindAlloc].Site, func() error {
		// What comes in a row is counted together: each change would take longer than an operation.
		for i := 0; i < len(ops); {
			stretch, goesOn := stretchOf(ops[i]), true
			calls.in(stretch, func() {
				for ; goesOn && i < len(ops) && stretchOf(ops[i]) == stretch; i++ {
					goesOn = !(i%64 == 0 && suite.ThreadTime()-began > patience || i%1024 == 0 && early()) &&
						w.step(ops[i], func(_ trace.Site, f func() error) bool {
							_ = f()
							return true
						})
				}
			})
			if !goesOn {
				return nil
			}
		}
		ended = true
		return nil
	})
	return ended
}
