package class

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"cudalab/grader/desk/cause"
	"cudalab/grader/judge/check"
	"cudalab/grader/machine/lock"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

// writeEvery is how often everything is written anew while grading goes on.
const writeEvery = 30 * time.Second

// collectFrom is near how many bytes, for the class and for each worker, all garbage is collected: it is let pile up to
// a multiple of what is in use, and a large class's results are in use to the end.
const collectFrom = 96 << 20

// run grades submissions with several workers and keeps every result as it comes.
func (g *grading) run(ctx context.Context, todo []submission) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	jobs := g.jobs(len(todo))
	if debug.SetMemoryLimit(-1) == math.MaxInt64 { // nobody has asked for another by GOMEMLIMIT
		debug.SetMemoryLimit(int64(1+jobs) * collectFrom)
		defer debug.SetMemoryLimit(math.MaxInt64)
	}
	w := &workers{grading: g, gpus: newGPUs(g.places())}
	settled := w.start(ctx, todo, jobs)
	began, wrote := time.Now(), time.Now()
	p := Progress{Total: len(todo)}
	if len(todo) > 0 {
		g.tell(p)
	}
	var failed error
	for r := range settled {
		if failed != nil {
			continue
		}
		if failed = g.keep(r); failed != nil {
			cancel()
			continue
		}
		p.Done++
		switch {
		case r.student.Status == Errored:
			p.Errors++
		case r.student.Passed():
			p.Passed++
		}
		p.Left = time.Since(began) / time.Duration(p.Done) * time.Duration(p.Total-p.Done)
		g.tell(p)
		if time.Since(wrote) > writeEvery {
			c := g.class()
			c.Live = &Live{Progress: p, At: time.Now()}
			failed = g.folder.class(c, g.Writers)
			wrote = time.Now()
		}
	}
	return cmp.Or(failed, ctx.Err())
}

// retried is how often what cudalab or the machine failed at is tried again.
const retried = 2

// workers grade submissions side by side.
type workers struct {
	*grading
	gpus *gpus
}

// settled is what came of a submission.
type settled struct {
	student Student
	timings Timings
}

// start has so many workers take one submission after another. The channel is closed when all have ended; a submission
// that the context's end has interrupted does not come.
func (w *workers) start(ctx context.Context, todo []submission, jobs int) <-chan settled {
	next := make(chan submission)
	results := make(chan settled)
	go func() {
		defer close(next)
		for _, s := range todo {
			select {
			case next <- s:
			case <-ctx.Done():
				return
			}
		}
	}()
	ended := make(chan struct{})
	for range jobs {
		go func() {
			defer func() { ended <- struct{}{} }()
			for s := range next {
				if r, ok := w.grade(ctx, s); ok {
					results <- r
				}
			}
		}()
	}
	go func() {
		for range jobs {
			<-ended
		}
		close(results)
	}()
	return results
}

// grade grades one submission, again where that failed by no fault of its own. It is not ok where the context ended.
func (w *workers) grade(ctx context.Context, s submission) (r settled, ok bool) {
	began := time.Now()
	student := Student{Schema: SchemaVersion, ID: s.ID, Status: Graded, Problem: s.Problem, Notes: s.Notes,
		Digest: s.digest}
	if student.Notes == nil {
		student.Notes = []string{}
	}
	r.timings = Timings{Schema: SchemaVersion, ID: s.ID, Exercises: []verdict.Report{}}
	var reports []verdict.Report
	var err error
	var last *gpu
	for attempt := 1; attempt <= 1+retried; attempt++ {
		r.timings.Attempts = attempt
		var g *gpu
		if g, err = w.gpus.take(last); err != nil {
			break
		}
		reports, err = w.attempt(ctx, s, attempt, g.name)
		if ctx.Err() != nil {
			w.gpus.give(g, s.ID, false)
			return settled{}, false
		}
		if w.gpus.give(g, s.ID, err != nil) {
			w.say("GPU %s has failed at %d submissions in a row and is no longer used: %v", g.name, lostAfter, err)
		}
		last, r.timings.GPU = g, g.name
		if err == nil {
			break
		}
	}
	for _, e := range w.header.Exercises {
		student.MaxScore += e.MaxScore
	}
	if err != nil {
		student.Status, student.Problem = Errored, fmt.Sprintf("Not graded, by no fault of the submission's: %s",
			sentence(err))
	}
	// What could be decided stays, whatever became of the rest.
	if err == nil || slices.ContainsFunc(reports, func(r verdict.Report) bool { return r.Status != verdict.Errored }) {
		r.timings.Exercises = reports
		student.Exercises = w.settle(s, reports)
	}
	for _, report := range student.Exercises {
		if err == nil {
			student.Score += report.Score
		}
	}
	s.unread(&student)
	r.timings.DurationMS = time.Since(began).Milliseconds()
	r.student = student
	return r, true
}

// attempt checks what a submission holds, once, in the course's order. An error is not the submission's fault, or
// the context's end; a panic of cudalab's own is one. The exercises that it is not about have their reports all the
// same, and those that it is about have one that says so.
func (w *workers) attempt(ctx context.Context, s submission, attempt int, gpu string) (reports []verdict.Report,
	err error) {
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
	exercises := slices.DeleteFunc(slices.Clone(w.Exercises), func(e course.Exercise) bool {
		return !slices.Contains(s.Packages, e.Package)
	})
	q := w.request
	q.Code, q.GPU, q.Turns = check.Submitted(s.Dir, exercises), gpu, limit.waiting(lock.On(gpu))
	results, err := check.Submission(ctx, q)
	if w.Why {
		w.look(ctx, q, results)
	}
	var decided []verdict.Report
	for _, r := range results {
		if d := r.Report.Device; d.Name != "" && d.Name != w.header.Device.Name && r.Err == nil {
			r.Err = fmt.Errorf("GPU %s is of another model (%s) than the one that the class is graded on (%s)", gpu, d.Name,
				w.header.Device.Name)
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

// look enters in the reports of what fails where one change is enough.
func (w *workers) look(ctx context.Context, q check.Request, results []check.Result) {
	for i := range results {
		one := q
		one.Code = q.Code[i : i+1]
		if r := &results[i]; r.Err == nil {
			r.Report.Likely = cause.Likely(ctx, one, *r, true)
		}
	}
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
			Schema: verdict.SchemaVersion, Exercise: e.Name, Device: w.header.Device, Seed: w.header.Seed,
			Status: verdict.Timeout,
			Message: fmt.Sprintf("The submission was stopped after %v, the time for all its exercises together, before this "+
				"one was decided.",
				w.Timeout.Round(time.Second)),
			MaxScore: w.header.Exercises[i].MaxScore, Checks: []verdict.Check{},
		})
	}
	return reports
}

// settle gives each of the class's exercises its report.
func (w *workers) settle(s submission, reports []verdict.Report) []verdict.Report {
	var all []verdict.Report
	for i, e := range w.header.Exercises {
		at := slices.IndexFunc(reports, func(r verdict.Report) bool { return r.Exercise == e.Name })
		if at < 0 {
			all = append(all, missing(e, s, w.header))
			continue
		}
		r := settle(reports[at], w.Exercises[i].Suite.IsTimed, filepath.Clean(s.Dir))
		r.Device = w.header.Device
		all = append(all, r)
	}
	return all
}
