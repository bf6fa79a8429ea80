package allocator

import (
	"cmp"
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
)

// Model knows what an allocator must answer.
type Model = sequence.Model[Op]

// Witness is a Model that has to know, beside that it has to have changed nothing, what an operation has done that
// failed since a CUDA call was made to fail.
type Witness interface {
	Failed(op Op, a sequence.Answer)
}

// Teller is a Model that can say in words what Stats has said.
type Teller interface {
	InWords(stats []int64) string
}

// shrunk is the name under which the shrunk sequences of a name are noted.
func shrunk(name string) string { return name + ", shrunk" }

// Check runs a sequence and has a model judge the answers. For the first fault of each part it shrinks the sequence and
// runs the shortest one as well, but once for each rule. It reports whether the sequence ran to its end and all was
// right.
func (r *Runner) Check(name string, ops []Op, model func() Model, parts ...string) bool {
	answers := r.Run(name, ops)
	right := len(answers) == len(ops)
	told := map[string]bool{}
	for _, part := range parts {
		at, fault := sequence.Judge(ops, answers, model(), part)
		if fault == nil {
			continue
		}
		right = false
		if told[fault.Rule] {
			continue
		}
		told[fault.Rule] = true
		r.Run(shrunk(name), Shrink(ops[:at+1], func(ops []Op) bool {
			_, f := sequence.Judge(ops, r.Try(ops), model(), part)
			return f != nil && f.Rule == fault.Rule
		}))
	}
	return right
}

// Failure is a sequence with a wrong answer.
type Failure struct {
	Record
	At    int // the operation
	Fault *sequence.Fault
	fresh func() Model // for what led there
	notes *verdict.CaseNotes
}

// Failures judges the sequences that Check noted under a name, or RunAtOnce of these operations, and answers the
// shortest that fails for each rule of a part.
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

// judged are the first faults of each part in the sequences of a name, the shrunk ones before the others. Every
// sequence is gone through once for all parts.
func judged(notes *verdict.CaseNotes, name string, ops []Op, model func() Model) []Failure {
	return verdict.Once(notes, "judged "+name, func() (found []Failure) {
		for _, rec := range slices.Concat(Read(notes, shrunk(name), ops), Read(notes, name, ops)) {
			seen := map[string]bool{} // parts
			for i, f := range sequence.Faults(rec.Ops, rec.Answers, model()) {
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
	look := f.Fault.Look
	if !look.Known() && f.Fault.Function == "" {
		look.Block = f.Ops[f.At].Kind == KindAlloc && f.Answers[f.At].Err == sequence.Nil
	}
	found := verdict.Finding{Rule: f.Fault.Rule, Severity: verdict.Error, Message: message, Why: f.Fault.Why,
		Fix: f.Fault.Fix, Look: look,
		Record: -1, Function: cmp.Or(f.Fault.Function, f.Ops[f.At].method()), Drawing: f.drawing(),
		Refused: f.Answers[f.At].Err == sequence.ErrArgument}
	if f.Fault.Function != "" {
		return found
	}
	if f.Answers[f.At].Err == sequence.ErrOther { // CUDA's, as a rule
		from, to := f.notes.Window(f.Call(f.At))
		if placed := e.AtError(found, f.notes, from, to); placed.File != "" {
			placed.Effect = e.At(found, f.Answers[f.At].Details().Site).Line
			return placed
		}
	}
	return f.Answers[f.At].At(e, found)
}
