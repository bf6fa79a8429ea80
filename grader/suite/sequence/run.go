package sequence

import (
	"fmt"

	"cudalab/grader/suite/verdict"
)

// Workload is one thing of the student's, and the operations on it.
type Workload[L fmt.Stringer, O any] struct {
	Name   string // under which its answers are noted
	Layout L      // what New is called with; its String is the call: "slab.New([256 512], 4)"
	Ops    []O
	// Misuse: among the operations are frees that have to be refused. Code that does not refuse them may be right about
	// nothing that follows; see Model.Blind.
	Misuse bool
}

// Run is a workload as it went.
type Run[L fmt.Stringer, O Op] struct {
	Workload[L, O]
	Notes  *verdict.CaseNotes
	Record *Record[O]      // nil where nothing could be made
	Model  Model[O]        // as it is behind the last answer; nil where that was not followed
	Right  int             // so many answers, from the first, were right
	Fresh  func() Model[O] // as it is before the first
}

// Follow has a model see all answers.
func (r *Run[L, O]) Follow() {
	r.Model = r.Fresh()
	if r.Record == nil {
		return
	}
	wrong := false
	for i, a := range r.Record.Answers[:min(len(r.Record.Answers), len(r.Ops))] {
		if a.Err == Gap || a.Err == Panic {
			break
		}
		wrong = a.Err != Skipped && len(r.Model.Step(r.Ops[i], a)) > 0 || wrong
		if !wrong {
			r.Right++
		}
	}
}

// Before reports whether a record is of the sequence, and not behind a wrong answer, of which it may come.
func (r *Run[L, O]) Before(record int) bool {
	if r.Record == nil {
		return false
	}
	from, _ := r.Notes.Window(r.Record.First - 1)
	to := len(r.Notes.Trace.Records)
	if r.Right < len(r.Record.Answers) {
		_, to = r.Notes.Window(r.Record.Call(r.Right))
	} else if next := r.Record.Call(len(r.Record.Answers)) + 1; next < len(r.Notes.Outcomes) {
		to, _ = r.Notes.Window(next)
	}
	return from <= record && record < to
}
