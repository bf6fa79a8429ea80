package sequence

import (
	"cmp"
	"fmt"
	"iter"
	"reflect"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
)

// Model knows what must be answered, and is shown one operation after another, with what was answered.
type Model[O any] interface {
	// Step is what is wrong with an answer by all that came before: of the faults of one part the first counts. A model
	// that has lost its notion of what is right finds nothing more.
	Step(op O, a Answer) []Fault
	// Blind reports whether what was wrong has kept the model from seeing to the end what a part asks about.
	Blind(part string) bool
}

// Fault is a wrong answer. Message is what was expected and what came instead, as the second half of a sentence that
// begins with the operation: "should have returned contract.ErrInvalidFree, but it returned nil".
type Fault struct {
	Part                    string // the ID of the part that tells it
	Rule, Message, Why, Fix string
	Function                string // the method at fault, where it is not the operation's
	Look                    verdict.Look
	RunsOver                bool // it tells of a number that was kept in too few bits
}

// WrongError is the fault of an answer that is another than the one wanted; its part is for the model to say.
func WrongError(want Err, a Answer) Fault {
	f := Fault{Rule: "wrong-error", Message: a.InsteadOf(want), Look: a.Look(want),
		Why: "The caller finds out with errors.Is what went wrong, and what to do about it.",
		Fix: fmt.Sprintf("Return %v here, or an error that wraps it with %%w.", want)}
	if want == Nil {
		f.Why = "Nothing is wrong with this call: what it asks for is allowed, and can be done."
		f.Fix = fmt.Sprintf("Look at where your code answers %v, and let what the contract allows come by.", a.Err)
		if a.Err == ErrOther {
			f.Fix = cmp.Or(suite.Remedy(a.Details().Text),
				"Look at where this error comes from; if it names a CUDA call, at what that call is given.")
		}
	}
	return f
}

// Differing is a look at the first field in which two accounts differ.
func Differing[T any](said, right T) verdict.Look {
	one, other := reflect.ValueOf(said), reflect.ValueOf(right)
	for i := range one.NumField() {
		if !one.Field(i).Equal(other.Field(i)) {
			return verdict.Look{Field: one.Type().Field(i).Name}
		}
	}
	return verdict.Look{}
}

// In  as one of a part, which is all that is wrong with an answer.
func (f Fault) In(part string) []Fault {
	f.Part = part
	return []Fault{f}
}

// Faults are what a model finds wrong with the answers, one after the other, each with its operation. Skipped
// operations, and what a gap or a panic left without an answer, are nobody's fault here.
func Faults[O any](ops []O, answers []Answer, m Model[O]) iter.Seq2[int, Fault] {
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
func Judge[O any](ops []O, answers []Answer, m Model[O], part string) (at int, f *Fault) {
	for i, f := range Faults(ops, answers, m) {
		if f.Part == part {
			return i, &f
		}
	}
	return -1, nil
}
