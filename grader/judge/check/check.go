// Package check checks exercises from their source files to their reports: it builds the runner and has the suites
// run. One Request goes all the way; compile and run take the parts of it that are theirs. The way is check.go,
// then one.go.
package check

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/run"
	"cudalab/grader/machine/lock"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

// MaxSeed is the largest seed that is drawn; every program that reads JSON can hold it exactly.
const MaxSeed = 1<<48 - 1

// Request says what to check and how.
type Request struct {
	compile.Course
	run.Options
	Code     []Code // of one student's, each exercise once; it shares a runner
	Replayed bool   // Seed is the one that the code failed on when it was last checked
}

// Result is a report with what lies behind it.
type Result struct {
	run.Result
	// Name turns a file in a trace's call stacks into the student's file.
	Name func(file string) string
}

// Exercise checks one exercise for somebody who waits for it. A Seed of 0 is a fresh one, without Precompiled it is
// what the checks before this one have left in the user's cache folder, and Ahead and Turns are this machine's. It
// always returns a report. Where its status is verdict.Errored, Err says why: a *compile.EnvironmentError, a
// *run.NoDevice, the context's error, or a fault of cudalab's own.
func Exercise(ctx context.Context, q Request) Result {
	began := time.Now()
	if q.Seed == 0 {
		q.Seed = 1 + rand.Uint64N(MaxSeed)
	}
	if q.Precompiled == nil {
		q.Precompiled = Recall(ctx, q)
	}
	q.Ahead, q.Turns = severalProcessors(), lock.Here()
	results, err := Submission(ctx, q)
	if err != nil {
		results = []Result{unbuilt(q, q.Code[0], verdict.Errored, verdict.Check{}, err)}
	}
	r := results[0]
	if r.Report.Unfinished() && q.Code[0].Exercise.Why > 0 {
		complete(ctx, q, &r.Report)
	}
	r.Report.DurationMS = time.Since(began).Milliseconds()
	return r
}

// severalProcessors reports whether a check, of which people wait for one at a time, may use two. A page's runner
// cannot be stopped in the middle.
func severalProcessors() bool { return runtime.NumCPU() > 1 && runtime.GOOS != "js" }

// Submission checks several exercises with one runner, so that it is built, and the device started, once for all.
// Every result, one for each exercise, is what Exercise would say of it alone, down to the byte but for what is
// measured: whatever ended a process that others' code had run in is checked again in one of its own. An error is
// one that concerns them all, as in Result.Err.
func Submission(ctx context.Context, q Request) ([]Result, error) {
	built, err := build(ctx, q)
	if err != nil {
		return nil, err
	}
	defer built.Close()
	results := make([]Result, len(q.Code))
	// In the check of the broken a process came to a bad end. The shared were not alone in it: others' code runs there in
	// any case, or has run there before.
	var broken, shared []int
	runner := run.NewRunner(built.Binary, q.Options)
	for i := range q.Code {
		if built.Exercises[i].Apart {
			continue
		}
		alone := !runner.Running() && !othersStart(built, i)
		results[i] = one(ctx, q, q.Code[i], &built.Exercises[i], runner)
		if results[i].Broken {
			broken = append(broken, i)
			if !alone || results[i].Err != nil { // what is not the code's doing is tried once more as well
				shared = append(shared, i)
			}
		}
	}
	runner.Close()
	if err := disentangle(ctx, q, built, results, broken, shared); err != nil {
		return nil, err
	}
	for i := range results {
		advise(&results[i].Report, q, q.Code[i])
	}
	return results, nil
}

// build makes the runner of all code.
func build(ctx context.Context, q Request) (*compile.Result, error) {
	var exercises []compile.Exercise
	for _, c := range q.Code {
		if file := c.Exercise.Changed(q.Root); file != "" {
			return nil, &compile.EnvironmentError{
				Problem: fmt.Sprintf("This cudalab was built from another version of the course: %s has changed since.", file),
				Fix:     Rebuild(q.Root),
			}
		}
		exercises = append(exercises, c.linked(q.Root))
	}
	return compile.Build(ctx, q.Course, exercises...)
}

// Rebuild is what brings cudalab and the course at root together again: a course that has no cudalab to build was
// written by one.
func Rebuild(root string) string {
	if _, err := os.Stat(filepath.Join(root, "cmd", "cudalab")); err != nil {
		return "`cudalab update` brings the course up to date, if this cudalab is the newer one, and else says so."
	}
	return "Build it again: make build, or go build -o bin/cudalab ./cmd/cudalab."
}

// disentangle checks again what others' code may have spoilt, and what nothing explains.
func disentangle(ctx context.Context, q Request, built *compile.Result, results []Result,
	broken, shared []int) (err error) {
	if len(q.Code) == 1 { // which is never too much for one program
		built.Close()
		results[0], err = control(ctx, q, 0, results[0])
		return err
	}
	// An exercise that ends the process may have been brought to it by another's: its initialisation, or what it left
	// behind. What it does in a process of its own is its own, and in a program of its own where others' code runs there
	// in any case.
	var entangled []int
	for i := range built.Exercises {
		if built.Exercises[i].Apart {
			entangled = append(entangled, i)
		}
	}
	for _, i := range shared {
		if othersStart(built, i) {
			entangled = append(entangled, i)
			continue
		}
		runner := run.NewRunner(built.Binary, q.Options)
		results[i] = one(ctx, q, q.Code[i], &built.Exercises[i], runner)
		runner.Close()
	}
	built.Close()
	for _, i := range broken {
		if results[i], err = control(ctx, q, i, results[i]); err != nil {
			return err
		}
	}
	for _, i := range entangled {
		if results[i], err = alone(ctx, q, i); err != nil {
			return err
		}
	}
	return nil
}

// othersStart reports whether code of any other exercise but the i-th runs when the program starts.
func othersStart(built *compile.Result, i int) bool {
	for other := range built.Exercises {
		if e := &built.Exercises[other]; other != i && e.OK() && e.Starts {
			return true
		}
	}
	return false
}

// control looks into what nothing explains: where all goes well with the solution in the place of the student's
// code, it is that code's doing, and is told as such. Without a solution, in a handout, nobody knows.
func control(ctx context.Context, q Request, i int, r Result) (Result, error) {
	e := q.Code[i].Exercise
	if unexplained := (*run.Unexplained)(nil); q.Blamed || !errors.As(r.Err, &unexplained) || !e.HasSolution(q.Root) {
		return r, nil
	}
	q.Blamed = true // it is not looked into once more
	solution := q
	solution.Code = []Code{{Exercise: e, Dir: filepath.Join(q.Root, e.SolutionFolder())}}
	if c, err := alone(ctx, solution, 0); err != nil || c.Report.Status != verdict.Passed {
		return r, err
	}
	return alone(ctx, q, i)
}

// alone checks the i-th exercise's code in a program of its own.
func alone(ctx context.Context, q Request, i int) (Result, error) {
	q.Code = q.Code[i : i+1]
	r, err := Submission(ctx, q)
	if err != nil {
		return Result{}, err
	}
	return r[0], nil
}

// advise says what to do next where the check itself has not.
func advise(r *verdict.Report, q Request, c Code) {
	if r.Next != "" {
		return
	}
	switch r.Status {
	case verdict.Passed:
		if c.Dir == "" {
			r.Next = goOn(c.Exercise, q.Replayed)
		}
	case verdict.Failed, verdict.Timeout, verdict.Crashed:
		r.Next = "mend " + firstError(r) + " and check again; the next check begins with the same workloads"
		if c.Dir != "" {
			r.Next = fmt.Sprintf("mend %s and check again; --seed %d draws the same workloads", firstError(r), r.Seed)
		}
	case verdict.BuildFailed, verdict.Refused:
		r.Next = "mend the first error above and check again"
	}
}

// goOn is what comes behind an exercise that has passed, which may have been with the workloads that it had failed on.
func goOn(e course.Exercise, replayed bool) string {
	next, more := e.Next()
	what := "that was the last exercise"
	if more {
		what = fmt.Sprintf("go on with %s: `cudalab lesson %s`", next.Title, next.Name)
	}
	if replayed {
		what += "; these were the workloads that had failed last time, and another check would draw new ones"
	}
	return what
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
