// Package check checks one exercise from its source files to its report: it builds the runner and has the suite run.
package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"time"

	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/run"
	"cudalab/grader/judge/visible"
	"cudalab/grader/machine/lock"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
	"cudalab/native/sim"
)

// MaxSeed is the largest seed that is drawn; every program that reads JSON can hold it exactly.
const MaxSeed = 1<<48 - 1

// Request says what to check and how.
type Request struct {
	Root     string // the course's
	Exercise course.Exercise
	Dir      string       // a folder with the code to check instead of the exercise's own; "" otherwise
	Device   string       // "gpu", "sim" or "auto"
	Profile  *sim.Profile // of the simulated device; nil: the built-in one
	Seed     uint64       // 0: a fresh one
	Replayed bool         // Seed is the one that the code failed on when it was last checked
	NoTiming bool
	Given    bool // have the traces hold what it takes to carry their calls out again
	Pictures bool // run the untimed cases once more, for Result.Pictures
	// Precompiled is Precompile's, of this exercise; nil: what the checks before this one have left in the user's cache folder.
	Precompiled *compile.Precompiled
	// Preparing, if set, is called where it takes long to compile what is not the student's; see compile.Request.
	Preparing func()
}

// Result is a report with what lies behind it.
type Result struct {
	run.Result
	// Name turns a file in a trace's call stacks into the student's file.
	Name func(file string) string
}

// Exercise carries out one check. It always returns a report. Where its status is verdict.Errored, Err says why: a
// *compile.EnvironmentError, a *run.NoDevice, the context's error, or a fault of cudalab's own.
func Exercise(ctx context.Context, q Request) Result {
	began := time.Now()
	dir := q.Dir
	if dir == "" {
		dir = course.Relative(filepath.Join(q.Root, q.Exercise.Folder()))
	}
	r := checkDir(ctx, q, dir)
	r.Report.DurationMS = time.Since(began).Milliseconds()
	advise(&r.Report, q)
	return r
}

func checkDir(ctx context.Context, q Request, dir string) Result {
	if q.Seed == 0 {
		q.Seed = 1 + rand.Uint64N(MaxSeed)
	}
	if q.Precompiled == nil {
		q.Precompiled = recall(ctx, q)
	}
	results, err := job{
		root: q.Root, parts: []part{{q.Exercise, dir}}, options: run.Options{Device: q.Device, Profile: q.Profile},
		precompiled: q.Precompiled, seed: q.Seed, noTiming: q.NoTiming, ahead: severalProcessors(), given: q.Given, pictures: q.Pictures, preparing: q.Preparing, turns: lock.Here(),
	}.check(ctx)
	if err != nil {
		return unbuilt(q, verdict.Errored, verdict.Check{}, err)
	}
	return results[0]
}

// severalProcessors reports whether a check, of which people wait for one at a time, may use two. A page's runner cannot be stopped in
// the middle.
func severalProcessors() bool { return runtime.NumCPU() > 1 && runtime.GOOS != "js" }

// outdated is the error where the course has other suites than this program was built with.
func outdated(root string, e course.Exercise) error {
	file := e.Changed(root)
	if file == "" {
		return nil
	}
	return &compile.EnvironmentError{
		Problem: fmt.Sprintf("This cudalab was built from another version of the course: %s has changed since.", file),
		Fix:     "Build it again: make build, or go build -o bin/cudalab ./cmd/cudalab.",
	}
}

// points are what the exercise's checks are worth.
func points(e course.Exercise) map[string]float64 {
	p := map[string]float64{}
	for id, n := range e.Points {
		p[id] = float64(n)
	}
	return p
}

// unbuilt is the result where there is nothing to run.
func unbuilt(q Request, status verdict.Status, c verdict.Check, err error) Result {
	r := verdict.Report{Schema: verdict.SchemaVersion, Exercise: q.Exercise.Name, Device: verdict.Device{Kind: q.Device},
		Status: status, Seed: q.Seed}
	for _, n := range q.Exercise.Points {
		r.MaxScore += float64(n)
	}
	if c.ID != "" {
		r.Checks = []verdict.Check{c}
	}
	if err != nil {
		r.Message = "cudalab could not build the runner: " + err.Error()
		if environment := (*compile.EnvironmentError)(nil); errors.As(err, &environment) {
			r.Message, r.Next = environment.Problem, environment.Fix
		}
	}
	return Result{Result: run.Result{Report: r, Err: err}, Name: func(file string) string { return file }}
}

// The check that stands for everything before the code runs. It is worth nothing by itself.
const buildID = "build"

func refusals(rs []compile.Refusal) verdict.Check {
	c := verdict.Check{ID: buildID, Name: "uses only what an exercise may use", Status: verdict.Failed}
	for _, r := range rs {
		c.Findings = append(c.Findings, verdict.Finding{Rule: string(r.Rule), Severity: verdict.Error, Message: visible.Line(r.Message),
			Why: r.Why, Fix: visible.Line(r.Fix), File: r.File, Line: r.Line, Column: r.Col, Record: -1})
	}
	return c
}

func compileErrors(es []compile.CompileError) verdict.Check {
	c := verdict.Check{ID: buildID, Name: "compiles", Status: verdict.Failed}
	for _, e := range es {
		c.Findings = append(c.Findings, verdict.Finding{Rule: "compile", Severity: verdict.Error, Message: visible.Text(e.Message),
			Fix:  cmp.Or(visible.Line(e.Plain), "Compare this line and the one before it with the skeleton; go doc says what a call takes and returns."),
			File: e.File, Line: e.Line, Column: e.Col, Record: -1})
	}
	return c
}

// firstError is the error to begin with, in words: the first of a report, or the one that it comes of.
func firstError(r *verdict.Report) string {
	for _, c := range r.Checks {
		for _, f := range c.Findings {
			switch {
			case f.Severity != verdict.Error:
			case f.Root() || f.Follows.Line == 0:
				return "the first error above"
			default:
				return fmt.Sprintf("the %s in line %d first", f.Follows.Rule, f.Follows.Line)
			}
		}
	}
	return "the first error above"
}

// advise says what to do next where the check itself has not.
func advise(r *verdict.Report, q Request) {
	if r.Next != "" {
		return
	}
	switch r.Status {
	case verdict.Passed:
		if q.Replayed {
			r.Next = "check once more: these were the workloads that failed last time, and the next are new"
		}
	case verdict.Failed, verdict.Timeout, verdict.Crashed:
		r.Next = "mend " + firstError(r) + " and check again; the next check begins with the same workloads"
		if q.Dir != "" {
			r.Next = fmt.Sprintf("mend %s and check again; --seed %d draws the same workloads", firstError(r), r.Seed)
		}
	case verdict.BuildFailed, verdict.Refused:
		r.Next = "mend the first error above and check again"
	}
}
