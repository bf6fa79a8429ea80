// Package prove says of the work that a check has recorded what CUDA's other orders of it would have come to: how many
// there are and that each gives the same, or an order in which it goes wrong.
package prove

import (
	"cmp"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"cudalab/grader/judge/check"
	"cudalab/grader/order"
	"cudalab/grader/order/schedule"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels/listed"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// Proof is what the orders of all cases of a check come to.
type Proof struct {
	Report verdict.Report // of the check
	Cases  []Case         // that were recorded
	Faults []Fault        // each once, however many cases have it
	Others int            // errors of the order checker that no order is to blame for, and that the check has told
	// where the code asks how far the device is, and may do other things in another run; nil: nowhere
	Asks *verdict.Place
	// Differs are the cases in which an order came to something else though nothing is out of order, which is a fault of
	// cudalab's.
	Differs []string
}

// Holds reports whether every order gives the same.
func (p *Proof) Holds() bool { return len(p.Faults) == 0 && len(p.Differs) == 0 }

// Case is a case without a fault.
type Case struct {
	ID     string
	Orders schedule.Orders
	Tried  int  // orders that were carried out
	All    bool // these are all
}

// Fault is an order in which it goes wrong.
type Fault struct {
	Case    string
	Finding order.Finding
	At      verdict.Place // where in the student's code; no File where that is not known
	Steps   []step
	Ends    string // what is wrong at the end, where no step says it
	Always  bool   // it goes wrong in the order in which the calls were made
	Film    *schedule.Film
	Shots   []verdict.Place // of the film's steps
}

// step is a call of a Fault, at a place of the student's code.
type step struct {
	schedule.Step
	At verdict.Place
}

// How many orders of a case are carried out at most, where there are too many for all, and for how long.
const (
	few     = 5000
	much    = 100_000 // operations of all orders together, which take below a second
	sampled = 200
	long    = 300 * time.Millisecond
)

// Faults are the orders in which what a check has recorded goes wrong: one for each finding in each case.
func Faults(r check.Result) []Fault {
	p := &Proof{Report: r.Report}
	p.look(r, func(*verdict.CaseNotes, *schedule.Program) {})
	return p.Faults
}

// Of is the proof of what a check has recorded. Orders that are drawn are drawn by the check's seed.
func Of(r check.Result) *Proof {
	p := &Proof{Report: r.Report}
	p.look(r, func(c *verdict.CaseNotes, program *schedule.Program) { p.hold(c, program, r.Report.Seed) })
	seen := map[[2]string]bool{}
	p.Faults = slices.DeleteFunc(p.Faults, func(f Fault) bool {
		key := [2]string{f.Finding.Rule, f.place()}
		again := seen[key]
		seen[key] = true
		return again
	})
	return p
}

// look finds the faults of all cases, and hands on those that have none.
func (p *Proof) look(r check.Result, sound func(*verdict.CaseNotes, *schedule.Program)) {
	for _, c := range r.Cases {
		if len(c.Trace.Records) == 0 {
			continue
		}
		at := func(i int) verdict.Place {
			if places := r.Place(c.Trace.SiteOf(&c.Trace.Records[i])); len(places) > 0 {
				return places[0]
			}
			return verdict.Place{}
		}
		program, found := schedule.New(c.Trace), 0
		for _, f := range order.Check(c.Trace) {
			if f.Severity != order.Error {
				continue
			}
			found++
			if !told(r.Report, f.Rule) {
				continue
			}
			ce, ok := program.Counterexample(f)
			if !ok {
				p.Others++
				continue
			}
			p.Faults = append(p.Faults, newFault(c.ID, program, ce, at))
		}
		if found == 0 {
			sound(c, program)
		}
		p.ask(c.Trace, at)
	}
}

// told reports whether a check has told an error of a rule. Where its cases came to their end, what it has not told is
// none in that lesson: a free, say, that a call which was made to fail should have put in order.
func told(r verdict.Report, rule string) bool {
	if r.Status != verdict.Passed && r.Status != verdict.Failed {
		return true
	}
	return slices.ContainsFunc(r.Checks, func(c verdict.Check) bool {
		return slices.ContainsFunc(c.Findings, func(f verdict.Finding) bool {
			return f.Severity == verdict.Error && strings.TrimSuffix(f.Rule, "-on-error") == rule
		})
	})
}

// Most is the largest of the small cases of a check that has passed that leave CUDA a choice; it is not ok where none
// does. Nothing is carried out: a check that has passed has found nothing out of order. Nobody is to wait for it, so
// one case is counted, of so many records at most.
func Most(r check.Result) (most Case, ok bool) {
	if r.Report.Status != verdict.Passed {
		return Case{}, false
	}
	small := slices.DeleteFunc(slices.Clone(r.Cases),
		func(c *verdict.CaseNotes) bool { return len(c.Trace.Records) > short })
	slices.SortStableFunc(small, func(a, b *verdict.CaseNotes) int {
		return cmp.Compare(len(b.Trace.Records),
			len(a.Trace.Records))
	})
	for _, c := range small {
		if !severalStreams(c.Trace) {
			continue
		}
		if o := schedule.New(c.Trace).CountWithin(quick); o.Count.Cmp(big.NewInt(1)) > 0 {
			return Case{ID: c.ID, Orders: o}, true
		}
	}
	return Case{}, false
}

// short is how many records a trace has at most that Most looks at, quick how many states at once it counts.
const (
	short = 300
	quick = 500
)

// severalStreams reports whether a trace has launches in more than one stream: one leaves no choice.
func severalStreams(t *trace.Trace) bool {
	first, known := trace.ID(0), false
	for i := range t.Records {
		if r := &t.Records[i]; r.Op == trace.OpLaunch {
			if known && r.Stream != first {
				return true
			}
			first, known = r.Stream, true
		}
	}
	return false
}

func newFault(id string, p *schedule.Program, c *schedule.Counterexample, at func(int) verdict.Place) Fault {
	story := p.Story(c, kernel)
	f := Fault{Case: id, Finding: c.Finding, At: at(c.Finding.At), Ends: story.Ends, Always: c.Always,
		Film: p.Film(c, story, func(i int) bool { return at(i).File != "" })}
	for _, s := range story.Steps {
		f.Steps = append(f.Steps, step{s, at(s.Record)})
	}
	for _, s := range f.Film.Steps {
		f.Shots = append(f.Shots, at(s.Record))
	}
	return f
}

// kernel is one of the kernels that lessons launch.
func kernel(entry string) *device.Kernel {
	all := listed.All()
	if i := slices.IndexFunc(all, func(k *device.Kernel) bool { return k.Entry() == entry }); i >= 0 {
		return all[i]
	}
	return nil
}

// place is where in the code a fault's steps are, by which it is told from others.
func (f *Fault) place() (text string) {
	for _, s := range f.Steps {
		text += fmt.Sprint(s.At.File, s.At.Line, " ")
	}
	return text
}

// hold carries out orders of a case in which nothing is out of order.
func (p *Proof) hold(c *verdict.CaseNotes, program *schedule.Program, seed uint64) {
	held := Case{ID: c.ID, Orders: program.Count()}
	same, until := program.Same(), time.Now().Add(long)
	differs := false
	try := func(other []int) {
		held.Tried++
		if _, differ := same(other); differ {
			differs = true
		}
	}
	if n := held.Orders.Count; held.Orders.Exact && n.IsInt64() && n.Int64() <= few &&
		n.Int64()*int64(held.Orders.Operations) <= much {
		held.All = program.Each(few, try)
	} else {
		random := rand.New(rand.NewPCG(seed, 0))
		for held.Tried < sampled && time.Now().Before(until) {
			try(program.Random(random))
		}
	}
	if differs {
		p.Differs = append(p.Differs, c.ID)
	}
	p.Cases = append(p.Cases, held)
}

// ask finds the first place where the code asks the device without waiting.
func (p *Proof) ask(t *trace.Trace, at func(int) verdict.Place) {
	for i := range t.Records {
		r := &t.Records[i]
		if !slices.Contains([]trace.Op{trace.OpStreamQuery, trace.OpEventQuery}, r.Op) || p.Asks != nil {
			continue
		}
		if place := at(i); place.File != "" {
			p.Asks = &place
		}
	}
}
