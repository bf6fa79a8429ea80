package suite

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"cudalab/grader/suite/verdict"
	"cudalab/native/sim"
)

// Workload is what one call of the code under test is given, as both halves of a suite draw it.
type Workload interface {
	Label() string // in plain words: "5 batches on 2 streams"
}

// Scene is how a lesson of stream-ordered code calls what a student writes. From it come the trials with good workloads
// (Runs), those in which CUDA calls fail (Faults), and the race (Race).
type Scene[Code any, W Workload] struct {
	// Set makes on the stage what calls with workloads of this shape need, and returns the call. That makes no CUDA call
	// of the grader's own; it has to hand out fresh slices, since the code under test may write to them: see Given.
	Set func(*Stage, W) func(Code, W) error
	// KeepPool has the default pool keep its memory meanwhile; see Bench.KeepPool.
	KeepPool bool
}

// Runs is a trial that calls the code once for each workload, as long as it does not panic. Behind a call that came to
// a gap the others are made as well: one that comes to its answer before the gap is judged like any other.
type Runs[Code any, W Workload] struct {
	Trial[Code]
	Draw func(*rand.Rand) []W
	far  bool
}

// Around is what the grader does around a call, and may be nil.
type Around[W Workload] struct {
	Before func(*Stage, W) // such as keeping streams busy
	Behind func(*Stage, W) // ahead of the wait for the device
	// Sample, where not nil, has what comes before and behind the call be done as one with it: it is told the stage once,
	// and answers with what does all of it.
	Sample func(*Stage) func(call func() error) error
}

// Runs is a trial with the workloads that draw draws from the seed, in the same way in both halves.
func (sc *Scene[Code, W]) Runs(id, after string, draw func(*rand.Rand) []W, around Around[W]) *Runs[Code, W] {
	r := &Runs[Code, W]{Trial: Trial[Code]{ID: id, After: after, Resumes: true}, Draw: draw}
	r.Drive = func(b *Bench, sides Sides[Code]) {
		if sc.KeepPool {
			b.KeepPool()
		}
		ws := draw(b.Rand())
		b.calls = min(b.From, len(ws))
		for _, w := range ws[b.calls:] {
			if !sc.once(b, sides.Student, w, around) {
				return
			}
		}
	}
	return r
}

// On has the trial run on a simulated device everywhere, as in Case.
func (r *Runs[Code, W]) On(device func(seed uint64) sim.Options) *Runs[Code, W] {
	r.Simulated = device
	return r
}

// once calls the code for one workload; it reports whether there is sense in going on: a panic ends the trial, what was
// refused or came to a gap does not.
func (sc *Scene[Code, W]) once(b *Bench, code Code, w W, around Around[W]) bool {
	s := b.NewStage()
	call := sc.Set(s, w)
	if around.Before != nil {
		around.Before(s, w)
	}
	number := b.Calls()
	var o verdict.Outcome
	err := sampling(s, around.Sample, func() error {
		if o = b.Call(w.Label(), func() error { return s.answered(call(code, w)) }); !o.OK() {
			return errEnded
		}
		return nil
	})()
	if o.OK() {
		b.Must(err)
	}
	s.goOn(o.OK())
	if around.Behind != nil {
		around.Behind(s, w)
	}
	s.settle()
	s.note("", number)
	s.Close()
	return o.Panic == ""
}

// errEnded ends what goes around a call that did not answer nil.
var errEnded = errors.New("the call has ended early")

// Fixed draws always the same workloads.
func Fixed[W any](ws ...W) func(*rand.Rand) []W {
	return func(*rand.Rand) []W { return ws }
}

// Made is one call of the code under test as the trace shows it, with the workload that it was given.
type Made[W Workload] struct {
	Call
	W      W
	Far    bool // it was called for numbers from all over their domains, and nobody has computed it; see Runs.Far
	number int
}

// Noted are the numbers that a Stage noted of the call under a name; nil where it noted none.
func (m *Made[W]) Noted(name string) []uint64 { return notedOf(m.Notes, name)[m.number] }

// Sums are the values of the call's results when the device had come to rest.
func (m *Made[W]) Sums() []uint64 { return m.Noted(noteSum) }

// Made are the calls of the trial.
func (r *Runs[Code, W]) Made(e *Evidence) []Made[W] {
	all := madeOf(e, r.ID, func() []W { return r.drawn(e) })
	for i := range all {
		all[i].Far = r.far
	}
	return all
}

// madeOf pairs the calls of a case with the workloads they were made for; where there are more calls, they are all of
// the last.
func madeOf[W Workload](e *Evidence, caseID string, drawn func() []W) []Made[W] {
	if e.Cases[caseID] == nil {
		return nil
	}
	return verdict.Once(e.Cases[caseID], "made", func() (all []Made[W]) {
		ws := drawn()
		for i, c := range e.Calls(caseID) {
			all = append(all, Made[W]{Call: c, W: ws[min(i, len(ws)-1)], number: i})
		}
		return all
	})
}

// Good are trials that a right program completes, and by which most parts are judged.
type Good[Code any, W Workload] struct {
	Function string         // in plain words who ended early where one did: "Run", "Share or FanOut"
	Of       func(W) string // the function that a workload calls; nil where there is only one
	Runs     []*Runs[Code, W]
	// Far are calls like the good ones with numbers from all over their domains, which nobody computes; see Runs.Far.
	Far []*Runs[Code, W]
	// Uncomputed finds what is wrong with a far call's way to its results, where no other part than Results asks for that.
	Uncomputed func(*Made[W]) []verdict.Finding
	Further    []Further
	// Partly reports whether a call went on behind what it was refused, and did enough to go by; nil: none goes on.
	Partly func(*Made[W]) bool
}

// Trials are the trials, for a Part; more may follow.
func (g *Good[Code, W]) Trials(more ...*Trial[Code]) []*Trial[Code] {
	var all []*Trial[Code]
	for _, r := range g.Runs {
		all = append(all, &r.Trial)
	}
	return append(all, more...)
}

// IDs are the trials' IDs.
func (g *Good[Code, W]) IDs() (ids []string) {
	for _, r := range g.Runs {
		ids = append(ids, r.ID)
	}
	return ids
}

// Made are the calls of all the trials, or those that were audited where the evidence is about these.
func (g *Good[Code, W]) Made(e *Evidence) (all []Made[W]) {
	if e.audit != nil {
		made, _ := e.audit.made.([]Made[W])
		return made
	}
	for _, r := range g.Runs {
		all = append(all, r.Made(e)...)
	}
	return all
}

// Judge answers a question by what look finds in each call. Where that is nothing, but too few workloads were
// carried out, the question could not be asked.
func (g *Good[Code, W]) Judge(e *Evidence, pass string, look func(*Made[W]) []verdict.Finding) Answer {
	a := Answer{Message: pass}
	for _, m := range g.Made(e) {
		a.Findings = append(a.Findings, look(&m)...)
	}
	a.Findings = verdict.Unique(a.Findings)
	if len(a.Findings) == 0 {
		a.Skip = g.Incomplete(e)
	}
	return a
}

// Incomplete says why too little could be seen to go by it; "" where enough of the workloads of each trial were carried
// out, and not by doing nothing. That the others were refused is told by who asks for results: it is no reason to ask
// nothing of what could be asked.
func (g *Good[Code, W]) Incomplete(e *Evidence) string {
	if e.audit != nil {
		return ""
	}
	for _, r := range g.Runs {
		seen := 0
		for _, m := range r.Made(e) {
			if m.Outcome.OK() || m.Outcome.Argument && g.Partly != nil && g.Partly(&m) {
				seen++
			}
		}
		if !Enough(seen, len(r.drawn(e))) {
			return g.Function + " ended early with an error, so this could not be seen in full."
		}
	}
	for _, r := range g.Runs {
		if !slices.ContainsFunc(r.Made(e), func(m Made[W]) bool { return m.called() }) {
			return "A function made no CUDA call, so there was nothing to see of it."
		}
	}
	return ""
}

// Enough reports whether so many of a trial's workloads, of which others were refused, are enough to answer by: a
// third.
func Enough(seen, of int) bool { return seen > 0 && 3*seen >= of }

// called reports whether the call has made a call of CUDA's.
func (m *Made[W]) called() bool {
	for range m.Records {
		return true
	}
	return false
}

// drawn are the workloads of the trial that was seen.
func (r *Runs[Code, W]) drawn(e *Evidence) []W {
	return verdict.Once(e.Cases[r.ID], "drawn", func() []W { return r.Drawn(e.Seed) })
}

// Drawn are the workloads of a seed.
func (r *Runs[Code, W]) Drawn(seed uint64) []W { return r.Draw(NewRand(seed, r.ID)) }

// noteSum is the note of a call's results.
const noteSum = "sum"

// maxCalls bounds the number of a call, so that nonsense takes no time.
const maxCalls = 1 << 16

// noteOf notes numbers of one call under a name.
func (b *Bench) noteOf(call int, name string, values []uint64) {
	for _, v := range append([]uint64{uint64(call), uint64(len(values))}, values...) {
		b.Value(name, v)
	}
}

// notedOf are the numbers that noteOf noted under a name, by call.
func notedOf(c *verdict.CaseNotes, name string) map[int][]uint64 {
	return verdict.Once(c, "noted "+name, func() map[int][]uint64 {
		found := map[int][]uint64{}
		for left := c.Values[name]; len(left) >= 2; {
			n := int(min(left[1], uint64(len(left)-2)))
			found[int(min(left[0], maxCalls))], left = left[2:2+n], left[2+n:]
		}
		return found
	})
}

// Rule is what is said of a mistake wherever it is made: its name in reports, why it is one, and what mends it.
type Rule struct{ ID, Why, Fix string }

// Finding is an error of the line of a record of the call; of none, where record is -1. Its message begins with the
// call's workload, "With 5 batches on 2 streams, ", and goes on with the sentence that is given here.
func (m *Made[W]) Finding(record int, r Rule, format string, args ...any) verdict.Finding {
	message := "With " + m.W.Label() + ", " + fmt.Sprintf(format, args...)
	return m.At(record, verdict.Finding{Rule: r.ID, Message: message, Why: r.Why, Fix: r.Fix})
}
