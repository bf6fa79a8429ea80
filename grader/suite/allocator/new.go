package allocator

import (
	"errors"
	"reflect"

	"cudalab/grader/suite"
	"cudalab/native/session"
)

// OrNil is the allocator that a student's New has answered, as the lesson's interface I: nil where it is a nil pointer, or
// nothing at all.
func OrNil[I any](a any) (none I) {
	if v := reflect.ValueOf(a); !v.IsValid() || v.IsZero() {
		return none
	}
	return a.(I)
}

// errNothing is a New's that answers neither an allocator nor an error.
var errNothing = errors.New("neither an allocator nor an error")

// noteBoth is what was noted of a New that answered an allocator with its error: the number of its Call.
const noteBoth = "both"

// newSubject calls New.
func (lab *Lab[Code, L]) newSubject(b *suite.Bench, code Code, l L) (Subject, error) {
	s, err := lab.New(code, l)
	switch {
	case err == nil && s.Allocator == nil:
		err = errNothing
	case err != nil && s.Allocator != nil && session.Current() == b.Session: // not in a Try
		b.Value(noteBoth, uint64(b.Calls()-1))
	}
	return s, err
}

// notMade is the finding where no allocator was made.
func notMade(o suite.Outcome) suite.Finding {
	if o.Err != errNothing.Error() {
		return suite.UnexpectedError("New", o)
	}
	return suite.Finding{
		Rule: "no-allocator", Severity: suite.Error, Record: -1, Function: "New",
		Message: o.Label + " should have answered an allocator, but it answered nil, and no error.",
		Why:     "Who is told of no error goes on with the allocator, and a nil pointer has no fields: the next call panics.",
		Fix:     "Return the allocator that New has made, and nil as its error.",
	}
}

// bothAnswered is the finding where New answered an allocator with its error. The message begins with when that was.
func bothAnswered(when string) suite.Finding {
	return suite.Finding{
		Rule: "allocator-with-error", Severity: suite.Error, Record: -1, Function: "New",
		Message: when + " should have answered a nil allocator with its error, but it answered one that is not nil.",
		Why:     "What New could not make whole has no memory to hand out, and who gets an allocator may use it, or try to close it.",
		Fix:     "Return nil beside every error of New: return nil, err.",
	}
}
