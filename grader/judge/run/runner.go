package run

import (
	"context"
	"errors"

	"cudalab/grader/judge/visible"
	"cudalab/grader/machine/sandbox"
	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
	"cudalab/native/profile"
	"cudalab/native/sim"
)

// Options say what a runner is and where it runs.
type Options struct {
	Binary string // the program
	Device string // "gpu", "sim", or "auto": the GPU where it can be had, else the simulator
	// Visible is the runner's CUDA_VISIBLE_DEVICES, which chooses among the machine's GPUs; "": as it is for cudalab.
	Visible string
	Sandbox *sandbox.Policy // nil: none
	Profile *sim.Profile    // of the simulated device; nil: the built-in one
}

// Runner runs cases, one after another, in a process that it starts when there is a case to run, and in a fresh one after
// that has come to a bad end. All the exercises that are linked in it may share it, one Check at a time.
type Runner struct {
	options Options
	process *process       // nil where none is running
	device  verdict.Device // what the first process greeted with
	gone    error          // why no process can be had any more
}

// NewRunner returns a runner that is not running yet.
func NewRunner(o Options) *Runner { return &Runner{options: o} }

// Close ends the process. The runner's file is free then.
func (r *Runner) Close() { r.end() }

// Running reports whether there is a process.
func (r *Runner) Running() bool { return r.process != nil }

// kind is the kind of device as far as it is known: "auto" until the first process has greeted.
func (r *Runner) kind() string { return r.options.Device }

// begin sees to it that there is a process. What keeps it from greeting stays: the device is not tried once more for
// every exercise.
func (r *Runner) begin(ctx context.Context) error {
	if r.process != nil || r.gone != nil {
		return r.gone
	}
	p, err := start(ctx, r.options)
	switch {
	case ctx.Err() != nil:
		r.process = p
		r.end()
		return cancelledBy(ctx)
	case err != nil:
		r.gone = err
		return err
	}
	r.process = p
	if p.hello.Device.Kind == "" {
		r.end()
		r.gone = &NoDevice{p.hello.Problem}
		return r.gone
	}
	if r.device.Kind == "" {
		r.device = p.hello.Device
		r.device.Note = p.hello.Problem
		if r.device.Kind == string(device.Sim) {
			r.device.Profile = profile.Digest(r.options.Profile)
		}
		r.options.Device = p.hello.Device.Kind // a fresh process goes on where this one leaves off
	}
	p.cut() // what packages print while they are initialised cannot be told apart
	return nil
}

// end ends the process, if there is one, and returns what it had printed.
func (r *Runner) end() string {
	if r.process == nil {
		return ""
	}
	r.process.close()
	result := r.process.child.Wait()
	r.process = nil
	return visible.Text(string(result.Stdout))
}

// printed is what the process has printed since that was last asked.
func (r *Runner) printed() string {
	if r.process == nil {
		return ""
	}
	return r.process.cut()
}

// startErrorRun is what became of a case that could not be run because the code under test ended the process before it
// greeted; ok is false for any other error of begin.
func startErrorRun(err error, caseID string, starts bool, l locator) (run caseRun, ok bool) {
	if born := (*startError)(nil); errors.As(err, &born) {
		return born.run(caseID, starts, l)
	}
	return caseRun{}, false
}
