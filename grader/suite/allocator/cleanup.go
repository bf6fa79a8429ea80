package allocator

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// Cleanup is the part that asks that Close gives everything back, and that an allocator to which CUDA has refused
// something is as it was before, and goes on working.
type Cleanup[L fmt.Stringer] struct {
	Name     string
	Pass     string // the sentence for a pass, where the usual one will not do
	After    string // of the trial in which every CUDA call fails in turn
	Function string // who answers the error of a call that fails, where it is not "New or Close"
	// Draw draws what becomes of an allocator while calls fail, up to Close: nothing that it must refuse, and always alike
	// in what the code has to call for it.
	Draw func(sequence.Source) Workload[L]
	// Others draw other lives, in which calls come from other places.
	Others []func(sequence.Source) Workload[L]
	// Far draws lives with numbers from all over their domains, on a device with memory for anything: in each one call
	// fails. They need not be alike in what the code has to call for them.
	Far func(sequence.Source) []Workload[L]
	// what Close has to do about what it has left, by the call that made it; where it is silent, the order checker's words
	Leaks   map[trace.Op]string
	Also    []string // trials beside the good ones whose allocators must leave nothing behind, either
	Queries bool     // Alloc may ask what is done; an answer other than "not ready" has to come back as any error
	// Recovers is as in suite.FaultJudge.
	Recovers func(*verdict.CaseNotes, suite.FaultRun) bool
	// Unusable finds a block that was handed out between two records and that its user cannot use; nil where there is
	// none. The message begins with "the". Where it is nil, that is a block outside of what was allocated there.
	Unusable func(notes *verdict.CaseNotes, from, to int) *verdict.Finding
}

// Cleanup is the part.
func (g Good[Code, L]) Cleanup(c Cleanup[L]) suite.Part[Code] {
	lab := g[0].lab
	if c.Unusable == nil {
		c.Unusable = outsideOfAll
	}
	var queries []trace.Op
	if c.Queries {
		queries = []trace.Op{trace.OpEventQuery, trace.OpStreamQuery}
	}
	type drawing func() func(sequence.Source) Workload[L]
	var draws []drawing
	var trials []*suite.Trial[Code]
	for i, draw := range append([]func(sequence.Source) Workload[L]{c.Draw}, c.Others...) {
		id := "faults"
		if i > 0 {
			id = fmt.Sprintf("faults-%d", i+1)
		}
		draws = append(draws, func() func(sequence.Source) Workload[L] { return draw })
		trials = append(trials, faultTrial(lab, id, c.After, draw, queries))
	}
	if c.Far != nil {
		draws = append(draws, func() func(sequence.Source) Workload[L] { return oneByOne(c.Far) })
		trials = append(trials, farFaultTrial(lab, c.After, c.Far, queries))
	}
	judge := func(e *suite.Evidence) suite.Answer {
		a := suite.Answer{
			Message: cmp.Or(c.Pass, "Close gave everything back, and a CUDA call that failed was reported and left nothing "+
				"behind."),
			Findings: e.Of(verdict.EndRules, append(slices.Clone(c.Also), g.IDs()...)...),
		}
		for i := range a.Findings {
			f := &a.Findings[i]
			if s := g.Noted(e, f); f.Rule == "leak" && s != nil {
				f.Fix = cmp.Or(c.Leaks[e.Cases[s.ID].Trace.Records[f.Record].Op], f.Fix)
			}
		}
		if verdict.HasError(a.Findings) {
			return a // what goes wrong without any failure would only be told again for each failure
		}
		told := slices.ContainsFunc(g.Runs(e), func(r Run[L]) bool {
			return r.Record != nil &&
				r.Right < len(r.Record.Answers)
		})
		failed := 0
		for i, t := range trials {
			notes := e.Cases[t.ID]
			lives := newLives(e, t.ID, lab, &c, draws[i]())
			lives.told = told
			if t.ID == farFaults && (verdict.HasError(a.Findings) || lives.wrongByItself() != nil) {
				continue // nearer numbers tell it, or whoever is asked about such numbers without a failure
			}
			if len(notes.Outcomes) == 0 || !notes.Outcomes[0].OK() || lives.wrong(0) != "" {
				a.Skip = "The allocator did not work even where no call failed, so this could not be seen."
				return a
			}
			j := suite.FaultJudge{Function: cmp.Or(c.Function, "New or Close"), Retried: "Close", Wrong: lives.wrong,
				After: lives.after}
			if c.Recovers != nil {
				j.Recovers = func(run suite.FaultRun) bool { return c.Recovers(notes, run) }
			}
			a.Findings = verdict.Unique(append(a.Findings, e.AfterFaults(t.ID, j)...))
			failed += len(suite.FaultRuns(notes))
		}
		if !verdict.HasError(a.Findings) && failed == 0 {
			a.Skip = suite.NoFault
		}
		return a
	}
	p := suite.Part[Code]{Cases: g.Trials(trials...), GivesBack: true,
		Question: suite.Question{ID: "cleanup", Name: c.Name, Judge: judge}}
	return p.Deeper(func(e *suite.Evidence) []verdict.Finding {
		for i, t := range trials {
			if f := newLives(e, t.ID, lab, &c, draws[i]()).wrongByItself(); f != nil {
				return []verdict.Finding{*f}
			}
		}
		return nil
	})
}

// faultTrial is a trial in which every call of some lives fails in turn, and the queries that are named.
func faultTrial[Code any, L fmt.Stringer](lab *Lab[Code, L], id, after string, draw func(sequence.Source) Workload[L],
	queries []trace.Op) *suite.Trial[Code] {
	return &suite.Trial[Code]{ID: id, After: after, Drive: func(b *suite.Bench, sides suite.Sides[Code]) {
		from := sequence.NewSource(b, lab.Granular)
		inputs := suite.NewInputs(from.Rand, sequence.Drawing(from, draw))
		b.EveryFault(func(input int) (string, func() error, func()) {
			w := inputs.At(input)
			run, finish := lab.runner(b, sides.Student, &w, nil).lifetime(w.Ops, nil, false)
			return fmt.Sprintf("%s: %s", w.Layout, Words(w.Ops)), run, finish
		}, queries...)
	}}
}

// farFaults is the trial of lives with numbers from all over their domains.
const farFaults = "faults-far"

func farFaultTrial[Code any, L fmt.Stringer](lab *Lab[Code, L], after string, draw func(sequence.Source) []Workload[L],
	queries []trace.Op) *suite.Trial[Code] {
	drive := func(b *suite.Bench, sides suite.Sides[Code]) {
		b.Quota = 0
		b.NothingComputed()
		from := sequence.NewSource(b, lab.Granular)
		ws := draw(from)
		b.FaultInEach(len(ws), func(input int) (string, func() error, func()) {
			w := ws[input]
			run, finish := lab.runner(b, sides.Student, &w, nil).lifetime(w.Ops, lab.Model(&w), from.IntN(2) == 0)
			return fmt.Sprintf("%s: %s", w.Layout, Words(w.Ops)), run, finish
		}, queries...)
	}
	return &suite.Trial[Code]{ID: farFaults, After: after, Simulated: unlimited, Drive: drive}
}

// oneByOne are the workloads that draw draws together, one after the other.
func oneByOne[W any](draw func(sequence.Source) []W) func(sequence.Source) W {
	var left []W
	return func(from sequence.Source) W {
		if len(left) == 0 {
			left = draw(from)
		}
		w := left[0]
		left = left[1:]
		return w
	}
}

// noteLife is the name under which the sequences are noted in which calls fail.
const noteLife = "life"

// lifetime takes an allocator through some operations, all in one Call, and answers the errors of all that failed. One
// in which a CUDA call was made to fail is carried out once more, since no other is: at once, or where others may come
// first and later says so, ahead of Close. Where it was a Close, the allocator is used before.
// Where nothing is to fail, the life ends with an answer that the model finds wrong, if there is one: what follows
// would come of that.
func (r *Runner) lifetime(ops []Op, model Model, later bool) (run func() error, finish func()) {
	w := walk{bench: r.Bench}
	var user *tenant
	if slices.ContainsFunc(ops, func(op Op) bool { return op.Kind == KindAlloc && op.Stream != 0 }) {
		user = newTenant(r.Bench)
		w.user = user
	}
	var done []Op
	var all error
	carryOut := func(op Op) (faulted bool) {
		var err error
		failing := r.Bench.Session.Failing()
		r.Bench.Session.Mark(noteLife)
		w.step(op, func(_ trace.Site, f func() error) bool {
			err = f()
			return true
		})
		done, all = append(done, op), errors.Join(all, err)
		last := &w.answers[len(w.answers)-1]
		if faulted = last.Err == sequence.ErrOther && failing && !r.Bench.Session.Failing(); faulted {
			last.Err = sequence.Faulted
			if op.Kind == KindClose && r.givenBack() > 0 {
				last.Err = sequence.Halfway
			}
		}
		return faulted
	}
	first := r.Bench.Calls()
	w.enter(ops)
	run = func() (err error) {
		if w.subject, err = r.New(); err != nil {
			return err
		}
		r.Bench.Session.Aside(w.keepBusy) // New may have waited for the device
		w.start(ops)
		watched := model != nil && !r.Bench.Session.Failing()
		again := 0      // the block that was asked for twice
		var putOff []Op // what has failed and is still to be carried out once more
		for i, op := range ops {
			if w.broken {
				break
			}
			if op.Kind == KindClose && len(putOff) > 0 {
				carryOut(putOff[0])
				putOff = nil
			}
			if again > 0 && op.Block >= again {
				op.Block++
			}
			if !carryOut(op) {
				a := w.answers[len(w.answers)-1]
				if watched && !w.broken && a.Err != sequence.Skipped && len(model.Step(op, a)) > 0 {
					return errWrong
				}
				continue
			}
			if later && mayComeLater(op, ops[i+1:]) {
				putOff = append(putOff, op)
				continue
			}
			if op.Kind == KindAlloc {
				again = len(w.addrs)
			}
			if op.Kind == KindClose {
				for _, use := range w.uses() {
					carryOut(use)
				}
			}
			carryOut(op)
		}
		return all
	}
	return run, func() {
		w.leave()
		if user != nil {
			user.leave()
		}
		note(r.Bench, noteLife, first, 0, done, w.answers)
	}
}

// mayComeLater reports whether an operation may be carried out behind others, up to Close.
func mayComeLater(op Op, others []Op) bool {
	end := slices.IndexFunc(others, func(o Op) bool { return o.Kind == KindClose })
	return (op.Kind == KindAlloc || op.Kind == KindFree) && end > 0 &&
		!slices.ContainsFunc(others[:end], func(o Op) bool { return o.Kind != KindAlloc && o.Kind != KindFree })
}

// errWrong ends a life in which nothing was to fail.
var errWrong = errors.New("a wrong answer")

// tenant uses each block in the stream that it was handed out in, so that the trace shows who gets it too early.
type tenant struct {
	b    *suite.Bench
	edge cuda.Event
}

func newTenant(b *suite.Bench) *tenant {
	edge, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
	b.Must(err)
	return &tenant{b, edge}
}

func (t *tenant) leave() { t.b.Must(cuda.EventDestroy(t.edge)) }

func (t *tenant) AllocatedIn(_ int, at cuda.DevicePtr, size int64, s cuda.Stream) {
	if t.b.Session.Holds(device.Ptr(at), size) {
		t.b.Session.Aside(func() { t.b.Must(cuda.MemsetAsync(at, suite.Poison, size, s)) })
	}
}

func (t *tenant) FreeingIn(_ int, _ cuda.DevicePtr, _ int64, from, to cuda.Stream) {
	if from == to {
		return
	}
	t.b.Session.Aside(func() {
		t.b.Must(cuda.EventRecord(t.edge, from))
		t.b.Must(cuda.StreamWaitEvent(to, t.edge))
	})
}

// Allocated comes for no block here: each is handed out in a stream.
func (t *tenant) Allocated(int, cuda.DevicePtr, int64) {}

// Freeing comes before Close, of a block that is still out.
func (t *tenant) Freeing(int, cuda.DevicePtr, int64) {
	t.b.Session.Aside(func() { t.b.Must(cuda.DeviceSynchronize()) })
}

// uses are operations that show whether an allocator still works: one of its blocks comes back, and another goes out.
func (w *walk) uses() (ops []Op) {
	oldest := held{}
	for _, h := range w.live {
		if oldest.block == 0 || h.block < oldest.block {
			oldest = h
		}
	}
	if w.frees() && oldest.block > 0 {
		ops = append(ops, Free(oldest.block).In(oldest.stream))
	}
	in := oldest.stream
	if in == 0 && len(w.streams) > 0 {
		in = Legacy
	}
	return append(ops, Alloc(1).In(in))
}

// givenBack is how many calls of the student's have given something back in the operation that was carried out last.
func (r *Runner) givenBack() (n int) {
	for _, op := range []trace.Op{trace.OpFree, trace.OpFreeAsync, trace.OpMemUnmap, trace.OpMemRelease,
		trace.OpMemAddressFree, trace.OpEventDestroy, trace.OpStreamDestroy} {
		n += len(r.Bench.Session.Since(op))
	}
	return n
}
