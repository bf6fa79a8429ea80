// Package steps lets code under test be stopped from within. In a browser nothing outside can stop a program and still
// learn where it was: there the code is compiled with a call of Step at the beginning of each function and of each
// round of a loop, as compile.Stepwise writes them. The same calls count the steps of a program that is many programs
// in one, so that one of them without an end leaves the others their turn.
package steps

import (
	"os"
	"runtime"
	"time"

	"cudalab/grader/machine/self"
)

const (
	often = 1 << 16               // steps, after which the clock is looked at
	awake = 50 * time.Millisecond // more time between two looks was the machine's, for other programs
)

// Chosen is the program that is carried out, of those that the code under test is; 0 where it is one alone.
var Chosen int

// Choose has the next call of the code under test be of a program, which may make so many steps; 0: any number.
func Choose(program, most int) {
	Chosen, counted, left = program, most > 0, often
	if counted {
		left = most
	}
}

// Endless is what a program panics with that has made all its steps.
type Endless struct{}

func (Endless) Error() string { return "the code goes on without an end" }

var (
	counted bool // left is all that there are
	left    = often
	allowed time.Duration // that is left; 0: there is no limit
	looked  time.Time
)

// Step is one step of the code under test.
func Step() {
	if left--; left < 0 {
		look()
	}
}

// Allow has the process end, with the stacks of all goroutines as its last words, once it has gone on making steps for
// some time; for 0 it never does.
func Allow(d time.Duration) { allowed, looked = d, time.Now() }

func look() {
	if counted {
		panic(Endless{})
	}
	left = often
	if allowed == 0 {
		return
	}
	now := time.Now()
	allowed -= min(now.Sub(looked), awake)
	looked = now
	if allowed > 0 {
		return
	}
	text := make([]byte, 256<<10)
	_, _ = os.Stderr.Write(text[:runtime.Stack(text, true)])
	os.Exit(self.TooLong)
}
