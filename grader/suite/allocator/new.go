package allocator

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/session"
	"cudalab/native/trace"
)

// OrNil is the allocator that a student's New has answered, as the lesson's interface I: nil where it is a nil pointer,
// or nothing at all.
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

// notMade is the finding where the i-th call of a case made no allocator.
func (lab *Lab[Code, L]) notMade(e *suite.Evidence, notes *verdict.CaseNotes, i int) verdict.Finding {
	maker, o := cmp.Or(lab.Maker, "New"), notes.Outcomes[i]
	if o.Err != errNothing.Error() {
		f := suite.UnexpectedError(maker, o)
		f.Function = lab.Maker
		from, to := notes.Window(i)
		return e.AtError(f, notes, from, to)
	}
	return verdict.Finding{
		Rule: "no-allocator", Severity: verdict.Error, Record: -1, Function: maker,
		Message: o.Label + " should have answered an allocator, but it answered nil, and no error.",
		Why:     "Who is told of no error goes on with the allocator, and a nil pointer has no fields: the next call panics.",
		Fix:     "Return the allocator that " + maker + " has made, and nil as its error.",
	}
}

// tooLittle is the finding where New has allocated less than Room, and nobody has had a block of it.
func (lab *Lab[Code, L]) tooLittle(e *suite.Evidence, r *Run[L]) *verdict.Finding {
	if lab.Room == nil || r.Record == nil ||
		slices.ContainsFunc(r.Record.Answers, func(a sequence.Answer) bool { return a.Err == sequence.Nil }) {
		return nil
	}
	made, bytes := -1, int64(0)
	from, to := r.Notes.Window(r.Record.First - 1)
	for at := from; at < to; at++ {
		if x := &r.Notes.Trace.Records[at]; x.Code == 0 && x.Alloc != 0 && x.Size > 0 && x.Phase != trace.Enter {
			made, bytes = at, bytes+x.Size
		}
	}
	want := lab.Room(r.Layout)
	if made < 0 || bytes >= want {
		return nil
	}
	f := e.At(verdict.Finding{
		Rule: "too-little", Severity: verdict.Error, Record: made,
		Message: fmt.Sprintf("%s should have allocated %s for all of its blocks, but allocated %s.", r.Layout,
			suite.Bytes(uint64(want)), suite.Bytes(uint64(bytes))),
		Why: "A block that lies behind the end of the memory belongs to somebody else, or to nobody, and a kernel " +
			"that uses it fails.",
		Fix: "Allocate the bytes of all blocks together: cuda.Malloc takes bytes.",
	}, r.Notes.Trace.SiteOf(&r.Notes.Trace.Records[made]))
	return &f
}

// bothAnswered is the finding where New answered an allocator with its error. The message begins with when that was.
func bothAnswered(when string) verdict.Finding {
	return verdict.Finding{
		Rule: "allocator-with-error", Severity: verdict.Error, Record: -1, Function: "New",
		Message: when + " should have answered a nil allocator with its error, but it answered one that is not nil.",
		Why: "What New could not make whole has no memory to hand out, and who gets an allocator may use it, or try to " +
			"close it.",
		Fix: "Return nil beside every error of New: return nil, err.",
	}
}
