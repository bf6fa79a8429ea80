package allocator

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
)

// Model knows what an allocator must answer, and is shown one operation after another, with what was answered.
type Model interface {
	// Step is what is wrong with an answer by all that came before: of the faults of one part the first counts. A model that
	// has lost its notion of what is right finds nothing more.
	Step(op Op, a Answer) []Fault
	// Blind reports whether what was wrong has kept the model from seeing to the end what a part asks about.
	Blind(part string) bool
}

// Witness is a Model that has to know, beside that it has to have changed nothing, what an operation has done that failed since a CUDA
// call was made to fail.
type Witness interface {
	Failed(op Op, a Answer)
}

// Teller is a Model that can say in words what Stats has said.
type Teller interface {
	InWords(stats []int64) string
}

// Fault is a wrong answer. Message is what was expected and what came instead, as the second half of a sentence that
// begins with the operation: "should have returned contract.ErrInvalidFree, but it returned nil".
type Fault struct {
	Part                    string // the ID of the part that tells it
	Rule, Message, Why, Fix string
	Function                string // the method at fault, where it is not the operation's
	RunsOver                bool   // it tells of a number that was kept in too few bits
}

// WrongError is the fault of an answer that is another than the one wanted; its part is for the model to say.
func WrongError(want Err, a Answer) Fault {
	f := Fault{Rule: "wrong-error", Message: a.InsteadOf(want),
		Why: "The caller finds out with errors.Is what went wrong, and what to do about it.",
		Fix: fmt.Sprintf("Return %v here, or an error that wraps it with %%w.", want)}
	if want == Nil {
		f.Why = "Nothing is wrong with this call: what it asks for is allowed, and can be done."
		f.Fix = fmt.Sprintf("Look at where your code answers %v, and let what the contract allows come by.", a.Err)
		if a.Err == ErrOther {
			f.Fix = cmp.Or(suite.Remedy(a.Details().Text), "Look at where this error comes from; if it names a CUDA call, at what that call is given.")
		}
	}
	return f
}

// In is the fault as one of a part, which is all that is wrong with an answer.
func (f Fault) In(part string) []Fault {
	f.Part = part
	return []Fault{f}
}

// faults are what a model finds wrong with the answers, one after the other, each with its operation. Skipped operations, and
// what a gap or a panic left without an answer, are nobody's fault here.
func faults(ops []Op, answers []Answer, m Model) iter.Seq2[int, Fault] {
	return func(yield func(int, Fault) bool) {
		for i, a := range answers[:min(len(answers), len(ops))] {
			switch a.Err {
			case Skipped:
				continue
			case Gap, Panic:
				return
			}
			for _, f := range m.Step(ops[i], a) {
				if !yield(i, f) {
					return
				}
			}
		}
	}
}

// Judge is the first fault of a part and the operation that has it; nil if there is none.
func Judge(ops []Op, answers []Answer, m Model, part string) (at int, f *Fault) {
	for i, f := range faults(ops, answers, m) {
		if f.Part == part {
			return i, &f
		}
	}
	return -1, nil
}

// shrunk is the name under which the shrunk sequences of a name are noted.
func shrunk(name string) string { return name + ", shrunk" }

// Check runs a sequence and has a model judge the answers. For the first fault of each part it shrinks the sequence and runs
// the shortest one as well, but once for each rule. It reports whether the sequence ran to its end and all was right.
func (r *Runner) Check(name string, ops []Op, model func() Model, parts ...string) bool {
	answers := r.Run(name, ops)
	right := len(answers) == len(ops)
	told := map[string]bool{}
	for _, part := range parts {
		at, fault := Judge(ops, answers, model(), part)
		if fault == nil {
			continue
		}
		right = false
		if told[fault.Rule] {
			continue
		}
		told[fault.Rule] = true
		r.Run(shrunk(name), Shrink(ops[:at+1], func(ops []Op) bool {
			_, f := Judge(ops, r.Try(ops), model(), part)
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
	fresh func() Model // for what led there
	notes *verdict.CaseNotes
}

// Failures judges the sequences that Check noted under a name, or RunAtOnce of these operations, and answers the shortest
// that fails for each rule of a part.
func Failures(notes *verdict.CaseNotes, name string, ops []Op, model func() Model, part string) []Failure {
	var found []Failure
	at := map[string]int{} // by rule, its place in found
	for _, f := range judged(notes, name, ops, model) {
		if f.Fault.Part != part {
			continue
		}
		if known, ok := at[f.Fault.Rule]; !ok {
			at[f.Fault.Rule] = len(found)
			found = append(found, f)
		} else if f.At < found[known].At {
			found[known] = f
		}
	}
	return found
}

// judged are the first faults of each part in the sequences of a name, the shrunk ones before the others. Every sequence is
// gone through once for all parts.
func judged(notes *verdict.CaseNotes, name string, ops []Op, model func() Model) []Failure {
	return verdict.Once(notes, "judged "+name, func() (found []Failure) {
		for _, rec := range slices.Concat(Read(notes, shrunk(name), nil), Read(notes, name, ops)) {
			seen := map[string]bool{} // parts
			for i, f := range faults(rec.Ops, rec.Answers, model()) {
				if !seen[f.Part] {
					seen[f.Part] = true
					found = append(found, Failure{Record: rec, At: i, Fault: &f, fresh: model, notes: notes})
				}
			}
		}
		return found
	})
}

// Finding is the failure as a student reads it, on the line of the method that gave the wrong answer. allocator is what
// the sequence begins with, as in Runner.Label.
func (f *Failure) Finding(e *suite.Evidence, allocator string) verdict.Finding {
	ops := f.Ops[:f.At+1]
	message := fmt.Sprintf("After %s, %s %s.", allocator, Words(ops), f.Fault.Message)
	if len(ops) > 1 {
		message = fmt.Sprintf("After %s: %s. The last of these %s.", allocator, Words(ops), f.Fault.Message)
	}
	found := verdict.Finding{Rule: f.Fault.Rule, Severity: verdict.Error, Message: message, Why: f.Fault.Why, Fix: f.Fault.Fix,
		Record: -1, Function: cmp.Or(f.Fault.Function, methodName(f.Ops[f.At].Kind)), Drawing: f.drawing()}
	if f.Fault.Function != "" {
		return found
	}
	return e.At(found, f.Answers[f.At].Details().Site)
}
