package allocator

import (
	"cmp"
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
)

// Arguments is the part that asks for bad arguments to be refused, and what becomes of good ones that cannot be had.
type Arguments[L fmt.Stringer] struct {
	Name, After string // of the part, and of its trial
	Bad         []L
	// Lacking are asked for behind the bad ones: they are right, but no device has what they ask for. Wrong says what is wrong with
	// the answer to that, if anything is.
	Lacking []L
	Wrong   func(verdict.Outcome) (f verdict.Finding, wrong bool)
	// Good are as like the bad ones as good ones can be. Behind them the bad ones are asked for once more: code that has once found
	// its arguments good has to look at them again.
	Good []L
	suite.Refusal
}

// Arguments is the part.
func (lab *Lab[Code, L]) Arguments(args Arguments[L]) suite.Part[Code] {
	t := &suite.Trial[Code]{ID: "arguments", After: args.After, Drive: func(b *suite.Bench, sides suite.Sides[Code]) {
		make := func(b *suite.Bench, l L) (s Subject, o verdict.Outcome) {
			o = b.Call(l.String(), func() (err error) {
				s, err = lab.newSubject(b, sides.Student, l)
				return err
			})
			return s, o
		}
		for _, l := range slices.Concat(args.Bad, args.Lacking) {
			make(b, l)
		}
		for _, l := range args.Good {
			whole := b.Beyond(func(b *suite.Bench) verdict.Outcome {
				s, o := make(b, l)
				if o.OK() {
					o = b.Call(phrase(Close), s.Allocator.Close)
				}
				return o
			})
			if !whole.OK() {
				return // other parts tell of it
			}
		}
		for _, l := range args.Bad {
			make(b, l)
		}
	}}
	judge := func(e *suite.Evidence) suite.Answer {
		first := len(args.Bad) + len(args.Lacking)
		again := first + 2*len(args.Good)
		a := e.JudgeArguments(t.ID, 0, len(args.Bad), args.Refusal)
		notes := e.Cases[t.ID]
		if len(notes.Outcomes) < first {
			a.Skip = cmp.Or(a.Skip, "Not every argument could be tried.")
			return a
		}
		for _, o := range notes.Outcomes[len(args.Bad):first] {
			if f, wrong := args.Wrong(o); wrong {
				f.Severity, f.Record, f.Function = verdict.Error, -1, "New"
				a.Findings = append(a.Findings, f)
			}
		}
		if len(a.Findings) == 0 && len(notes.Outcomes) > again {
			a.Findings = e.JudgeArgumentsAgain(t.ID, again, again+len(args.Bad), args.Refusal)
		}
		for _, call := range notes.Values[noteBoth] {
			if call < uint64(len(notes.Outcomes)) {
				a.Findings = append(a.Findings, bothAnswered(notes.Outcomes[call].Label))
			}
		}
		a.Findings = verdict.Unique(a.Findings)
		return a
	}
	return suite.Part[Code]{Cases: []*suite.Trial[Code]{t}, Question: suite.Question{ID: t.ID, Name: args.Name, Judge: judge}}
}

// Refused is what is wrong where arguments were refused that no device has the memory for.
func Refused(o verdict.Outcome) (f verdict.Finding, wrong bool) {
	return verdict.Finding{
		Rule: "wrong-error",
		Message: o.Label + " should have returned the error of cuda.Malloc, since its arguments are good and only the memory is lacking, " +
			"but it returned contract.ErrArgument.",
		Why: "The caller finds out with errors.Is whether the arguments were at fault or the device.",
		Fix: "Refuse only what New's comment rules out.",
	}, o.Argument
}
