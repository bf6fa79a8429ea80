package runner

import (
	"os"
	"time"

	"cudalab/grader/judge/runner/steps"
)

// patience is a little less than what cudalab has for a case: whoever ends a worker from outside never learns where it
// was.
const patience = 9800 * time.Millisecond

// watch has a case that takes too long end the process by itself.
func watch() (done func()) {
	steps.Allow(patience)
	return func() { steps.Allow(0) }
}

// sayCrashes does nothing: Go cannot write elsewhere than to the standard error there.
func sayCrashes(*os.File) error { return nil }
