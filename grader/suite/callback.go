package suite

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// The marks that Callback leaves in the trace.
const (
	markEnter = "enter "
	markLeave = "leave "
	markFail  = "fail " // where it answered an error
)

// Callback runs what the code under test was given to call, and brackets it in the trace: what it does is the grader's,
// so Call.Records leaves it out. Messages call it by the name of the student's parameter.
func (b *Bench) Callback(name string, f func() error) error {
	b.Session.MarkHere(markEnter + name)
	end := markFail
	defer func() { b.Session.Mark(end + name) }()
	defer b.Session.Guest(b.Session.Guest(false))
	err := f()
	if err == nil {
		end = markLeave
	}
	return err
}

// Callback is the Bench's, in a call that has to pass on the error that f may answer.
func (s *Stage) Callback(name string, f func() error) error {
	err := s.Bench.Callback(name, f)
	if err != nil {
		s.failed = err
	}
	return err
}

// notePassedOn is noted of a call that answered what its callback had answered, an error, or one that wraps it.
const notePassedOn = "callback's error passed on"

// answered is told what a call has answered.
func (s *Stage) answered(err error) error {
	if s.failed != nil && errors.Is(Sound(err), s.failed) {
		s.Note(notePassedOn, nil)
	}
	s.failed = nil
	return err
}

// CallbackErrors judges a trial in each of whose calls what the code calls back, name, has answered an error: it has to
// be passed on, and nothing may be left behind. What goes wrong in good trials as well is told there.
func (g *Good[Code, W]) CallbackErrors(e *Evidence, r *Runs[Code, W], name, function string,
	ignored Rule) (found []verdict.Finding) {
	if g.Incomplete(e) != "" || verdict.HasError(e.Of(verdict.EndRules, g.IDs()...)) {
		return nil
	}
	notes := e.Cases[r.ID]
	for _, f := range notes.Findings {
		if slices.Contains(verdict.EndRules, f.Rule) {
			found = append(found, OnError(notes, f, "As a test, "+name+" returned an error", function))
		}
	}
	for _, m := range r.Made(e) {
		if m.Noted(notePassedOn) != nil {
			continue
		}
		made, at := m.Callbacks(), -1
		for _, back := range made {
			if back.Failed {
				at = back.From - 1
			}
		}
		if at < 0 && len(made) > 0 {
			continue // it was called less often than it should have been, and never failed
		}
		found = append(found, m.At(at, verdict.Finding{Rule: ignored.ID, Function: function, Why: ignored.Why,
			Fix: ignored.Fix,
			Message: fmt.Sprintf("As a test, %s returned an error. %s should have returned it too (errors.Is looks for it), "+
				"but did not.", name, function)}))
	}
	return verdict.Unique(found)
}

// Callback is one call that the code under test has made of what it was given: the records at From up to To are of what
// that did, and the one before From has the student's line.
type Callback struct {
	Name     string
	From, To int
	Failed   bool // it answered an error
}

// Callbacks are those that the call has made, in their order.
func (c *Call) Callbacks() (made []Callback) {
	for _, back := range callbacks(c.Notes) {
		if c.From <= back.From && back.From < c.To {
			made = append(made, back)
		}
	}
	return made
}

// CallNameAt is the call of a record as the student wrote it: what they were given to call, or one of CUDA's.
func CallNameAt(c *verdict.CaseNotes, at int) string {
	if back, ok := callback(c, at); ok {
		return back.Name
	}
	return CallName(&c.Trace.Records[at])
}

// callback is the one that a record is of; ok is false where it is none's.
func callback(c *verdict.CaseNotes, at int) (back Callback, ok bool) {
	for _, back := range callbacks(c) {
		if back.From <= at && at < back.To {
			return back, true
		}
	}
	return Callback{}, false
}

// callbacks are all of the case. Each lies in one call, which it does not outlast.
func callbacks(c *verdict.CaseNotes) []Callback {
	return verdict.Once(c, "callbacks", func() (all []Callback) {
		open := false
		for at := range c.Trace.Records {
			r := &c.Trace.Records[at]
			if r.Op != trace.OpMark {
				continue
			}
			name, enters := strings.CutPrefix(r.Label, markEnter)
			switch {
			case enters:
				all = append(all, Callback{Name: name, From: at + 1, To: len(c.Trace.Records)})
				open = true
			case open && (strings.HasPrefix(r.Label, markLeave) || strings.HasPrefix(r.Label, markFail)):
				last := &all[len(all)-1]
				last.To, last.Failed = at, strings.HasPrefix(r.Label, markFail)
				open = false
			}
		}
		return all
	})
}
