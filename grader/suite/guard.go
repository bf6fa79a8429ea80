package suite

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"

	"cudalab/exercises/contract"
	"cudalab/grader/suite/returned"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/native/trace"
)

// guard runs the student's code and keeps what it returned: the methods of an error may be the student's as well.
func guard(o *verdict.Outcome, f func() error) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if odd, ok := v.(oddError); ok {
			o.Err, o.Odd, o.Returned = "an error that is none: "+odd.What, odd.Odd, returned.Last
			if len(odd.where) > 0 {
				o.Stack = odd.where
			}
			return
		}
		if gap, ok := v.(*contract.Gap); ok && gap != nil { // of a function that answers no error
			keep(o, gap)
			return
		}
		o.Stack = panickedAt()
		if r, ok := v.(*session.Runaway); ok {
			o.Runaway, o.Panic = true, r.Error()
			return
		}
		o.Panic = bounded(fmt.Sprint(v))
	}()
	returned.Last = returned.Lines{}
	err := f()
	o.Returned = returned.Last
	keep(o, err)
}

// keep takes an error apart.
func keep(o *verdict.Outcome, err error) {
	if err == nil {
		return
	}
	o.Err = "an error without a text"
	err = Sound(err)
	if text := err.Error(); text != "" {
		o.Err = bounded(text)
	}
	o.Argument = errors.Is(err, contract.ErrArgument)
	var gap *contract.Gap
	if errors.As(err, &gap) && gap != nil {
		o.Gap = bounded(gap.ID)
		if others := besidesGaps(err); len(others) > 0 {
			o.Besides, o.Err = true, bounded(errors.Join(others...).Error())
		}
	}
}

// besidesGaps are the errors that are joined in a sound one and have nothing to do with gaps.
func besidesGaps(err error) (others []error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			if e != nil {
				others = append(others, besidesGaps(e)...)
			}
		}
		return others
	}
	if gap := (*contract.Gap)(nil); errors.As(err, &gap) {
		return nil
	}
	return []error{err}
}

// panickedAt is where the panic began that a deferred function, which calls this, has recovered. The grader's functions
// in between that have looked at it and let it go on are not part of that: their own panics come after the first on the
// stack.
func panickedAt() trace.Site {
	site := trace.Callers(2)
	for i := len(site) - 1; i >= 0; i-- {
		if site[i].Func == "runtime.gopanic" {
			return site[i+1:]
		}
	}
	return site
}

// maxText is how many bytes of a text of the student's are kept, to be read by people.
const maxText = 4 << 10

// bounded is the start of a text.
func bounded(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + " …"
}

// The rules of errors.
const (
	RuleTypedNil     = "typed-nil-error"
	ruleLyingError   = "lying-error"
	RuleEndlessError = "endless-error"
	// RuleCallsInError is for CUDA calls that a method of an error makes.
	RuleCallsInError = "calls-in-error"
)

// oddError is what Sound panics with; guard makes an outcome of it.
type oddError struct {
	verdict.Odd
	where trace.Site
}

// maxErrors is how many errors one may be made of.
const maxErrors = 1000

// nobodys is an error, and nobodysType a type of errors, that no code of a student's can have or know of.
type nobodysType struct{}

func (*nobodysType) Error() string { return "nobody's" }

var nobodys error = &nobodysType{}

// Sound answers the error of the student's code that it is given, after a look at what it is made of: its methods are
// the student's like what returned it, and package errors, and the text, can only be relied on if they say what is
// true. It must be called within a Bench.Call, which is where it ends for an error that is odd.
func Sound(err error) error {
	if err == nil {
		return nil
	}
	left := maxErrors
	examine(err, &left)
	return err
}

func examine(err error, left *int) {
	if *left--; *left < 0 {
		panic(oddError{verdict.Odd{Rule: RuleEndlessError, What: "Unwrap"}, methodSite(err, "Unwrap")})
	}
	if isNil(err) {
		panic(oddError{Odd: verdict.Odd{Rule: RuleTypedNil, What: fmt.Sprintf("%T", err)}})
	}
	if is, ok := err.(interface{ Is(error) bool }); ok && is.Is(nobodys) {
		panic(oddError{verdict.Odd{Rule: ruleLyingError, What: "Is"}, methodSite(err, "Is")})
	}
	if as, ok := err.(interface{ As(any) bool }); ok {
		var target *nobodysType
		var gap *contract.Gap
		if as.As(&target) || as.As(&gap) && gap == nil {
			panic(oddError{verdict.Odd{Rule: ruleLyingError, What: "As"}, methodSite(err, "As")})
		}
	}
	switch x := err.(type) {
	case interface{ Unwrap() error }:
		if inner := x.Unwrap(); inner != nil {
			examine(inner, left)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range x.Unwrap() {
			if inner != nil {
				examine(inner, left)
			}
		}
	}
}

// isNil reports whether an error is a nil pointer with a type that cannot say anything without a value.
func isNil(err error) (odd bool) {
	if v := reflect.ValueOf(err); v.Kind() != reflect.Pointer || !v.IsNil() {
		return false
	}
	switch err.(type) {
	case *cuda.Error, *contract.Gap:
		return true
	}
	defer func() { odd = recover() != nil }()
	_ = err.Error()
	return false
}

// methodSite is where a method of an error is declared.
func methodSite(err error, name string) trace.Site {
	var m reflect.Method
	var ok bool
	types := []reflect.Type{reflect.TypeOf(err)}
	if types[0].Kind() == reflect.Pointer { // what the compiler adds for a pointer has no line
		types = []reflect.Type{types[0].Elem(), types[0]}
	}
	for _, t := range types {
		// The names are spelled out, or every method of the program would be kept alive.
		switch name {
		case "Is":
			m, ok = t.MethodByName("Is")
		case "As":
			m, ok = t.MethodByName("As")
		default:
			m, ok = t.MethodByName("Unwrap")
		}
		if !ok {
			continue
		}
		if f := runtime.FuncForPC(m.Func.Pointer()); f != nil {
			file, _ := f.FileLine(f.Entry())
			return trace.Site{{Func: f.Name(), File: file}}
		}
	}
	return nil
}
