package sequence

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
)

// Model knows what an allocator must answer, and is shown one operation after another. Step judges an answer by all that
// came before; after the first Fault it is not asked again.
type Model interface {
	Step(op Op, a Answer) *Fault
}

// Fault is a wrong answer. Message is what was expected and what came instead, as the second half of a sentence that
// begins with the operation: "should have returned contract.ErrInvalidFree, but it returned nil".
type Fault struct{ Rule, Message, Why, Fix string }

// Judge is the first wrong answer and the operation that got it; nil if all are right. Skipped operations, and what a
// gap or a panic left without an answer, are nobody's fault here.
func Judge(ops []Op, answers []Answer, m Model) (at int, f *Fault) {
	for i, a := range answers[:min(len(answers), len(ops))] {
		switch a.Err {
		case Skipped:
			continue
		case Gap, Panic:
			return -1, nil
		}
		if f := m.Step(ops[i], a); f != nil {
			return i, f
		}
	}
	return -1, nil
}

// shrunk is the name under which the shrunk sequences of a name are noted.
func shrunk(name string) string { return name + ", shrunk" }

// Check runs a sequence and has each of the models judge the answers. For a fault it shrinks the sequence and runs the
// shortest one as well. It reports whether the sequence ran to its end and all was right.
func (r *Runner) Check(name string, ops []Op, models ...func() Model) bool {
	answers := r.Run(name, ops)
	right := len(answers) == len(ops)
	told := map[string]bool{}
	for _, model := range models {
		at, fault := Judge(ops, answers, model())
		if fault == nil {
			continue
		}
		right = false
		if told[fault.Rule] {
			continue
		}
		told[fault.Rule] = true
		r.Run(shrunk(name), Shrink(ops[:at+1], func(ops []Op) bool {
			_, f := Judge(ops, r.Try(ops), model())
			return f != nil && f.Rule == fault.Rule
		}))
	}
	return right
}

// Failure is a sequence with a wrong answer.
type Failure struct {
	Record
	At    int // the operation
	Fault *Fault
}

// Failures judges the sequences that Check noted under a name, and answers the shortest that fails for each rule.
func Failures(notes *suite.CaseNotes, name string, model func() Model) []Failure {
	var found []Failure
	at := map[string]int{} // by rule, its place in found
	for _, rec := range slices.Concat(Read(notes, shrunk(name)), Read(notes, name)) {
		i, fault := Judge(rec.Ops, rec.Answers, model())
		if fault == nil {
			continue
		}
		f := Failure{Record: rec, At: i, Fault: fault}
		if known, ok := at[fault.Rule]; !ok {
			at[fault.Rule] = len(found)
			found = append(found, f)
		} else if f.At < found[known].At {
			found[known] = f
		}
	}
	return found
}

// Finding is the failure as a student reads it, on the line of the method that gave the wrong answer. allocator is what
// the sequence begins with, as in Runner.Label.
func (f *Failure) Finding(e *suite.Evidence, allocator string) suite.Finding {
	ops := f.Ops[:f.At+1]
	message := fmt.Sprintf("After %s, %s %s.", allocator, Words(ops), f.Fault.Message)
	if len(ops) > 1 {
		message = fmt.Sprintf("After %s: %s. The last of these %s.", allocator, Words(ops), f.Fault.Message)
	}
	return e.At(suite.Finding{Rule: f.Fault.Rule, Severity: suite.Error, Message: message, Why: f.Fault.Why, Fix: f.Fault.Fix,
		Record: -1}, f.Answers[f.At].Site)
}
