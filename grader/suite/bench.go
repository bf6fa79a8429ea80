package suite

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"cudalab/exercises/contract"
	"cudalab/native/session"
	"cudalab/native/trace"
)

// Notes is where a Bench puts what it sees; the runner sends it on to cudalab.
type Notes interface {
	Outcome(Outcome)
	Value(name string, vs ...uint64)
	Sample(series string, nanoseconds int64)
}

// Outcome is how one call of the student's code ended.
type Outcome struct {
	Label    string         // what was called for, in plain words: "5 batches on 2 streams"
	Err      string         // the error's text; "" where it returned nil
	Gap      string         // the gap that answered, "1a"; "" where none did
	Besides  bool           // the error says more than that gaps have answered, and Err is what
	Argument bool           // the error is contract.ErrArgument
	Odd      Odd            // what is wrong with the error itself
	Panic    string         // what it panicked with; "" where it did not
	Before   string         // what had come before a call that panicked, in words: "slab.New([256], 1), allocate 5"; "" where that was not told
	Runaway  bool           // stopped for making calls without end
	Excess   session.Excess // how it ran into the limit on memory
	Stack    trace.Site     // where it panicked or was stopped; else the function that was called, where CallOf was told
}

// OK reports whether the call returned nil.
func (o *Outcome) OK() bool { return o.Err == "" && o.Panic == "" }

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

// The marks that Call leaves in the trace around the student's code.
const (
	markCall   = "call "
	markReturn = "return "
)

// Call runs the student's code, notes how it ended and brackets it in the trace. A panic is the student's outcome,
// not the runner's end. Code that made calls without end has filled the trace, which ends the case.
func (b *Bench) Call(label string, f func() error) Outcome { return b.CallOf(label, nil, f) }

// CallOf is Call for code whose place is known: the outcome's Stack is where, unless it panics elsewhere.
func (b *Bench) CallOf(label string, where trace.Site, f func() error) Outcome {
	o := Outcome{Label: label, Stack: where}
	n := strconv.Itoa(b.calls)
	b.calls++
	b.Session.Mark(markCall + n)
	b.Session.SetQuota(b.Quota)
	b.guard(&o, f)
	o.Excess = b.Session.SetQuota(0) // the suite's own calls are not to fail for what the student's code has taken
	if o.Panic != "" && b.History != nil {
		o.Before = b.History()
	}
	b.over(o)
	b.Session.Mark(markReturn + n)
	b.Notes.Outcome(o)
	return o
}

// Beyond has calls made that need more of the code than the case does otherwise. One that does not come to a good end is
// left out of the notes: it ends the same way in other cases, which tell of it, and nothing is to follow it here.
func (b *Bench) Beyond(calls func(*Bench) Outcome) Outcome {
	with := *b
	with.Notes = onlyGood{b.Notes}
	o := calls(&with)
	b.calls = with.calls
	return o
}

// onlyGood leaves out the outcomes of calls that did not return nil.
type onlyGood struct{ Notes }

func (n onlyGood) Outcome(o Outcome) {
	if o.OK() {
		n.Notes.Outcome(o)
	}
}

// over ends a case whose code made calls without end, which has filled the trace.
func (b *Bench) over(o Outcome) {
	if o.Runaway {
		b.Notes.Outcome(o)
		panic(recordLimit{})
	}
}

// keep takes an error apart.
func (o *Outcome) keep(err error) {
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
func (b *Bench) guard(o *Outcome, f func() error) {
	defer b.Session.Guest(b.Session.Guest(true))
	guard(o, f)
}

// guard runs the student's code and keeps what it returned: the methods of an error may be the student's as well.
func guard(o *Outcome, f func() error) {
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
			o.keep(gap)
			return
		}
		o.Stack = panickedAt()
		if r, ok := v.(*session.Runaway); ok {
			o.Runaway, o.Panic = true, r.Error()
			return
		}
		o.Panic = bounded(fmt.Sprint(v))
	}()
	o.keep(f())
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
