package suite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cudalab/exercises/contract"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// Refusal is a lesson's own words about arguments that have to be refused.
type Refusal struct {
	// Function was given what the label of a call says: "Run". It is empty where the label is the whole call:
	// "slab.New([], 4)".
	Function string
	Pass     string // the sentence for a pass, where the usual one will not do
	Why      string // of a late check; where it is empty, that what was not made need not be undone
	Fix      string // which arguments to answer contract.ErrArgument to
	FixLate  string // what to look at before the first CUDA call
	// the gap that refuses them; "" for the first of the skeleton: a call that comes to a later one was not refused
	Gap string
	// Allowed are calls without which one cannot tell that an argument is bad, and which make nothing.
	Allowed []trace.Op
}

// Refusals are calls with bad arguments, each of which has to be refused before anything is made.
type Refusals[Code any] struct {
	Trial[Code]
	calls  int
	words  Refusal
	behind *GoodCall[Code]
}

// GoodCall is a call with good arguments that is made behind others.
type GoodCall[Code any] struct {
	Make func(*Bench, Code) verdict.Outcome
	// about is the evidence about it where it was the n-th call of a case; nil where no part asks about such calls.
	about func(e *Evidence, caseID string, n int) *Evidence
}

// NewRefusals is a trial that has drive make each of the bad calls, in a Call of its own.
func NewRefusals[Code, Bad any](id, after string, bad []Bad, drive func(*Bench, Code, Bad) verdict.Outcome,
	words Refusal) *Refusals[Code] {
	words.Gap = after
	r := &Refusals[Code]{Trial: Trial[Code]{ID: id, After: after}, calls: len(bad), words: words}
	all := func(b *Bench, code Code) (complete bool) {
		complete = true
		for _, call := range bad {
			o := drive(b, code, call)
			complete = complete && o.Gap == ""
		}
		return complete
	}
	r.Drive = func(b *Bench, sides Sides[Code]) {
		if all(b, sides.Student) && r.behind != nil {
			if o := b.Beyond(func(b *Bench) verdict.Outcome { return r.behind.Make(b, sides.Student) }); o.OK() {
				all(b, sides.Student)
			}
		}
	}
	return r
}

// Behind has the bad calls made a second time behind a good one: code that has once found its arguments good has to
// look at them again.
func (r *Refusals[Code]) Behind(good GoodCall[Code]) *Refusals[Code] {
	r.behind = &good
	return r
}

// Further is the good call.
func (r *Refusals[Code]) Further() Further {
	return Further{Where: "That was a call behind some that were refused; the others were as they should be.",
		About: func(e *Evidence) *Evidence {
			if e.Cases[r.ID] == nil {
				return nil
			}
			return r.behind.about(e, r.ID, r.calls)
		}}
}

// Call makes a call with a good workload, for Refusals.Behind.
func (sc *Scene[Code, W]) Call(w W) GoodCall[Code] {
	return GoodCall[Code]{
		Make: func(b *Bench, code Code) verdict.Outcome {
			s, number := b.NewStage(), b.Calls()
			call := sc.Set(s, w)
			o := b.Call(w.Label(), func() error { return call(code, w) })
			s.goOn(o.OK())
			s.settle()
			s.note("", number)
			s.Close()
			return o
		},
		about: func(e *Evidence, caseID string, n int) *Evidence {
			return only(e, caseID, madeOf(e, caseID, func() []W { return []W{w} }), n)
		},
	}
}

// Bad is a workload that has to be refused, and what is bad about it, in words.
type Bad[W Workload] struct {
	Label string
	W     W
}

// Refuse makes a bad call; see NewRefusals.
func (sc *Scene[Code, W]) Refuse(b *Bench, code Code, bad Bad[W]) verdict.Outcome {
	s := b.NewStage()
	call := sc.Set(s, bad.W)
	o := b.Call(bad.Label, func() error { return call(code, bad.W) })
	s.Close()
	return o
}

// Refusing are the usual words about a function that has to look at all of its arguments before it calls CUDA.
func Refusing(function, fix string) Refusal {
	return Refusal{Function: function, Fix: fix,
		Why:     "An argument that is refused before the first CUDA call leaves nothing to undo.",
		FixLate: "Look at all the arguments before the first CUDA call."}
}

// Arguments is the part that asks for bad arguments to be refused.
func Arguments[Code any](name string, refusals ...*Refusals[Code]) Part[Code] {
	p := Part[Code]{Question: Question{ID: "arguments", Name: name, Aside: true}}
	for _, r := range refusals {
		p.Cases = append(p.Cases, &r.Trial)
	}
	p.Judge = func(e *Evidence) Answer {
		a := Answer{Message: cmp.Or(refusals[0].words.Pass, "Bad arguments are refused, and nothing was touched.")}
		skip := ""
		for _, r := range refusals {
			one := e.JudgeArguments(r.ID, 0, r.calls, r.words)
			a.Findings = append(a.Findings, one.Findings...)
			skip = one.Skip
			if len(one.Findings) == 0 && r.behind != nil {
				again := e.JudgeArgumentsAgain(r.ID, r.calls+1, 2*r.calls+1, r.words)
				a.Findings = append(a.Findings, again...) // what is not yet complete never comes so far
			}
		}
		a.Findings = verdict.Unique(a.Findings)
		if len(a.Findings) == 0 {
			a.Skip = skip
		}
		return a
	}
	return p.Deeper(func(e *Evidence) (found []verdict.Finding) {
		for _, r := range refusals {
			if r.behind != nil {
				found = append(found, e.behindRefusals(r.ID, r.calls, r.words.Function)...)
			}
		}
		return found
	})
}

// behindRefusals finds that a good call behind bad ones, the n-th of a case, did not return nil.
func (e *Evidence) behindRefusals(caseID string, n int, function string) []verdict.Finding {
	all := e.Cases[caseID].Outcomes
	if n >= len(all) || all[n].OK() || all[n].Panic != "" {
		return nil
	}
	f := UnexpectedError(cmp.Or(function, "It"), all[n])
	f.Message += " Before that, bad arguments had been refused."
	f.Function = function
	return []verdict.Finding{f}
}

// JudgeArgumentsAgain judges the same calls when they are made once more, behind a good one; the first time all were
// refused as they should be.
func (e *Evidence) JudgeArgumentsAgain(caseID string, from, to int, r Refusal) []verdict.Finding {
	found := e.JudgeArguments(caseID, from, to, r).Findings
	for i := range found {
		found[i].Message += " Before there had been a good call, it was refused as it should be."
		found[i].Fix = "Look at the arguments anew in each call, whatever an earlier one has found."
	}
	return found
}

// JudgeArguments judges the calls of a case from one up to another, which all have to be refused before anything is
// made.
func (e *Evidence) JudgeArguments(caseID string, from, to int, r Refusal) Answer {
	notes := e.Cases[caseID]
	a := Answer{Message: "Bad arguments are refused, and nothing was touched."}
	for i := from; i < min(to, len(notes.Outcomes)); i++ {
		o := notes.Outcomes[i]
		f := verdict.Finding{Severity: verdict.Error, Record: -1, Function: r.Function, Why: r.why(), Fix: r.Fix,
			Look: verdict.Look{Return: o.Returned}}
		switch {
		case o.Panic != "": // told as the panic that it is
		case o.OK():
			f.Rule, f.Look.Want = "bad-argument-accepted", "ErrArgument"
			f.Message = fmt.Sprintf("%s should have returned an error, but it returned nil.", r.subject(o))
			a.Findings = append(a.Findings, f)
		case o.Gap > cmp.Or(r.Gap, "1a"):
			f.Rule = "bad-argument-accepted"
			f.Message = fmt.Sprintf("%s should have returned contract.ErrArgument, but it went on, to TODO(%s).", r.subject(o),
				o.Gap)
			a.Findings = append(a.Findings, f)
		case !o.Argument:
			f.Rule, f.Gap, f.Look.Want = "wrong-error", o.Gap, "ErrArgument"
			f.Message = fmt.Sprintf("%s should have returned contract.ErrArgument, but it returned: %s.", r.subject(o),
				strings.TrimSuffix(o.Err, "."))
			f.Why = "The caller finds out with errors.Is whether the arguments were at fault or the device."
			if strings.Contains(o.Err, contract.ErrArgument.Error()) && o.Gap == "" { // it says so, but is not
				f.Message += " That has the text of contract.ErrArgument, but errors.Is does not find it there."
				f.Fix = "Return contract.ErrArgument itself, or have fmt.Errorf wrap it with %w, which keeps what it is; %v and " +
					"Error keep its text alone."
			}
			a.Findings = append(a.Findings, f)
		}
		late := e.LateCheck(notes, i, r)
		for k := range late {
			if f.Rule != "" { // what was not refused goes on to CUDA
				late[k].Follows = &verdict.Cause{Rule: f.Rule}
			}
		}
		a.Findings = append(a.Findings, late...)
	}
	a.Findings = verdict.Unique(a.Findings)
	if len(a.Findings) == 0 && len(notes.Outcomes) < to {
		a.Skip = "Not every bad argument could be tried."
	}
	return a
}

// LateCheck finds the first CUDA call that was made in a case's call i, which should have been refused before.
func (e *Evidence) LateCheck(notes *verdict.CaseNotes, i int, r Refusal) []verdict.Finding {
	before := "any CUDA call"
	if len(r.Allowed) > 0 {
		before = "it made anything"
	}
	from, to := notes.Window(i)
	for at := from; at < to; at++ {
		made := &notes.Trace.Records[at]
		if made.Op == trace.OpMark || made.Phase == trace.Leave || slices.Contains(r.Allowed, made.Op) {
			continue
		}
		return []verdict.Finding{e.At(verdict.Finding{
			Rule: "late-argument-check", Severity: verdict.Error, Record: at,
			Message: fmt.Sprintf("%s should have refused before %s, but it called %s first.", r.subject(notes.Outcomes[i]),
				before, CallNameAt(notes, at)),
			Why: r.why(), Fix: r.FixLate,
		}, notes.Trace.SiteOf(made))}
	}
	return nil
}

// subject begins a sentence about a call that has to be refused.
func (r *Refusal) subject(o verdict.Outcome) string {
	if r.Function == "" {
		return o.Label
	}
	return fmt.Sprintf("%s was given %s: it", r.Function, o.Label)
}

func (r *Refusal) why() string {
	if r.Why != "" {
		return r.Why
	}
	return "An argument that is refused before anything is made leaves nothing to undo."
}
