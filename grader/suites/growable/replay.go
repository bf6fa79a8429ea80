package growable

import (
	"cmp"
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/mapping"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// answer is what came back from New or an operation.
type answer struct {
	bits     uint64
	text     string // the error's own text; "" without one
	ptr      uint64
	len, cap int64
}

// step is one operation of a script that the vector was asked for, with what the trace shows of it.
type step struct {
	op
	answer
	number     int   // of the operation in the script
	before     state // that it found
	begin, end int   // its records
	found      int64 // bytes mapped from Ptr on when it began
	mapped     int64 // and when it had ended
	held       int64 // physical memory when it had ended, in bytes
	// unusable is the first mapping behind the elements that may not be read and written; unmapped says that some of them have none.
	unusable *mapping.Piece
	unmapped bool
}

// ok reports whether the operation has succeeded.
func (s *step) ok() bool { return s.bits&isOther == 0 }

// replay is a script as it went. What the trace shows behind a wrong answer may come of that, and is not judged.
type replay struct {
	script
	e       *suite.Evidence
	notes   *verdict.CaseNotes
	made    *answer // New's; nil where it was not called
	outcome verdict.Outcome
	from    int   // New's records
	to      int   // end here
	held    int64 // physical memory when New had returned
	steps   []step
	right   int   // so many steps, from the first, were answered rightly
	wrong   *told // what is wrong with the one behind them; nil: nothing
}

// told is a finding and the part that tells it.
type told struct {
	part    string
	finding verdict.Finding
}

// replays are the trial's scripts as they went.
func (t *scripts) replays(e *suite.Evidence) []*replay {
	notes := e.Cases[t.ID]
	return verdict.Once(notes, "replays", func() (all []*replay) {
		for _, w := range t.drawn(e) {
			r := &replay{script: w, e: e, notes: notes}
			r.read()
			all = append(all, r)
		}
		return all
	})
}

// answers reads what was noted of a script: a runner is the student's process, and may have noted anything.
func (r *replay) answers() (calls []int, all []answer) {
	for left := r.notes.Values[noteAnswers+r.name]; len(left) >= answerSize; left = left[answerSize:] {
		call := int(min(left[0], uint64(len(r.notes.Outcomes))))
		a := answer{bits: left[1], ptr: left[2], len: int64(left[3]), cap: int64(left[4])}
		if call < len(r.notes.Outcomes) {
			a.text = r.notes.Outcomes[call].Err
		}
		calls, all = append(calls, call), append(all, a)
	}
	return calls, all
}

// read walks through the script.
func (r *replay) read() {
	calls, answers := r.answers()
	if len(answers) == 0 {
		return
	}
	r.made = &answers[0]
	if calls[0] < len(r.notes.Outcomes) {
		r.outcome = r.notes.Outcomes[calls[0]]
	}
	r.from, r.to = r.notes.Window(calls[0])
	var l mapping.Ledger
	at := r.from
	see := func(to int) {
		for ; at < to; at++ {
			l.See(at, &r.notes.Trace.Records[at])
		}
	}
	see(r.to)
	r.held = l.Held()
	now, base := state{layout: r.layout}, r.made.ptr
	calls, answers = calls[1:], answers[1:]
	for i, o := range r.ops {
		if len(answers) == 0 {
			return
		}
		if !o.asked() || r.wrong != nil && o.kind != closes {
			continue
		}
		s := step{op: o, answer: answers[0], number: i, before: now}
		s.begin, s.end = r.notes.Window(calls[0])
		calls, answers = calls[1:], answers[1:]
		see(s.begin)
		s.found = l.Reach(base)
		see(s.end)
		s.mapped, s.held = l.Reach(base), l.Held()
		if s.bits&isGap != 0 {
			return
		}
		if s.ok() {
			now.succeed(o)
		}
		if !now.closed && now.length > 0 {
			p, whole := l.Unusable(base, uint64(now.length)*uint64(now.elem))
			s.unmapped = !whole
			if p != nil {
				piece := *p
				s.unusable = &piece
			}
		}
		r.steps = append(r.steps, s)
		if r.wrong == nil {
			if r.wrong = r.judge(&r.steps[len(r.steps)-1], now); r.wrong == nil {
				r.right++
			}
		}
	}
}

// complete reports whether the script was carried out to its end, with every answer right.
func (r *replay) complete() bool {
	asked := 0
	for _, o := range r.ops {
		if o.asked() {
			asked++
		}
	}
	return r.made != nil && r.right == asked
}

// doing begins a sentence about a step: "Asked to shrink to 3 (operation 4 of "small" with …), the vector".
func (r *replay) doing(s *step) string {
	return fmt.Sprintf("Asked to %s (operation %d of %q with %s), the vector", s.op, s.number+1, r.name, r.layout)
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
	end := r.to
	if len(r.steps) > 0 {
		end = r.steps[len(r.steps)-1].end
	}
	for _, f := range r.notes.Findings {
		if !slices.Contains(rules, f.Rule) || f.Record < r.from || f.Record >= end {
			continue
		}
		in := slices.IndexFunc(r.steps, func(s step) bool { return s.begin <= f.Record && f.Record < s.end })
		if f.Rule == "free-before-use" && in >= 0 && r.steps[in].kind == shrinks {
			f.Fix = "Have Shrink wait, before it unmaps, for all that every stream has been given by then which has appended or is named to it: an event " +
				"that was recorded earlier does not cover what came later."
		}
		found = append(found, f)
	}
	return found
}
