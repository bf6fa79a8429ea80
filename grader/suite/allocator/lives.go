package allocator

import (
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

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

// wrongByItself finds a life that went wrong although nothing was made to fail in it; nil where there is none.
func (l *lives[Code, L]) wrongByItself() *verdict.Finding {
	faulted := map[int]bool{}
	for _, run := range suite.FaultRuns(l.notes) {
		faulted[run.Index] = true
	}
	for i, o := range l.notes.Outcomes {
		if faulted[i] || i >= len(l.drawn) {
			continue
		}
		f := l.unusable(i)
		if failure := l.failure(i); failure != nil {
			found := failure.Finding(l.e, l.drawn[i].Layout.String())
			f = &found
		} else if f != nil {
			f.Severity, f.Function, f.Message = verdict.Error, "Alloc", strings.ToUpper(f.Message[:1])+f.Message[1:]
		} else if !o.OK() {
			found := suite.UnexpectedError("The allocator", o)
			f = &found
		}
		if f != nil {
			f.Message += " That was in a life beside others in which CUDA calls fail."
			return f
		}
	}
	return nil
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

// after finds what is wrong behind a call that was made to fail: the first wrong answer, or a block that cannot be
// used.
func (l *lives[Code, L]) after(run suite.FaultRun) (found []verdict.Finding) {
	if slices.Contains(l.notes.Values[noteBoth], uint64(run.Index)) {
		found = append(found, bothAnswered(run.What+". New"))
	}
	at := func(record int, f verdict.Finding) verdict.Finding {
		return l.e.At(f, l.notes.Trace.SiteOf(&l.notes.Trace.Records[record]))
	}
	if l.told { // but that a call that failed has changed something shows by itself
		if failure := l.faultOf(run.Index, true); failure != nil {
			f := failure.Finding(l.e, l.drawn[run.Index].Layout.String())
			f.Message = run.What + ". " + f.Message
			found = append(found, at(run.Failed, f))
		}
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
		if l.halfway(run.Index) {
			f.Why, f.Fix = whyHalfway, fixHalfway
		}
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

// reused finds bytes that were handed out behind a call that was made to fail while their last user may still be at
// them. Where that goes wrong without any failure as well, other parts tell of it.
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
func (l *lives[Code, L]) failure(outcome int) *Failure { return l.faultOf(outcome, false) }

// faultOf is the first wrong answer of a run, or with changed the first call that has failed and changed something; nil
// where there is none.
func (l *lives[Code, L]) faultOf(outcome int, changed bool) *Failure {
	if outcome >= len(l.records) {
		return nil
	}
	rec := l.records[outcome]
	at, f := lifeFault(&rec, l.lab.Model(&l.drawn[outcome]), changed)
	if f == nil {
		return nil
	}
	return &Failure{Record: rec, At: at, Fault: f, fresh: func() Model { return l.lab.Model(&l.drawn[outcome]) },
		notes: l.notes}
}

func (l *lives[Code, L]) unusable(outcome int) *verdict.Finding {
	from, to := l.notes.Window(outcome)
	return l.Unusable(l.notes, from, to)
}

// fixUnchanged is how a call that fails leaves the allocator as it was.
func (l *lives[Code, L]) fixUnchanged(run suite.FaultRun) string {
	return fmt.Sprintf("Change what the allocator knows of itself only when %s has succeeded, and nothing where it "+
		"has not.",
		suite.CallName(&l.notes.Trace.Records[run.Failed]))
}

// whyUnchanged is why a call that fails has to leave the allocator as it was.
const whyUnchanged = "Who is told of an error goes on as if the call had not been made, and may make it again."

// halfway reports whether a Close has given something back in a run, and then failed.
func (l *lives[Code, L]) halfway(outcome int) bool {
	return outcome < len(l.records) && slices.ContainsFunc(l.records[outcome].Answers,
		func(a sequence.Answer) bool { return a.Err == sequence.Halfway })
}

const (
	whyHalfway = "Close has failed with a part of it given back, and whoever does not know that goes on."
	fixHalfway = "Answer contract.ErrClosed to everything but Close from the moment on at which Close has given " +
		"something back."
)

// ruleChanged is the rule of an allocator that a call that failed has changed.
const ruleChanged = "changed-by-error"

// lifeFault is the first wrong answer of a sequence in which a call may have been made to fail, and the operation that
// has it. The operation that failed has to have changed nothing, but for a Close or a Trim that has given something
// back. Behind such a Close any answer will do, up to the next: what does harm there shows by itself. With changed no
// answer is held against the model.
func lifeFault(rec *Record, m Model, changed bool) (at int, f *sequence.Fault) {
	var before []int64
	halfway := false
	for i, a := range rec.Answers[:min(len(rec.Answers), len(rec.Ops))] {
		switch {
		case a.Err == sequence.Halfway:
			halfway = true
		case halfway && rec.Ops[i].Kind == KindClose:
			a = a.Sharing(nil) // what Stats says depends on what was done since
		case halfway:
			continue
		}
		switch a.Err {
		case sequence.Skipped:
			continue
		case sequence.Gap, sequence.Panic:
			return -1, nil
		case sequence.Faulted, sequence.Halfway:
			// What Trim has given back by then has gone, as the answer behind it has to say.
			partly := rec.Ops[i].Kind == KindTrim || a.Err == sequence.Halfway
			if !partly && before != nil && !slices.Equal(a.Stats(), before) {
				message := "should have returned that error and left Stats as they were, but they are others now"
				if t, ok := m.(Teller); ok && len(before) == len(a.Stats()) {
					message = fmt.Sprintf("should have returned that error and left Stats at %s, but Stats says %s", t.InWords(before),
						t.InWords(a.Stats()))
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
			if changed {
				break
			}
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
			Message: fmt.Sprintf("the allocator should have handed out memory of its own, but the block of %d bytes lies in "+
				"none that it has allocated.",
				r.Size),
			Why: "Memory outside belongs to somebody else, whose data a kernel would destroy, or to nobody, and then every " +
				"later CUDA call fails.",
			Fix: "Allocate in every New, and count a block's address from what cuda.Malloc returned there."}
	}
	return nil
}
