package suite

import (
	"fmt"
	"reflect"
	"runtime"

	"cudalab/exercises/contract"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// The rules of errors.
const (
	RuleTypedNil     = "typed-nil-error"
	RuleLyingError   = "lying-error"
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

// Sound answers the error of the student's code that it is given, after a look at what it is made of: its methods are the
// student's like what returned it, and package errors, and the text, can only be relied on if they say what is true. It
// must be called within a Bench.Call, which is where it ends for an error that is odd.
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
		panic(oddError{verdict.Odd{Rule: RuleLyingError, What: "Is"}, methodSite(err, "Is")})
	}
	if as, ok := err.(interface{ As(any) bool }); ok {
		var target *nobodysType
		var gap *contract.Gap
		if as.As(&target) || as.As(&gap) && gap == nil {
			panic(oddError{verdict.Odd{Rule: RuleLyingError, What: "As"}, methodSite(err, "As")})
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
