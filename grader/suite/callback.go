package suite

import (
	"strings"

	"cudalab/native/trace"
)

// The marks that Callback leaves in the trace.
const (
	markEnter = "enter "
	markLeave = "leave "
)

// Callback runs what the code under test was given to call, and brackets it in the trace: what it does is the grader's, so
// Call.Records leaves it out. Messages call it by the name of the student's parameter.
func (b *Bench) Callback(name string, f func() error) error {
	b.Session.Mark(markEnter + name)
	defer b.Session.Mark(markLeave + name)
	return f()
}

// Callback is one call that the code under test has made of what it was given: the records at From up to To are of what that
// did, and the one before From has the student's line.
type Callback struct {
	Name     string
	From, To int
}

// Callbacks are those that the call has made, in their order.
func (c *Call) Callbacks() (made []Callback) {
	for _, back := range c.Notes.callbacks() {
		if c.From <= back.From && back.From < c.To {
			made = append(made, back)
		}
	}
	return made
}

// callbacks are all of the case. Each lies in one call, which it does not outlast.
func (c *CaseNotes) callbacks() []Callback {
	return Once(c, "callbacks", func() (all []Callback) {
		open := false
		for at := range c.Trace.Records {
			r := &c.Trace.Records[at]
			if r.Op != trace.OpMark {
				continue
			}
			name, enters := strings.CutPrefix(r.Label, markEnter)
			switch {
			case enters:
				all = append(all, Callback{name, at + 1, len(c.Trace.Records)})
				open = true
			case open && strings.HasPrefix(r.Label, markLeave):
				all[len(all)-1].To = at
				open = false
			}
		}
		return all
	})
}

// callback is the one that a record is of; ok is false where it is none's.
func (c *CaseNotes) callback(at int) (back Callback, ok bool) {
	for _, back := range c.callbacks() {
		if back.From <= at && at < back.To {
			return back, true
		}
	}
	return Callback{}, false
}

// CallName is the call of a record as the student wrote it: what they were given to call, or one of CUDA's.
func (c *CaseNotes) CallName(at int) string {
	if back, ok := c.callback(at); ok {
		return back.Name
	}
	return CallName(&c.Trace.Records[at])
}
