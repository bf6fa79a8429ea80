package class

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"cudalab/grader/judge/check"
	"cudalab/grader/machine/lock"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

// attempt checks what a submission holds, once, in the course's order. An error is not the submission's fault, or the
// context's end; a panic of cudalab's own is one. The exercises that it is not about have their reports all the same, and
// those that it is about have one that says so.
func (w *workers) attempt(ctx context.Context, s submission, attempt int, gpu string) (reports []verdict.Report, err error) {
	defer func() {
		if v := recover(); v != nil {
			w.say("cudalab itself panicked while it graded %s, please report it: %v\n\n%s", s.ID, v, debug.Stack())
			err = fmt.Errorf("cudalab itself panicked: %v", v)
		}
	}()
	if w.fault != nil {
		if err := w.fault(s.ID, attempt, gpu); err != nil {
			return nil, err
		}
	}
	if len(s.Packages) == 0 {
		return nil, nil
	}
	ctx, limit, cancel := withBudget(ctx, w.Timeout)
	defer cancel()
	exercises := slices.DeleteFunc(slices.Clone(w.Exercises), func(e course.Exercise) bool { return !slices.Contains(s.Packages, e.Package) })
	q := w.request
	q.Code, q.GPU, q.Turns = check.Submitted(s.Dir, exercises), gpu, limit.waiting(lock.On(gpu))
	results, err := check.Submission(ctx, q)
	var decided []verdict.Report
	for _, r := range results {
		if d := r.Report.Device; d.Name != "" && d.Name != w.header.Device.Name && r.Err == nil {
			r.Err = fmt.Errorf("GPU %s is of another model (%s) than the one that the class is graded on (%s)", gpu, d.Name, w.header.Device.Name)
		}
		if r.Err == nil {
			decided = append(decided, r.Report)
		} else {
			r.Report.Status, r.Report.Score, r.Report.Checks = verdict.Errored, 0, nil
			err = cmp.Or(err, r.Err)
		}
		reports = append(reports, r.Report)
	}
	if errors.Is(context.Cause(ctx), errTimeout) {
		return w.outOfTime(exercises, decided), nil
	}
	return reports, err
}

// outOfTime completes the reports of a submission whose time was up: what had been decided until then stays.
func (w *workers) outOfTime(exercises []course.Exercise, reports []verdict.Report) []verdict.Report {
	for i, e := range w.header.Exercises {
		name := func(r verdict.Report) bool { return r.Exercise == e.Name }
		asked := slices.ContainsFunc(exercises, func(x course.Exercise) bool { return x.Name == e.Name })
		if !asked || slices.ContainsFunc(reports, name) {
			continue
		}
		reports = append(reports, verdict.Report{
			Schema: verdict.SchemaVersion, Exercise: e.Name, Device: w.header.Device, Seed: w.header.Seed, Status: verdict.Timeout,
			Message: fmt.Sprintf("The submission was stopped after %v, the time for all its exercises together, before this one was decided.",
				w.Timeout.Round(time.Second)),
			MaxScore: w.header.Exercises[i].MaxScore, Checks: []verdict.Check{},
		})
	}
	return reports
}
