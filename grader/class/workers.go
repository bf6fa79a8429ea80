package class

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cudalab/grader/suite/verdict"
)

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
	student := Student{Schema: SchemaVersion, ID: s.ID, Status: Graded, Problem: s.Problem, Notes: s.Notes, Digest: s.digest}
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
		student.Status, student.Problem = Errored, fmt.Sprintf("Not graded, by no fault of the submission's: %s", sentence(err))
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

func sentence(err error) string {
	text := valid(strings.TrimSpace(err.Error()))
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
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
