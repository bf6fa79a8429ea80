package allocator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// Arguments is the part that asks for bad arguments to be refused, and what becomes of good ones that cannot be had.
type Arguments[L fmt.Stringer] struct {
	Name, After string // of the part, and of its trial
	Bad         []L
	// Lacking are asked for behind the bad ones: they are right, but no device has what they ask for. Wrong says what is
	// wrong with the answer to that, if anything is.
	Lacking []L
	Wrong   func(verdict.Outcome) (f verdict.Finding, wrong bool)
	// Uncountable, if set, reports which of them the code may refuse itself, as an int64 cannot count what they come to.
	Uncountable func(L) bool
	// Good are as like the bad ones as good ones can be. Behind them the bad ones are asked for once more: code that has
	// once found its arguments good has to look at them again.
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
				return
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
		for i, o := range notes.Outcomes[len(args.Bad):first] {
			if o.Argument && args.Uncountable != nil && args.Uncountable(args.Lacking[i]) {
				continue
			}
			f, wrong := args.Wrong(o)
			if !wrong && !o.OK() && !ofCUDA(notes, len(args.Bad)+i) {
				f, wrong = invented(o), true
			}
			if wrong {
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
	p := suite.Part[Code]{Cases: []*suite.Trial[Code]{t},
		Question: suite.Question{ID: t.ID, Name: args.Name, Judge: judge, Aside: true}}
	return p.Deeper(func(e *suite.Evidence) (found []verdict.Finding) {
		outcomes := e.Cases[t.ID].Outcomes
		for _, o := range outcomes[min(len(outcomes), len(args.Bad)+len(args.Lacking)):] {
			if !o.OK() && !o.Argument {
				found = append(found, suite.UnexpectedError("The allocator", o))
			}
		}
		for i := range args.Good {
			at := len(args.Bad) + len(args.Lacking) + 2*i
			found = append(found, lab.Between.InNew(e, e.Cases[t.ID], at)...)
			found = append(found, lab.Between.inClose(e, e.Cases[t.ID], at+1)...)
		}
		return append(found, e.Of(verdict.EndRules, t.ID)...)
	})
}

// ofCUDA reports whether a call of CUDA's failed in a Call, or its error is one that CUDA has for that: who can tell
// without asking may.
func ofCUDA(notes *verdict.CaseNotes, call int) bool {
	from, to := notes.Window(call)
	return strings.Contains(notes.Outcomes[call].Err, "CUDA_ERROR_") ||
		slices.ContainsFunc(notes.Trace.Records[from:to], func(r trace.Record) bool { return r.Code != 0 })
}

// invented is the finding where arguments that no device has the memory for got an error that is none of CUDA's.
func invented(o verdict.Outcome) verdict.Finding {
	f := suite.UnexpectedError("New", o)
	f.Rule = "wrong-error"
	f.Message = fmt.Sprintf("%s should have returned CUDA's error, since its arguments are good and only the device "+
		"lacks what they ask for, but it returned: %s.", o.Label, strings.TrimSuffix(o.Err, "."))
	return f
}

// Refused is what is wrong where arguments were refused that no device has the memory for.
func Refused(o verdict.Outcome) (f verdict.Finding, wrong bool) {
	return verdict.Finding{
		Rule: "wrong-error",
		Message: o.Label + " should have returned the error of cuda.Malloc, since its arguments are good and only the " +
			"memory is lacking, but it returned contract.ErrArgument.",
		Why: "The caller finds out with errors.Is whether the arguments were at fault or the device.",
		Fix: "Refuse only what New's comment rules out.", Refused: true,
	}, o.Argument
}
