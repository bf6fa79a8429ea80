package check

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"cudalab/grader/judge/run"
	"cudalab/grader/machine/lock"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

// BenchResult is a report with why it could not be made.
type BenchResult struct {
	Report verdict.BenchReport
	Err    error // as Result's
}

// Bench measures the student's code, the solution and what they stand for side by side. Code that does not pass its
// checks is left out: how long wrong results take says nothing. Seed is that of the check that it has to pass
// before. With onlySolution it is left out in any case.
func Bench(ctx context.Context, q Request, onlySolution bool) BenchResult {
	began := time.Now()
	r := bench(ctx, q, onlySolution)
	r.Report.DurationMS = time.Since(began).Milliseconds()
	return r
}

func bench(ctx context.Context, q Request, onlySolution bool) BenchResult {
	e := q.Code[0].Exercise
	reference := q
	reference.Code = []Code{{Exercise: e, Dir: course.Relative(filepath.Join(q.Root, e.SolutionFolder()))}}
	if onlySolution {
		report, _, err := measure(ctx, reference, true, 0)
		return BenchResult{report, err}
	}
	sound := q
	sound.NoTiming = true
	checked := Exercise(ctx, sound)
	if checked.Err != nil {
		return BenchResult{withoutFigures(checked.Report), checked.Err}
	}
	report := verdict.BenchReport{Status: checked.Report.Status}
	next := 0
	var err error
	if report.Status == verdict.Passed {
		report, next, err = measure(ctx, q, false, 0)
		if err != nil || report.Status == verdict.Passed {
			return BenchResult{report, err}
		}
	}
	// The solution's own figures are worth seeing all the same.
	rest, _, err := measure(ctx, reference, true, next)
	if err != nil {
		return BenchResult{rest, err}
	}
	rest.Workloads = append(report.Workloads, rest.Workloads...)
	rest.Status, rest.Findings, rest.Output = report.Status, report.Findings, report.Output
	rest.Message, rest.Next = leftOut(e.Name, checked.Report, len(report.Findings) > 0)
	return BenchResult{rest, nil}
}

// measure measures code from benchmark number from on.
func measure(ctx context.Context, q Request, withoutYours bool, from int) (verdict.BenchReport, int, error) {
	c := q.Code[0]
	built, err := build(ctx, q)
	if err == nil && !built.Exercises[0].OK() {
		err = fmt.Errorf("the code in %s could be built before, and cannot be any more", c.Folder(q.Root))
	}
	if err != nil {
		return withoutFigures(unbuilt(q, c, verdict.Errored, verdict.Check{}, err).Report), from, err
	}
	defer built.Close()
	q.Turns = lock.Here()
	runner := run.NewRunner(built.Binary, q.Options)
	defer runner.Close()
	linked := &built.Exercises[0]
	code := run.Code{Suite: c.Exercise.Suite, Package: linked.ImportPath, Name: nameIn(linked)}
	return runner.Bench(ctx, code, withoutYours, from)
}

// withoutFigures is the report where nothing could be measured, for the reason that another gives.
func withoutFigures(r verdict.Report) verdict.BenchReport {
	return verdict.BenchReport{Schema: verdict.BenchSchemaVersion, Exercise: r.Exercise, Device: r.Device,
		Status:  r.Status,
		Message: r.Message, Next: r.Next}
}

// leftOut says why the student's code is not measured, and what to do about that.
func leftOut(name string, checked verdict.Report, ended bool) (message, next string) {
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
