// Package steps lets code under test be stopped from within. In a browser nothing outside can stop a program and still learn
// where it was: there the code is compiled with a call of Step at the beginning of each function and of each round of a
// loop, as compile.Stepwise writes them.
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

var (
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

// Allow has the process end, with the stacks of all goroutines as its last words, once it has gone on making steps for some
// time; for 0 it never does.
func Allow(d time.Duration) { allowed, looked = d, time.Now() }

func look() {
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
