package run

import (
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// odd is the finding about an error that is wrong by itself, whatever it is about.
func odd(o verdict.Outcome, l locator) verdict.Finding {
	f := verdict.Finding{Rule: o.Odd.Rule, Severity: verdict.Error, Record: -1}
	in := fmt.Sprintf("In the test %q ", o.Label)
	switch o.Odd.Rule {
	case suite.RuleTypedNil:
		f.Message = in + fmt.Sprintf("your code should have returned nil, or an error that says what went wrong, but it "+
			"returned a nil %s as an error: one that is not nil for its caller, and holds nothing.", o.Odd.What)
		f.Why = "An error is a type and a value, and it equals nil only where it has neither: err != nil is true of a nil " +
			"pointer in it."
		f.Fix = fmt.Sprintf("Declare the variable or the result as error instead of %s, and write return nil where nothing "+
			"went wrong.", o.Odd.What)
	case suite.RuleEndlessError:
		f.Message = in + "the error that your code returned should come to an end, but its Unwrap leads from one error to " +
			"the next without end."
		f.Why = "errors.Is and errors.As follow Unwrap until there is nothing left."
		f.Fix = "Return the error that was wrapped, once, or nil where none was; fmt.Errorf with %w does all that."
	default:
		f.Message = in + fmt.Sprintf("the error that your code returned should say of itself only what is true, but its "+
			"method %s answers true to what it cannot be.", o.Odd.What)
		f.Why = "Callers find out with errors.Is and errors.As what went wrong; an error that says yes to everything tells " +
			"them nothing."
		f.Fix = "Leave the method out: wrap the error with %w in fmt.Errorf, and errors.Is and errors.As find what is in it."
	}
	f.Look.Return = o.Returned
	if len(o.Stack) > 0 {
		_, f.Function, _ = cutLast(o.Stack[0].Func)
	}
	return l.at(f, o.Stack)
}

// callsInError is the finding about a CUDA call that a method of an error made, with its caller outside the student's
// code.
func callsInError(n *verdict.CaseNotes, l locator) (verdict.Finding, bool) {
	type result struct {
		verdict.Finding
		found bool
	}
	r := verdict.Once(n, "calls in errors", func() (r result) {
		innocent := map[uint32]bool{}
		for i := range n.Trace.Records {
			record := &n.Trace.Records[i]
			if record.Op == trace.OpMark || innocent[record.Site] {
				continue
			}
			places := l.places(n.Trace.SiteOf(record))
			if len(places) == 0 || !methodOfError(places[len(places)-1].Func) {
				innocent[record.Site] = true
				continue
			}
			_, method, _ := cutLast(places[len(places)-1].Func)
			f := verdict.Finding{Rule: suite.RuleCallsInError, Severity: verdict.Error, Record: i,
				Message: fmt.Sprintf("An error should only say what went wrong, but the method %s of yours makes a call of "+
					"%s here.", method, suite.CallName(record)),
				Why: "An error's methods run whenever somebody looks at it, after your code has returned, or never.",
				Fix: "Make the call before the error is returned, and keep in the error what came of it.",
			}
			return result{l.at(f, n.Trace.SiteOf(record)), true}
		}
		return result{}
	})
	return r.Finding, r.found
}

// methodOfError reports whether a function, without its package, is a method by which others look at an error.
func methodOfError(function string) bool {
	_, method, ok := cutLast(function)
	return ok && slices.Contains([]string{"Error", "Is", "As", "Unwrap"}, method)
}

// cutLast cuts a method's name off its type's.
func cutLast(function string) (of, method string, ok bool) {
	i := strings.LastIndexByte(function, '.')
	if i < 0 {
		return "", function, false
	}
	return function[:i], function[i+1:], true
}
