package suite

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"cudalab/exercises/contract"
	"cudalab/grader/suite/verdict"
	"cudalab/native/session"
	"cudalab/native/trace"
)

// Notes is where a Bench puts what it sees; the runner sends it on to cudalab.
type Notes interface {
	Outcome(verdict.Outcome)
	Value(name string, vs ...uint64)
	Sample(series string, nanoseconds int64)
}

// Bench is what a case works with in the runner.
type Bench struct {
	Session *session.Session
	Seed    uint64
	CaseID  string
	Attempt int // 0, or 1 for a confirming run of a timed case
	Notes   Notes
	Quota   uint64 // bytes of memory that the student's code may have at one time while tracing; 0: any number

	// History, where set, says what has come before a call, for an Outcome's Before.
	History func() string

	calls    int
	returned []loan // what the last call of a Stage has returned
}

// Rand is the case's own generator; see NewRand.
func (b *Bench) Rand() *rand.Rand { return NewRand(b.Seed, b.CaseID) }

// Value notes numbers under a name; several under one name keep their order.
func (b *Bench) Value(name string, vs ...uint64) { b.Notes.Value(name, vs...) }

// Call runs the student's code, notes how it ended and brackets it in the trace. A panic is the student's outcome,
// not the runner's end. Code that made calls without end has filled the trace, which ends the case.
func (b *Bench) Call(label string, f func() error) verdict.Outcome { return b.CallOf(label, nil, f) }

// CallOf is Call for code whose place is known: the outcome's Stack is where, unless it panics elsewhere.
func (b *Bench) CallOf(label string, where trace.Site, f func() error) verdict.Outcome {
	o := verdict.Outcome{Label: label, Stack: where}
	n := strconv.Itoa(b.calls)
	b.calls++
	b.Session.Mark(verdict.MarkCall + n)
	b.Session.SetQuota(b.Quota)
	b.guard(&o, f)
	o.Excess = b.Session.SetQuota(0) // the suite's own calls are not to fail for what the student's code has taken
	if o.Panic != "" && b.History != nil {
		o.Before = b.History()
	}
	b.over(o)
	b.Session.Mark(verdict.MarkReturn + n)
	b.Notes.Outcome(o)
	return o
}

// Beyond has calls made that need more of the code than the case does otherwise. One that does not come to a good end is
// left out of the notes: it ends the same way in other cases, which tell of it, and nothing is to follow it here.
func (b *Bench) Beyond(calls func(*Bench) verdict.Outcome) verdict.Outcome {
	with := *b
	with.Notes = onlyGood{b.Notes}
	o := calls(&with)
	b.calls = with.calls
	return o
}

// onlyGood leaves out the outcomes of calls that did not return nil.
type onlyGood struct{ Notes }

func (n onlyGood) Outcome(o verdict.Outcome) {
	if o.OK() {
		n.Notes.Outcome(o)
	}
}

// over ends a case whose code made calls without end, which has filled the trace.
func (b *Bench) over(o verdict.Outcome) {
	if o.Runaway {
		b.Notes.Outcome(o)
		panic(recordLimit{})
	}
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

// maxText is how many bytes of a text of the student's are kept, to be read by people.
const maxText = 4 << 10

// bounded is the start of a text.
func bounded(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + " …"
}

// Calls is how many calls have been made so far: the number of the next, as CaseNotes.Window counts them.
func (b *Bench) Calls() int { return b.calls }

// guard is the function, and has the session know that what runs was lent whatever there is.
func (b *Bench) guard(o *verdict.Outcome, f func() error) {
	defer b.Session.Guest(b.Session.Guest(true))
	guard(o, f)
}

// guard runs the student's code and keeps what it returned: the methods of an error may be the student's as well.
func guard(o *verdict.Outcome, f func() error) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if odd, ok := v.(oddError); ok {
			o.Err, o.Odd = "an error that is none: "+odd.What, odd.Odd
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
	keep(o, f())
}

// panickedAt is where the panic began that a deferred function, which calls this, has recovered. The grader's functions in between that
// have looked at it and let it go on are not part of that: their own panics come after the first on the stack.
func panickedAt() trace.Site {
	site := trace.Callers(2)
	for i := len(site) - 1; i >= 0; i-- {
		if site[i].Func == "runtime.gopanic" {
			return site[i+1:]
		}
	}
	return site
}

// A fault is a call of the grader's own that failed.
type fault struct{ err error }

func (f fault) Error() string { return f.err.Error() }
func (f fault) Unwrap() error { return f.err }

// Must ends the case if one of the grader's own CUDA calls failed. That is the student's fault only where the device
// is lost, which their code did.
func (b *Bench) Must(err error) {
	if err != nil {
		panic(fault{err})
	}
}

// recordLimit ends a case that can record no more calls.
type recordLimit struct{}

// Fault tells what ended a case on purpose from any other panic: the error of Must, or nil where Call did.
func Fault(recovered any) (error, bool) {
	if recovered == (recordLimit{}) {
		return nil, true
	}
	f, ok := recovered.(fault)
	return f.err, ok
}
