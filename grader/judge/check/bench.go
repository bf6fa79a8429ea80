package check

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/run"
	"cudalab/grader/machine/lock"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
	"cudalab/native/sim"
)

// BenchRequest says what to measure and how.
type BenchRequest struct {
	Root     string // the course's
	Exercise course.Exercise
	Dir      string       // a folder with the code to measure instead of the exercise's own; "" otherwise
	Device   string       // "gpu", "sim" or "auto"
	Profile  *sim.Profile // of the simulated device; nil: the built-in one
	Seed     uint64       // of the check that the code has to pass before it is measured, as Request's
	Solution bool         // measure only the solution, beside what it stands for
	// Preparing, if set, is called where it takes long to compile what is not the student's; see compile.Request.
	Preparing func()
}

// BenchResult is a report with why it could not be made.
type BenchResult struct {
	Report verdict.BenchReport
	Err    error // as Result's
}

// Bench measures the student's code, the solution and what they stand for side by side. Code that does not pass its checks
// is left out: how long wrong results take says nothing.
func Bench(ctx context.Context, q BenchRequest) BenchResult {
	began := time.Now()
	r := bench(ctx, q)
	r.Report.DurationMS = time.Since(began).Milliseconds()
	return r
}

func bench(ctx context.Context, q BenchRequest) BenchResult {
	reference := course.Relative(filepath.Join(q.Root, q.Exercise.SolutionFolder()))
	if q.Solution {
		report, _, err := benchDir(ctx, q, reference, true, 0)
		return BenchResult{report, err}
	}
	dir := q.Dir
	if dir == "" {
		dir = course.Relative(filepath.Join(q.Root, q.Exercise.Folder()))
	}
	sound := Request{Root: q.Root, Exercise: q.Exercise, Dir: q.Dir, Device: q.Device, Profile: q.Profile, Seed: q.Seed,
		NoTiming: true, Preparing: q.Preparing}
	checked := checkDir(ctx, sound, dir)
	if checked.Err != nil {
		return BenchResult{withoutFigures(checked.Report), checked.Err}
	}
	report := verdict.BenchReport{Status: checked.Report.Status}
	next := 0
	var err error
	if report.Status == verdict.Passed {
		report, next, err = benchDir(ctx, q, dir, false, 0)
		if err != nil || report.Status == verdict.Passed {
			return BenchResult{report, err}
		}
	}
	// The solution's own figures are worth seeing all the same.
	rest, _, err := benchDir(ctx, q, reference, true, next)
	if err != nil {
		return BenchResult{rest, err}
	}
	rest.Workloads = append(report.Workloads, rest.Workloads...)
	rest.Status, rest.Findings, rest.Output = report.Status, report.Findings, report.Output
	rest.Message, rest.Next = leftOut(q, checked.Report, len(report.Findings) > 0)
	return BenchResult{rest, nil}
}

// withoutFigures is the report where nothing could be measured, for the reason that another gives.
func withoutFigures(r verdict.Report) verdict.BenchReport {
	return verdict.BenchReport{Schema: verdict.BenchSchemaVersion, Exercise: r.Exercise, Device: r.Device, Status: r.Status,
		Message: r.Message, Next: r.Next}
}

// leftOut says why the student's code is not measured, and what to do about that.
func leftOut(q BenchRequest, checked verdict.Report, ended bool) (message, next string) {
	name := q.Exercise.Name
	see := fmt.Sprintf("`cudalab check %s` says more", name)
	switch {
	case ended:
		return "Your code is left out from where it did not end well.", "mend what is said above and measure again"
	case checked.Status == verdict.NotStarted:
		return "Your code is left out: the skeleton is as it was handed out.", checked.Next
	case checked.Status == verdict.BuildFailed:
		return "Your code is left out: it does not compile.", see
	case checked.Status == verdict.Refused:
		return "Your code is left out: it uses what an exercise may not use.", see
	case checked.Message != "":
		return "Your code is left out: " + checked.Message, checked.Next
	}
	return "Your code is left out: it does not pass its checks, and how long wrong results take says nothing.", see
}

// benchDir measures the code in a folder, from benchmark number from on.
func benchDir(ctx context.Context, q BenchRequest, dir string, withoutYours bool, from int) (verdict.BenchReport, int, error) {
	p := part{q.Exercise, dir}
	built, err := (*compile.Result)(nil), outdated(q.Root, q.Exercise)
	if err == nil {
		built, err = compile.Build(ctx, compile.Request{Root: q.Root, Exercises: []compile.Exercise{p.build(q.Root)}, Preparing: q.Preparing})
	}
	if err == nil && !built.Exercises[0].OK() {
		err = fmt.Errorf("the code in %s could be built before, and cannot be any more", dir)
	}
	if err != nil {
		r := unbuilt(Request{Exercise: q.Exercise, Device: q.Device}, verdict.Errored, verdict.Check{}, err).Report
		return withoutFigures(r), from, err
	}
	defer built.Close()
	runner := run.NewRunner(run.Options{Binary: built.Binary, Device: q.Device, Profile: q.Profile})
	defer runner.Close()
	return run.Bench(ctx, run.BenchRequest{
		Suite: q.Exercise.Suite, Runner: runner, Package: built.Exercises[0].ImportPath, WithoutYours: withoutYours, From: from,
		Name: nameIn(&built.Exercises[0]), Turns: lock.Here(),
	})
}
