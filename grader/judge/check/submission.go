package check

import (
	"context"
	"path/filepath"

	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/run"
	"cudalab/grader/machine/lock"
	"cudalab/grader/machine/sandbox"
	"cudalab/grader/suites/course"
	"cudalab/native/sim"
)

// SubmissionRequest says what to check of one student's submission, and how.
type SubmissionRequest struct {
	Root      string // the course's
	Exercises []course.Exercise
	Dir       string       // has a folder for each of them, named as its package
	Device    string       // "gpu", "sim" or "auto"
	GPU       string       // as CUDA_VISIBLE_DEVICES names it; "": as it is for cudalab
	Profile   *sim.Profile // of the simulated device; nil: the built-in one
	Seed      uint64
	Sandbox   *sandbox.Policy // of the runner; nil: none
	// Precompiled is Precompile's, of these exercises and perhaps others; nil: go build does it all.
	Precompiled *compile.Precompiled
	NoTiming    bool
	Given       bool       // as in Request
	Pictures    bool       // as in Request
	Turns       lock.Turns // as in run.Request
}

// Precompile is what makes building many submissions of these exercises cheaper; nil where that has to be left to go build.
// What is wrong then shows in the first build. Preparing may be nil; it is as in Request.
func Precompile(ctx context.Context, root string, exercises []course.Exercise, preparing func()) *compile.Precompiled {
	q := compile.Request{Root: root, Preparing: preparing}
	for _, e := range exercises {
		q.Exercises = append(q.Exercises, part{exercise: e}.build(root))
	}
	p, err := compile.Precompile(ctx, q)
	if err != nil {
		return nil
	}
	return p
}

// recall is Precompile for one check of one exercise, which finds what the checks before it have left.
func recall(ctx context.Context, q Request) *compile.Precompiled {
	p, err := compile.Recall(ctx, compile.Request{Root: q.Root, Preparing: q.Preparing, Exercises: []compile.Exercise{part{exercise: q.Exercise}.build(q.Root)}})
	if err != nil {
		return nil
	}
	return p
}

// Submission checks several exercises with one runner, so that it is built, and the device started, once for all. Every
// result, one for each exercise, is what Exercise would say of it alone, down to the byte but for what is measured:
// whatever ended a process that others' code had run in is checked again in one of its own. An error is one that concerns them
// all, as in Result.Err.
func Submission(ctx context.Context, q SubmissionRequest) ([]Result, error) {
	j := job{
		root: q.Root, options: run.Options{Device: q.Device, Visible: q.GPU, Sandbox: q.Sandbox, Profile: q.Profile},
		precompiled: q.Precompiled, seed: q.Seed, noTiming: q.NoTiming, given: q.Given, pictures: q.Pictures, turns: q.Turns,
	}
	for _, e := range q.Exercises {
		j.parts = append(j.parts, part{e, filepath.Join(q.Dir, e.Package)})
	}
	results, err := j.check(ctx)
	for i := range results {
		advise(&results[i].Report, Request{Dir: q.Dir})
	}
	return results, err
}

// Packages are those that runners of these exercises consist of, and all that they could import, but for the students' own.
func Packages(root string, exercises []course.Exercise) []string {
	var all []compile.Exercise
	for _, e := range exercises {
		all = append(all, part{exercise: e}.build(root))
	}
	return compile.Packages(root, all)
}
