package class

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cudalab/grader/class/intake"
	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/run"
	"cudalab/grader/machine/lock"
	"cudalab/grader/machine/sandbox"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

// prepared is what is known before the first submission is graded.
type prepared struct {
	request  check.Request // of every check, but for what is a submission's own
	device   verdict.Device
	versions Versions
	cost     cost
}

// prepare makes sure that submissions can be graded here, safely and rightly: it checks the solutions of what was
// handed in as it will check the submissions, and they must pass.
func prepare(ctx context.Context, o Options, submissions []intake.Submission) (*prepared, error) {
	p := &prepared{cost: cost{checks: map[string]time.Duration{}, timing: map[string]time.Duration{}}}
	for _, e := range o.Exercises {
		if !e.HasSolution(o.Root) {
			return nil, &compile.EnvironmentError{
				Problem: fmt.Sprintf("The course in %s has no solution of %s, without which nobody can be graded.", o.Root, e.Name),
				Fix:     "Grade with the instructors' course, not with the copy that was handed out.",
			}
		}
	}
	walls, err := confine(&o)
	if err != nil {
		return nil, err
	}
	needed := handedIn(o.Exercises, submissions)
	p.request = check.Request{
		Course:  compile.Course{Root: o.Root},
		Options: run.Options{Device: o.Device, Profile: o.Profile, Sandbox: walls},
	}
	p.request.Precompiled = check.Precompile(ctx, o.Root, needed, func() { o.say("%s", compile.Preparing()) })
	q := p.request
	q.Code, q.Seed, q.GPU = check.Submitted(filepath.Join(o.Root, "solutions"), needed), 1, gpusOf(o)[0]
	q.Turns = lock.On(q.GPU)
	var alone time.Duration // that the GPU was held for timing
	timing := q.Turns.Time
	q.Turns.Time = func(ctx context.Context) (func(), error) {
		release, err := timing(ctx)
		began := time.Now()
		return func() {
			alone += time.Since(began)
			release()
		}, err
	}
	began := time.Now()
	results, err := check.Submission(ctx, q)
	if err != nil {
		return nil, err
	}
	p.cost.build = time.Since(began)
	for i, r := range results {
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case r.Err != nil:
			return nil, r.Err
		case r.Report.Status != verdict.Passed:
			return nil, fmt.Errorf("the solution of %s does not pass here, so nobody's grade would be right; "+
				"`cudalab check %[1]s --solution --device %[2]s` says why", needed[i].Name, r.Report.Device.Kind)
		}
		took := time.Duration(r.Report.DurationMS) * time.Millisecond
		each := alone / time.Duration(len(results))
		p.cost.build -= took
		p.cost.checks[needed[i].Package], p.cost.timing[needed[i].Package] = max(0, took-each), each
		p.device = r.Report.Device
	}
	if p.device.Note != "" {
		o.say("Grading on the simulated device: %s", p.device.Note)
		p.device.Note = ""
	}
	p.request.Device, p.request.Sandbox = p.device.Kind, forDevice(walls, p.device.Kind)
	if p.versions.Go, err = compile.GoVersion(ctx, o.Root); err != nil {
		return nil, err
	}
	if p.versions.Course, err = courseDigest(o.Root, o.Exercises); err != nil {
		return nil, err
	}
	p.versions.Cudalab, err = ownVersion()
	return p, err
}

// handedIn are the exercises that somebody has handed in; where nobody has anything the first one, which shows the
// device.
func handedIn(all []course.Exercise, submissions []intake.Submission) []course.Exercise {
	var handed []course.Exercise
	for _, e := range all {
		if slices.ContainsFunc(submissions, func(s intake.Submission) bool {
			return slices.Contains(s.Packages,
				e.Package)
		}) {
			handed = append(handed, e)
		}
	}
	if len(handed) == 0 {
		return all[:1]
	}
	return handed
}

// confine decides how strangers' code is confined, and says so; nil: not at all.
func confine(o *Options) (*sandbox.Policy, error) {
	if o.Insecure {
		o.say("The submissions' code is not confined, as --insecure says: it can do whatever you can.")
		return nil, nil
	}
	report := sandbox.Supported()
	if gaps := report.Gaps(); len(gaps) > 0 {
		return nil, &compile.EnvironmentError{
			Problem: "This machine cannot confine the submissions' code. It could " + strings.Join(gaps, "; it could ") + ".",
			Fix: "`cudalab doctor` says what is missing. If you trust everyone who has handed in, or grade in a " +
				"container or a virtual machine that has nothing else in it, use --insecure.",
		}
	}
	var names []string
	for _, part := range report.Parts {
		if part.InForce {
			names = append(names, part.Name)
		}
	}
	o.say("The submissions' code is confined by %s.", strings.Join(names, ", "))
	return forDevice(&sandbox.Policy{}, o.Device), nil
}

// forDevice lets a confined runner use the GPU, unless it is known that it has no need to.
func forDevice(policy *sandbox.Policy, device string) *sandbox.Policy {
	if policy == nil {
		return nil
	}
	changed := *policy
	changed.GPU = device != "sim"
	return &changed
}
