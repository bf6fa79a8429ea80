package run

import (
	"runtime"
	"time"

	"cudalab/grader/machine/child"
)

// Bounds on a runner. They are generous: what they end would not have ended by itself. Those on what a student's
// code does are of its own time, as child.Allowance counts it, so that a busy machine changes no verdict.
const (
	patience    = 5 * time.Minute  // by the clock, with a machine that has no time for the runner
	endTimeout  = 5 * time.Second  // from the closing of the pipe
	runnerGrace = 10 * time.Second // for a Go program to print its stacks, on however busy a machine
	processes   = 8
)

// trialTimeout is how long a case may take where it is one of hundreds that are tried. What goes round is ended by its
// steps before; this is for what waits for what never comes.
const trialTimeout = time.Second

// caseTimeout is how long a case may take. It takes milliseconds; but in a browser all takes twice as long, and a
// timed one on a GPU about a second.
func caseTimeout(device string) time.Duration {
	if device == "sim" && runtime.GOOS != "js" {
		return 5 * time.Second
	}
	return 10 * time.Second
}

// helloTimeout is how long a runner may take to greet: a first start of the driver in a boot takes seconds.
func helloTimeout(device string) time.Duration {
	if device == "sim" {
		return 10 * time.Second
	}
	return 60 * time.Second
}

// fullFrom is how many bytes a runner has resident that is about to run into the limit on them: from half of it on
// Go does little but look for garbage, of which there is none. Whether such code is stopped for its memory or,
// before, for the time that this takes would be chance; it is stopped for its memory.
func fullFrom(device string) uint64 { return memoryLimit(device)/2 + 32<<20 }

// memoryLimit is how many bytes a runner may have resident. The simulator needs some ten MiB, a CUDA context some
// hundred.
func memoryLimit(device string) uint64 {
	if device == "sim" {
		return 1 << 30
	}
	return 4 << 30
}

// lingers is the reason for stopping a runner that does not end though it was asked to: how its case ended is known
// by then.
const lingers child.Reason = "does not end"
