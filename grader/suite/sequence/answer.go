package sequence

import (
	"errors"
	"fmt"
	"strings"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/returned"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// Err is which of the contract's errors an operation was answered with.
type Err uint8

// What an operation came back with. Skipped is one that was not carried out: a Free of a block that the allocator had
// refused to hand out.
const (
	Nil Err = iota
	ErrSize
	ErrFull
	ErrInvalidFree
	ErrClosed
	ErrOther   // an error, but none of the contract's
	ErrSeveral // an error that is several of the contract's at once
	Gap        // contract.TODO; the sequence ends there
	Panic      // no answer at all; the sequence ends there
	Skipped
	Faulted // the error of a CUDA call that was made to fail
	ErrArgument
	Halfway // as Faulted, by a Close that had given something back by then
)

var errNames = [...]string{Nil: "nil", ErrSize: "contract.ErrSize", ErrFull: "contract.ErrFull",
	ErrInvalidFree: "contract.ErrInvalidFree", ErrClosed: "contract.ErrClosed", ErrOther: "another error",
	ErrSeveral: "several of the contract's errors at once", Gap: "a TODO", Panic: "a panic", Skipped: "nothing",
	Faulted: "the error of a call that was made to fail", ErrArgument: "contract.ErrArgument",
	Halfway: "the error of a call that was made to fail"}

// String is the error's name as in package contract.
func (e Err) String() string {
	if int(e) < len(errNames) {
		return errNames[e]
	}
	return "an unknown answer"
}

// Answer is what one operation came back with. There are hundreds of thousands at the scale that is timed, of which
// most have the same Details: they share them.
type Answer struct {
	Err     Err
	Addr    uint64   // that was handed out or given back, or whatever else the lesson notes
	details *Details // nil: none
}

// Details are what else there is to an Answer.
type Details struct {
	Text  string     // the error's own; "" without one
	Stats []int64    // what the student's code says of itself after the operation; nil where it was not asked
	Seen  []int64    // what the grader has seen of the operation
	Site  trace.Site // the method that answered; empty where that is not known
	// Returned has where it returned, as in verdict.Outcome.
	Returned returned.Lines
}

// With is the answer with these Details.
func (a Answer) With(d Details) Answer {
	a.details = &d
	return a
}

// Sharing is the answer with these Details, which others have as well.
func (a Answer) Sharing(d *Details) Answer {
	a.details = d
	return a
}

// At gives a finding the line of the method that answered, or of where it returned.
func (a Answer) At(e *suite.Evidence, f verdict.Finding) verdict.Finding {
	d := a.Details()
	f.Look.Return = d.Returned
	return e.At(f, d.Site)
}

// Details are the answer's.
func (a Answer) Details() Details {
	if a.details == nil {
		return Details{}
	}
	return *a.details
}

// Stats is what the student's code says of itself after the operation; nil where it was not asked.
func (a Answer) Stats() []int64 {
	if a.details == nil {
		return nil
	}
	return a.details.Stats
}

// Seen is what was seen of the operation.
func (a Answer) Seen() []int64 { return a.Details().Seen }

// Says is the answer in words: "contract.ErrFull", or the text of an error that is none of the contract's.
func (a Answer) Says() string {
	if a.Err == ErrOther && a.Details().Text != "" { // which is not kept of each in a long row
		return "this error: " + strings.TrimSuffix(strings.ReplaceAll(a.Details().Text, "\n", "; "), ".")
	}
	return a.Err.String()
}

// Look is by what to look for the statement that answered otherwise than it should have.
func (a Answer) Look(want Err) verdict.Look {
	return verdict.Look{Got: a.Err.ofContract(), Want: want.ofContract()}
}

// ofContract is the name of an error of the contract's, without its package; "" for any other answer.
func (e Err) ofContract() string {
	name, ok := strings.CutPrefix(e.String(), "contract.")
	if !ok {
		return ""
	}
	return name
}

// InsteadOf says what an answer should have been: "should have returned contract.ErrFull, but it returned nil".
func (a Answer) InsteadOf(want Err) string {
	return fmt.Sprintf("should have returned %v, but it returned %s", want, a.Says())
}

// Classify is which of the contract's errors an error of the student's is. Like suite.Sound it is for within a Call.
func Classify(err error) Err {
	if err == nil {
		return Nil
	}
	if gap := (*contract.Gap)(nil); errors.As(suite.Sound(err), &gap) {
		return Gap
	}
	found := ErrOther
	for _, s := range sentinels {
		switch {
		case err == s.err:
			return s.is
		case !errors.Is(err, s.err):
		case found != ErrOther:
			return ErrSeveral
		default:
			found = s.is
		}
	}
	return found
}

var sentinels = []struct {
	err error
	is  Err
}{{contract.ErrSize, ErrSize}, {contract.ErrFull, ErrFull}, {contract.ErrInvalidFree, ErrInvalidFree},
	{contract.ErrClosed, ErrClosed}, {contract.ErrArgument, ErrArgument}}
