// Package flips holds timing verdicts to what students are promised of them: right code never fails, however busy the
// machine is; code that is clearly slower than the limit always does; and equal seeds get equal verdicts. It links
// programs into a runner once and checks them again and again, beside a load on the machine, or slowed down by a known
// amount.
//
// Only tests use it.
package flips

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/run"
	"cudalab/grader/machine/lock"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
	"cudalab/native/sim"
)

// Program is code for one exercise, in a folder.
type Program struct {
	Exercise course.Exercise
	Dir      string
}

// Solutions are the course's own programs.
func Solutions(c *course.Course) []Program {
	var all []Program
	for _, e := range c.Exercises {
		all = append(all, Program{e, filepath.Join(c.Root, e.SolutionFolder())})
	}
	return all
}

// binary is programs of different exercises, linked together once.
type binary struct {
	programs []Program
	built    *compile.Result
}

// Link builds programs, each of another exercise of the course at root, with the solutions beside them for the clock.
func Link(ctx context.Context, root string, programs ...Program) (*binary, error) {
	var exercises []compile.Exercise
	for _, p := range programs {
		if file := p.Exercise.Changed(root); file != "" {
			return nil, fmt.Errorf("%s has changed since this test was built", file)
		}
		exercises = append(exercises, compile.Exercise{Package: p.Exercise.Package, Dir: p.Dir,
			Main: p.Exercise.Main(true), Solution: true})
	}
	built, err := compile.Build(ctx, compile.Course{Root: root}, exercises...)
	if err != nil {
		return nil, err
	}
	for i, linked := range built.Exercises {
		if !linked.OK() {
			built.Close()
			return nil, fmt.Errorf("%s cannot be built: %v %v %w", programs[i].Dir, linked.Refusals, linked.Errors, linked.Err)
		}
	}
	return &binary{programs, built}, nil
}

// Close gives the program up. None of its checkers must be in use any more.
func (b *binary) Close() { b.built.Close() }

// Checker checks the programs of a binary, one at a time, in a process of its own.
type Checker struct {
	binary *binary
	runner *run.Runner
}

// Checker returns one that works on the given kind of device: "gpu" or "sim", which then has the profile, or the
// built-in one.
func (b *binary) Checker(kind string, p *sim.Profile) *Checker {
	return &Checker{b, run.NewRunner(b.built.Binary, run.Options{Device: kind, Profile: p, Turns: lock.Here()})}
}

// Close ends the process.
func (c *Checker) Close() { c.runner.Close() }

// Check carries out one check of program i, as cudalab does: with s in place of the exercise's suite if it is not nil,
// and with the GPU's locks, so that checkers beside each other disturb no timed case.
func (c *Checker) Check(ctx context.Context, i int, seed uint64, s *suite.Suite) run.Result {
	e := c.binary.programs[i].Exercise
	if s == nil {
		s = e.Suite
	}
	points := map[string]float64{}
	for id, n := range e.Points {
		points[id] = float64(n)
	}
	c.runner.Seed = seed
	return c.runner.Check(ctx, run.Code{
		Suite: s, Package: "cudalab/exercises/" + e.Package, Points: points,
		Name: func(file string) string { return file },
	})
}

// Timed is the part of a suite that one timed check needs: that check alone, with its cases.
func Timed(s *suite.Suite, check string) (*suite.Suite, error) {
	part := *s
	part.Checks = slices.DeleteFunc(slices.Clone(s.Checks), func(q suite.Question) bool { return q.ID != check })
	if len(part.Checks) != 1 {
		return nil, fmt.Errorf("%s has no check %s", s.Exercise, check)
	}
	part.Cases = slices.DeleteFunc(slices.Clone(s.Cases), func(c suite.Case) bool {
		return !c.Timed || !slices.Contains(part.Checks[0].Needs, c.ID)
	})
	if len(part.Cases) == 0 {
		return nil, fmt.Errorf("the check %s of %s needs no timed case", check, s.Exercise)
	}
	return &part, nil
}

// Verdict is what came of one check of a whole program.
type Verdict string

// Unclear is a pass to which the clock had something to say: a figure beyond a limit, but not for certain. An Errored
// check has no verdict: cudalab or the machine failed.
const (
	Passed  Verdict = "passed"
	Unclear Verdict = "unclear"
	Failed  Verdict = "failed"
	Errored Verdict = "error"
)

// verdicts are all of them.
var verdicts = []Verdict{Passed, Unclear, Failed, Errored}

// unclearRules are the remarks that make a pass an unclear one.
var unclearRules = []string{"time-unclear", "grows"}

// VerdictOf is the verdict of a report, and which checks are behind it where it is another than a plain pass.
func VerdictOf(r verdict.Report) (v Verdict, checks []string) {
	if r.Status == verdict.Errored {
		return Errored, nil
	}
	v = Passed
	if r.Status != verdict.Passed {
		v = Failed
	}
	for _, c := range r.Checks {
		doubted := slices.ContainsFunc(c.Findings, func(f verdict.Finding) bool {
			return slices.Contains(unclearRules,
				f.Rule)
		})
		switch {
		case c.Status != verdict.Passed:
			checks = append(checks, c.ID)
		case doubted && v != Failed:
			v, checks = Unclear, append(checks, c.ID)
		}
	}
	return v, checks
}
