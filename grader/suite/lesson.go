package suite

import (
	"cmp"
	"slices"
	"strings"

	"cudalab/grader/suite/verdict"
	"cudalab/native/sim"
)

// Lesson is all that is asked about one exercise, as its author declares it. Code is what the exercise has to export: a
// function type, or a struct of several.
//
// The package of a lesson has, beside its Lesson, a function Of that makes a Code of the exercise's Functions in their
// order, so that a runner can be made for it without a word of Go kept in a string:
//
//	func Of(run Run) Run { return run }
type Lesson[Code any] struct {
	// as on the command line, "async-pipeline"; the package is called so without hyphens
	Name string
	// what the exercise exports, as Of takes it: "Share", "FanOut"; the first is where findings without a line point to
	Functions []string
	OnDevice  string // as in Suite
	// bytes that the code may have at one time, on the device and pinned together; 0: DefaultMemory
	Memory  uint64
	Remarks map[string]verdict.Severity // as in Suite
	WaysOut []WayOut                    // of functions with gaps behind the one that gives back
	Parts   []Part[Code]                // in the order of the report
	// Benchmarks are for comparing only: no part needs one.
	Benchmarks []Trial[Code]
}

// Part is one question of a lesson with all that it takes to answer it.
type Part[Code any] struct {
	Question
	Cases []*Trial[Code] // whose notes Judge reads; Needs follows from them
	// GivesBack: the part asks that all is given back. Where its own cases are well it asks that of all others.
	GivesBack bool
	// audited, of a part with a timed case, is the evidence with which the parts that judge some other trials, of calls
	// like these, are asked about the calls of that case that were recorded.
	audited func(*Evidence) *Evidence
	like    []*Trial[Code]
	further []Further // of Good
	deeper  func(*Evidence) []verdict.Finding
}

// Trial is a case, or a benchmark, over code that it is given.
type Trial[Code any] struct {
	ID string
	// After is the last gap of the skeleton that has to be filled before the trial can come to its end, "1f". Trials run
	// in the order of their gaps.
	After     string
	Timed     bool
	Resumes   bool                          // as in Case
	Simulated func(seed uint64) sim.Options // as in Case
	Drive     func(*Bench, Sides[Code])
	Benchmark Benchmark // of a benchmark: its words
}

// Sides are the implementations in a runner.
type Sides[Code any] struct {
	Student  Code
	Solution *Code // nil where it is not at hand
}

// Judging is the suite with nothing to run: what cudalab holds a runner's notes against.
func (l Lesson[Code]) Judging() *Suite {
	var none Code
	return l.Suite(none)
}

// Suite is the lesson over the student's code, and over the solution's where it stands beside. cudalab, which only
// judges, has the suite of a lesson over no code at all: see Judging.
func (l Lesson[Code]) Suite(student Code, solution ...Code) *Suite {
	sides := Sides[Code]{Student: student}
	if len(solution) > 0 {
		sides.Solution = &solution[0]
	}
	s := &Suite{Exercise: l.Name, Package: PackageOf(l.Name), Functions: l.Functions, OnDevice: l.OnDevice,
		Memory: l.Memory, Remarks: l.Remarks, WaysOut: l.WaysOut}
	for _, t := range l.trials() {
		s.Cases = append(s.Cases, Case{ID: t.ID, After: t.After, Timed: t.Timed, Resumes: t.Resumes, Simulated: t.Simulated,
			Drive: func(b *Bench) { t.Drive(b, sides) }})
	}
	l.Parts = slices.Clone(l.Parts)
	for i, p := range l.Parts {
		l.Parts[i] = p.once("whole") // other parts ask whether it has found anything
	}
	for _, p := range l.Parts {
		q := p.Question
		for _, t := range p.Cases {
			q.Needs = append(q.Needs, t.ID)
		}
		switch {
		case p.audited != nil:
			q.Judge = l.auditing(p)
		case len(p.further) > 0 || p.deeper != nil || p.GivesBack:
			q.Judge = l.goingFurther(p)
		}
		s.Checks = append(s.Checks, q)
	}
	for _, t := range l.Benchmarks {
		m := t.Benchmark
		m.ID, m.Drive = t.ID, func(b *Bench) { t.Drive(b, sides) }
		s.Benchmarks = append(s.Benchmarks, m)
	}
	return s
}

// trials are the cases of all parts, each once, in the order in which they run: that of the gaps, and of the parts
// among those of one gap.
func (l Lesson[Code]) trials() []*Trial[Code] {
	var all []*Trial[Code]
	for _, p := range l.Parts {
		for _, t := range p.Cases {
			if !slices.Contains(all, t) {
				all = append(all, t)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *Trial[Code]) int { return cmp.Compare(a.After, b.After) })
	return all
}

// PackageOf is the Go package of an exercise, and the name of its folders.
func PackageOf(exercise string) string { return strings.ReplaceAll(exercise, "-", "") }
