package allocator

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// Cleanup is the part that asks that Close gives everything back, and that an allocator to which CUDA has refused something is
// as it was before, and goes on working.
type Cleanup[L fmt.Stringer] struct {
	Name     string
	Pass     string // the sentence for a pass, where the usual one will not do
	After    string // of the trial in which every CUDA call fails in turn
	Function string // who answers the error of a call that fails, where it is not "New or Close"
	// Draw draws what becomes of an allocator while calls fail, up to Close: nothing that it must refuse, and always alike in what
	// the code has to call for it.
	Draw func(sequence.Source) Workload[L]
	// Others draw other lives, in which calls come from other places.
	Others  []func(sequence.Source) Workload[L]
	Leaks   map[trace.Op]string // what Close has to do about what it has left, by the call that made it; where it is silent, the order checker's words
	Also    []string            // trials beside the good ones whose allocators must leave nothing behind, either
	Queries bool                // Alloc may ask what is done; an answer other than "not ready" has to come back as any error
	// Recovers is as in suite.FaultJudge.
	Recovers func(*verdict.CaseNotes, suite.FaultRun) bool
	// Unusable finds a block that was handed out between two records and that its user cannot use; nil where there is none. The
	// message begins with "the". Where it is nil, that is a block outside of what was allocated there.
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
	draws := append([]func(sequence.Source) Workload[L]{c.Draw}, c.Others...)
	var trials []*suite.Trial[Code]
	for i, draw := range draws {
		id := "faults"
		if i > 0 {
			id = fmt.Sprintf("faults-%d", i+1)
		}
		trials = append(trials, faultTrial(lab, id, c.After, draw, queries))
	}
	judge := func(e *suite.Evidence) suite.Answer {
		a := suite.Answer{
			Message:  cmp.Or(c.Pass, "Close gave everything back, and a CUDA call that failed was reported and left nothing behind."),
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
		told := slices.ContainsFunc(g.Runs(e), func(r Run[L]) bool { return r.Record != nil && r.Right < len(r.Record.Answers) })
		failed := 0
		for i, t := range trials {
			notes := e.Cases[t.ID]
			lives := newLives(e, t.ID, lab, &c, draws[i])
			lives.told = told
			if len(notes.Outcomes) == 0 || !notes.Outcomes[0].OK() || lives.wrong(0) != "" {
				a.Skip = "The allocator did not work even where no call failed, so this could not be seen."
				return a
			}
			j := suite.FaultJudge{Function: cmp.Or(c.Function, "New or Close"), Retried: "Close", Wrong: lives.wrong, After: lives.after}
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
	return suite.Part[Code]{Cases: g.Trials(trials...), Question: suite.Question{ID: "cleanup", Name: c.Name, Judge: judge}}
}

// faultTrial is a trial in which every call of some lives fails in turn, and the queries that are named.
func faultTrial[Code any, L fmt.Stringer](lab *Lab[Code, L], id, after string, draw func(sequence.Source) Workload[L],
	queries []trace.Op) *suite.Trial[Code] {
	return &suite.Trial[Code]{ID: id, After: after, Drive: func(b *suite.Bench, sides suite.Sides[Code]) {
		from := sequence.NewSource(b, lab.Granular)
		inputs := suite.NewInputs(from.Rand, sequence.Drawing(from, draw))
		b.EveryFault(func(input int) (string, func() error, func()) {
			w := inputs.At(input)
			run, finish := lab.runner(b, sides.Student, &w, nil).lifetime(w.Ops)
			return fmt.Sprintf("%s: %s", w.Layout, Words(w.Ops)), run, finish
		}, queries...)
	}}
}

// noteLife is the name under which the sequences are noted in which calls fail.
const noteLife = "life"

// lifetime takes an allocator through some operations, all in one Call, and answers the errors of all that failed. One in which
// a CUDA call was made to fail is carried out once more, since no other is; where that was a Close that gave nothing back,
// the allocator is used before.
func (r *Runner) lifetime(ops []Op) (run func() error, finish func()) {
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
		w.step(op, func(_ trace.Site, f func() error) bool {
			err = f()
			return true
		})
		done, all = append(done, op), errors.Join(all, err)
		last := &w.answers[len(w.answers)-1]
		if faulted = last.Err == sequence.ErrOther && failing && !r.Bench.Session.Failing(); faulted {
			last.Err = sequence.Faulted
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
		again := 0 // the block that was asked for twice
		for _, op := range ops {
			if w.broken {
				break
			}
			if again > 0 && op.Block >= again {
				op.Block++
			}
			given := r.givenBack()
			if !carryOut(op) {
				continue
			}
			if op.Kind == KindAlloc {
				again = len(w.addrs)
			}
			if op.Kind == KindClose && r.givenBack() == given {
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

// givenBack is how many calls of the student's have given something back in this Call.
func (r *Runner) givenBack() (n int) {
	for _, op := range []trace.Op{trace.OpFree, trace.OpFreeAsync, trace.OpMemUnmap, trace.OpMemRelease, trace.OpMemAddressFree,
		trace.OpEventDestroy, trace.OpStreamDestroy} {
		n += len(r.Bench.Session.Since(op))
	}
	return n
}

// lives are the sequences in which calls failed, as they went.
type lives[Code any, L fmt.Stringer] struct {
	*Cleanup[L]
	e       *suite.Evidence
	notes   *verdict.CaseNotes
	lab     *Lab[Code, L]
	drawn   []Workload[L] // by outcome
	records []Record      // by outcome
	told    bool          // answers were wrong without any failure, which other parts tell
}

func newLives[Code any, L fmt.Stringer](e *suite.Evidence, caseID string, lab *Lab[Code, L], c *Cleanup[L],
	draw func(sequence.Source) Workload[L]) *lives[Code, L] {
	l := &lives[Code, L]{Cleanup: c, e: e, notes: e.Cases[caseID], lab: lab}
	from, ok := sequence.SourceOf(e, caseID, lab.Granular)
	if !ok {
		return l
	}
	l.drawn = suite.FaultInputs(e, caseID, sequence.Drawing(from, draw))
	l.records = make([]Record, len(l.drawn))
	for _, r := range Read(l.notes, noteLife, nil) {
		if r.First < len(l.records) {
			l.records[r.First] = r
		}
	}
	return l
}

// wrong says in a sentence what is wrong with a run in which nothing was made to fail, by its outcome.
func (l *lives[Code, L]) wrong(outcome int) string {
	if f := l.failure(outcome); f != nil {
		return f.Finding(l.e, l.drawn[outcome].Layout.String()).Message
	}
	if f := l.unusable(outcome); f != nil {
		return strings.ToUpper(f.Message[:1]) + f.Message[1:]
	}
	return ""
}

// after finds what is wrong behind a call that was made to fail: the first wrong answer, or a block that cannot be used.
func (l *lives[Code, L]) after(run suite.FaultRun) (found []verdict.Finding) {
	if slices.Contains(l.notes.Values[noteBoth], uint64(run.Index)) {
		found = append(found, bothAnswered(run.What+". New"))
	}
	at := func(record int, f verdict.Finding) verdict.Finding {
		return l.e.At(f, l.notes.Trace.SiteOf(&l.notes.Trace.Records[record]))
	}
	if l.told {
		return found
	}
	if failure := l.failure(run.Index); failure != nil {
		f := failure.Finding(l.e, l.drawn[run.Index].Layout.String())
		f.Message = run.What + ". " + f.Message
		if f.Rule == ruleChanged {
			return append(found, at(run.Failed, f))
		}
		f.Rule += "-on-error"
		failed := slices.IndexFunc(failure.Answers, func(a sequence.Answer) bool { return a.Err == sequence.Faulted })
		if 0 <= failed && failed < failure.At {
			f.Why = whyUnchanged
			f.Fix = l.fixUnchanged(run)
		}
		return append(found, l.e.Because(f, l.notes, run))
	}
	if unusable := l.unusable(run.Index); unusable != nil {
		f := *unusable
		f.Severity, f.Function = verdict.Error, "Alloc"
		f.Message = fmt.Sprintf("%s. After that, %s", run.What, f.Message)
		f.Rule += "-on-error"
		if f.Record >= 0 {
			f = at(f.Record, f)
		}
		found = append(found, l.e.Because(f, l.notes, run))
	}
	return append(found, l.reused(run)...)
}

// reused finds bytes that were handed out behind a call that was made to fail while their last user may still be at them. Where
// that goes wrong without any failure as well, other parts tell of it.
func (l *lives[Code, L]) reused(run suite.FaultRun) (found []verdict.Finding) {
	runs := suite.FaultRuns(l.notes)
	for _, f := range l.notes.Findings {
		in := func(r suite.FaultRun) bool { return r.From <= f.Record && f.Record < r.To }
		switch {
		case f.Rule != ruleReused:
		case !slices.ContainsFunc(runs, in):
			return nil
		case in(run):
			f = suite.OnError(l.notes, f, run.What, "Alloc")
			f.Why, f.Fix = whyUnchanged, l.fixUnchanged(run)
			found = append(found, l.e.Because(f, l.notes, run))
		}
	}
	return found
}

// ruleReused is the order checker's, of bytes that are handed out too early.
const ruleReused = "early-reuse"

// failure is the first wrong answer of a run; nil where there is none.
func (l *lives[Code, L]) failure(outcome int) *Failure {
	if outcome >= len(l.records) {
		return nil
	}
	rec := l.records[outcome]
	at, f := lifeFault(&rec, l.lab.Model(&l.drawn[outcome]))
	if f == nil {
		return nil
	}
	return &Failure{Record: rec, At: at, Fault: f, fresh: func() Model { return l.lab.Model(&l.drawn[outcome]) }, notes: l.notes}
}

func (l *lives[Code, L]) unusable(outcome int) *verdict.Finding {
	from, to := l.notes.Window(outcome)
	return l.Unusable(l.notes, from, to)
}

// fixUnchanged is how a call that fails leaves the allocator as it was.
func (l *lives[Code, L]) fixUnchanged(run suite.FaultRun) string {
	return fmt.Sprintf("Change what the allocator knows of itself only when %s has succeeded, and nothing where it has not.",
		suite.CallName(&l.notes.Trace.Records[run.Failed]))
}

// whyUnchanged is why a call that fails has to leave the allocator as it was.
const whyUnchanged = "Who is told of an error goes on as if the call had not been made, and may make it again."

// ruleChanged is the rule of an allocator that a call that failed has changed.
const ruleChanged = "changed-by-error"

// lifeFault is the first wrong answer of a sequence in which a call may have been made to fail, and the operation that has it.
// The operation that failed has to have changed nothing, but for a Close that has given something back.
func lifeFault(rec *Record, m Model) (at int, f *sequence.Fault) {
	var before []int64
	for i, a := range rec.Answers[:min(len(rec.Answers), len(rec.Ops))] {
		switch a.Err {
		case sequence.Skipped:
			continue
		case sequence.Gap, sequence.Panic:
			return -1, nil
		case sequence.Faulted:
			halfway := rec.Ops[i].Kind == KindClose && i+1 < len(rec.Ops) && rec.Ops[i+1].Kind == KindClose
			if !halfway && before != nil && !slices.Equal(a.Stats(), before) {
				message := "should have returned that error and left Stats as they were, but they are others now"
				if t, ok := m.(Teller); ok && len(before) == len(a.Stats()) {
					message = fmt.Sprintf("should have returned that error and left Stats at %s, but Stats says %s", t.InWords(before), t.InWords(a.Stats()))
				}
				return i, &sequence.Fault{Rule: ruleChanged,
					Message: message,
					Why:     whyUnchanged,
					Fix:     "Change what the allocator knows of itself only when all CUDA calls have succeeded."}
			}
			if w, ok := m.(Witness); ok {
				w.Failed(rec.Ops[i], a)
			}
		default:
			for _, f := range m.Step(rec.Ops[i], a) {
				return i, &f
			}
		}
		before = a.Stats()
	}
	return -1, nil
}

// outsideOfAll finds a block that lies in none of the allocations that were made between two records.
func outsideOfAll(notes *verdict.CaseNotes, from, to int) *verdict.Finding {
	made := map[trace.ID]*trace.Record{}
	for at := from; at < to; at++ {
		r := &notes.Trace.Records[at]
		if r.Op != trace.OpBlockAlloc {
			if r.Alloc != 0 && r.Code == 0 && r.Size > 0 {
				made[r.Alloc] = r
			}
			continue
		}
		around := made[trace.ID(r.Value)]
		if around != nil && r.Addr >= around.Addr && r.Addr+uint64(r.Size) <= around.Addr+uint64(around.Size) {
			continue
		}
		return &verdict.Finding{Rule: "outside", Record: -1,
			Message: fmt.Sprintf("the allocator should have handed out memory of its own, but the block of %d bytes lies in none that it has allocated.",
				r.Size),
			Why: "Memory outside belongs to somebody else, whose data a kernel would destroy, or to nobody, and then every later CUDA call fails.",
			Fix: "Allocate in every New, and count a block's address from what cuda.Malloc returned there."}
	}
	return nil
}
