package run

import (
	"context"

	"cudalab/grader/judge/visible"
	"cudalab/grader/machine/lock"
	"cudalab/grader/machine/sandbox"
	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
	"cudalab/native/profile"
	"cudalab/native/sim"
)

// Options say how code is checked: on what, and what is left out or done besides.
type Options struct {
	Device   string          // "gpu", "sim", or "auto": the GPU where it can be had, else the simulator
	GPU      string          // the runner's CUDA_VISIBLE_DEVICES; "": as it is for cudalab
	Profile  *sim.Profile    // of the simulated device; nil: the built-in one
	Sandbox  *sandbox.Policy // of the runner; nil: none
	Seed     uint64          // draws the workloads
	NoTiming bool
	Ahead    bool // on a simulated device: carry timed cases out while what came before them is judged
	Given    bool // have the traces hold what it takes to carry their calls out again
	Pictures bool // run the cases once more, for Result.Pictures
	Blamed   bool // with the solution in its place all goes well: what nothing explains is the code's doing
	// Turns are waited for where there may be a GPU: Time for a timed case and for a benchmark, Alone for a timed case
	// that is repeated, and Share for everything else.
	Turns lock.Turns
}

// Runner runs cases, one after another, in a process that it starts when there is a case to run, and in a fresh one
// after that has come to a bad end. All the exercises that are linked in it may share it, one Check at a time.
type Runner struct {
	Options                // Device is the one that "auto" has come to, once the first process has greeted
	binary  string         // the program
	process *process       // nil where none is running
	device  verdict.Device // what the first process greeted with
	gone    error          // why no process can be had any more
}

// NewRunner returns a runner that is not running yet.
func NewRunner(binary string, o Options) *Runner { return &Runner{Options: o, binary: binary} }

// Close ends the process. The runner's file is free then.
func (r *Runner) Close() { r.end() }

// Running reports whether there is a process.
func (r *Runner) Running() bool { return r.process != nil }

// begin sees to it that there is a process. What keeps it from greeting stays: the device is not tried once more for
// every exercise.
func (r *Runner) begin(ctx context.Context) error {
	if r.process != nil || r.gone != nil {
		return r.gone
	}
	p, err := r.start(ctx)
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
			r.device.Profile = profile.Digest(r.Profile)
		}
		r.Device = p.hello.Device.Kind // a fresh process goes on where this one leaves off
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
