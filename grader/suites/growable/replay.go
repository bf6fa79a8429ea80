package growable

import (
	"cmp"
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/mapping"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// step is one operation of a script that the vector was asked for, with what the trace shows of it.
type step struct {
	op
	sequence.Answer
	len, cap   int64 // as the vector says
	number     int   // of the operation in the script
	before     state // that it found
	begin, end int   // its records
	found      int64 // bytes mapped from Ptr on when it began
	mapped     int64 // and when it had ended
	held       int64 // physical memory when it had ended, in bytes
	// unusable is the first mapping behind the elements that may not be read and written; unmapped says that some of them
	// have none.
	unusable *mapping.Piece
	unmapped bool
}

// ok reports whether the operation has succeeded.
func (s *step) ok() bool { return s.Err == sequence.Nil }

// replay is a script as it went. What the trace shows behind a wrong answer may come of that, and is not judged.
type replay struct {
	script
	layout
	e        *suite.Evidence
	notes    *verdict.CaseNotes
	made     *step // New; nil where it was not called
	outcome  verdict.Outcome
	steps    []step // behind it
	right    int    // so many of them, from the first, were answered rightly
	wrong    *told  // what is wrong with the one behind them; nil: nothing
	refusals []told // those among the right ones that were refused, and should not have been
	ended    bool   // all that could be asked was
	spoilt   int64  // bytes of the elements that were others than they should be when they were looked at
	look     int    // the number of the operation then
}

// told is a finding and the part that tells it.
type told struct {
	part    string
	finding verdict.Finding
}

// newReplay walks through a script.
func newReplay(e *suite.Evidence, notes *verdict.CaseNotes, w script) *replay {
	r := &replay{script: w, layout: w.Layout, e: e, notes: notes}
	if noted := sequence.Read(notes, w.Name, w.Ops, func([3]uint64) op { return op{} }); len(noted) > 0 {
		rec := noted[0]
		if rec.First < len(notes.Outcomes) {
			r.outcome = notes.Outcomes[rec.First]
		}
		r.walk(&rec)
	}
	return r
}

func (r *replay) walk(rec *sequence.Record[op]) {
	at, _ := r.notes.Window(rec.First)
	var l mapping.Ledger
	see := func(to int) {
		for ; at < to; at++ {
			l.See(at, &r.notes.Trace.Records[at])
		}
	}
	now, behind := state{layout: r.layout}, 0
	for i, a := range rec.Answers[:min(len(rec.Answers), len(r.Ops))] {
		o, told := r.Ops[i], numbers(a.Stats())
		if lost := moreOf(a); lost > 0 && r.spoilt == 0 {
			r.spoilt, r.look = lost, i
		}
		if o.ByCaller() || a.Err == sequence.Skipped || r.wrong != nil && behind == 0 {
			continue
		}
		s := step{op: o, Answer: a, len: told[0], cap: told[1], number: i, before: now}
		s.begin, s.end = r.notes.Window(rec.Call(i))
		see(s.begin)
		if i == 0 {
			see(s.end)
			s.held, r.made = l.Held(), &s
			continue
		}
		if broken(a) {
			return
		}
		s.found = l.Reach(r.made.Addr)
		see(s.end)
		s.mapped, s.held = l.Reach(r.made.Addr), l.Held()
		if s.ok() {
			now.succeed(o)
		}
		if !now.closed && now.length > 0 {
			p, whole := l.Unusable(r.made.Addr, uint64(now.length)*uint64(now.elem))
			s.unmapped = !whole
			if p != nil {
				piece := *p
				s.unusable = &piece
			}
		}
		r.steps = append(r.steps, s)
		if r.wrong != nil {
			behind--
		} else if t := r.judge(&r.steps[len(r.steps)-1], now); t == nil {
			r.right++
		} else if r.refusal(o, a) {
			r.refusals, r.right = append(r.refusals, *t), r.right+1
		} else { // its order is judged for so many operations more as there are Closes to come
			behind = len(slices.DeleteFunc(slices.Clone(r.Ops[i+1:]), func(o op) bool { return o.kind != closes }))
			r.wrong = t
		}
	}
	r.ended = len(rec.Answers) >= len(r.Ops)
}

// complete reports whether the script was carried out to its end, with every answer right but refusals.
func (r *replay) complete() bool { return r.made != nil && r.ended && r.wrong == nil }

// doing begins a sentence about a step: "Asked to shrink to 3 (operation 4 of "small" with …), the vector".
func (r *replay) doing(s *step) string {
	return fmt.Sprintf("Asked to %s (operation %d of %q with %s), the vector", s.op, s.number, r.Name, r.layout)
}

// finding is a fault in a step, at the record which is at fault, or where that is -1 on the method's line.
func (r *replay) finding(s *step, record int, f verdict.Finding) []verdict.Finding {
	f.Severity, f.Record, f.Function = cmp.Or(f.Severity, verdict.Error), record, s.method()
	f.Drawing = r.drawing(s)
	if record >= 0 {
		f = r.e.At(f, r.notes.Trace.SiteOf(&r.notes.Trace.Records[record]))
	}
	return []verdict.Finding{f}
}

// calls are the CUDA calls of a step: the index and the record of each.
func (r *replay) calls(s *step) func(yield func(int, *trace.Record) bool) {
	return func(yield func(int, *trace.Record) bool) {
		for at := s.begin; at < s.end; at++ {
			if x := &r.notes.Trace.Records[at]; x.Op != trace.OpMark && x.Phase != trace.Enter && !yield(at, x) {
				return
			}
		}
	}
}

// last is the last successful call of a kind in a step; -1 if there is none.
func (r *replay) last(s *step, op trace.Op) int {
	found := -1
	for at, x := range r.calls(s) {
		if x.Op == op && x.Code == 0 {
			found = at
		}
	}
	return found
}

// ordered are the order checker's findings of some rules in the script.
func (r *replay) ordered(rules ...string) (found []verdict.Finding) {
	if r.made == nil {
		return nil
	}
	end := r.made.end
	if len(r.steps) > 0 {
		end = r.steps[len(r.steps)-1].end
	}
	for _, f := range r.notes.Findings {
		if !slices.Contains(rules, f.Rule) || f.Record < r.made.begin || f.Record >= end {
			continue
		}
		in := slices.IndexFunc(r.steps, func(s step) bool { return s.begin <= f.Record && f.Record < s.end })
		if f.Rule == "free-before-use" && in >= 0 && r.steps[in].kind == shrinks {
			f.Fix = "Have Shrink wait, before it unmaps, for all that every stream has been given by then which has appended " +
				"or is named to it: an event that was recorded earlier does not cover what came later."
		}
		found = append(found, f)
	}
	return found
}
