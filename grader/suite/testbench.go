package suite

import (
	"math"
	"math/rand/v2"
	"strconv"

	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
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
	From    int // the Call to begin with, where an earlier one has ended a process
	Notes   Notes
	// Translation is the suite's OnDevice in PTX; "" where it is refused, or not asked for.
	Translation string
	Quota       uint64 // bytes of memory that the student's code may have at one time while tracing; 0: any number

	// Recorded is set where a race is carried out for its picture: see record.
	Recorded bool

	// History, where set, says what has come before a call, for an Outcome's Before.
	History func() string

	uncomputed bool // see Runs.Far

	calls    int
	returned []loan         // what the last call of a Stage has returned
	lasting  map[string]any // see Lasting
	ends     []func()
}

// Lasting is what make answers when it is first asked for under a name, and the same for the rest of the race: what
// would take longer to make for each sample than the sample takes. end gives it back.
func Lasting[T any](b *Bench, name string, make func() T, end func(T)) T {
	if made, ok := b.lasting[name].(T); ok {
		return made
	}
	made := make()
	if b.lasting == nil {
		b.lasting = map[string]any{}
	}
	b.lasting[name] = made
	b.ends = append(b.ends, func() { end(made) })
	return made
}

// endLasting gives back what has lasted.
func (b *Bench) endLasting() {
	for _, end := range b.ends {
		end()
	}
	b.lasting, b.ends = nil, nil
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

// Beyond has calls made that need more of the code than the case does otherwise. One that comes to a gap is left out of
// the outcomes, and noted with its gap alone: the case asks nothing about it.
func (b *Bench) Beyond(calls func(*Bench) verdict.Outcome) verdict.Outcome {
	with := *b
	with.Notes = written{b.Notes}
	o := calls(&with)
	b.calls = with.calls
	return o
}

// written leaves out the outcomes of calls that came to a gap, or whose error is none.
type written struct{ Notes }

func (n written) Outcome(o verdict.Outcome) {
	switch {
	case o.Gap != "":
		n.Notes.Value(verdict.NoteBeyond, runes(o.Gap)...)
	case o.Odd.Rule == "":
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

// KeepPool has the default pool keep its memory across synchronisations until the case ends. In a timed case nobody
// pays for growing it then; elsewhere code that uses what it has freed reads other numbers instead of losing the
// device.
func (b *Bench) KeepPool() {
	pool, code := b.Session.Device().DeviceGetDefaultMemPool()
	if code == device.Success {
		code = b.Session.Device().MemPoolSetAttribute(pool, device.PoolReleaseThreshold, math.MaxUint64)
	}
	if code != device.Success {
		b.Must(code)
	}
}

// Calls is how many calls have been made so far: the number of the next, as CaseNotes.Window counts them.
func (b *Bench) Calls() int { return b.calls }

// guard is the function, and has the session know that what runs was lent whatever there is.
func (b *Bench) guard(o *verdict.Outcome, f func() error) {
	defer b.Session.Guest(b.Session.Guest(true))
	guard(o, f)
}

// Must ends the case if one of the grader's own CUDA calls failed. That is the student's fault only where the device
// is lost, which their code did.
func (b *Bench) Must(err error) {
	if err != nil {
		panic(fault{err})
	}
}

// A fault is a call of the grader's own that failed.
type fault struct{ err error }

func (f fault) Error() string { return f.err.Error() }

func (f fault) Unwrap() error { return f.err }

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

// NewRand is the generator that draws what is random in a case: the same seed and case give the same draws in the
// runner and in cudalab.
func NewRand(seed uint64, caseID string) *rand.Rand {
	h := uint64(14695981039346656037) // FNV-1a, so that cases differ under one seed
	for i := range len(caseID) {
		h = (h ^ uint64(caseID[i])) * 1099511628211
	}
	return rand.New(rand.NewPCG(seed, h))
}
