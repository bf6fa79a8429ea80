package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cudalab/grader/machine/child"
)

var errCancelled = errors.New("stopped before it was done")

// cancelledBy is the error where the context ended a check. It is the context's as well.
func cancelledBy(ctx context.Context) error {
	return fmt.Errorf("%w: %w", errCancelled, context.Cause(ctx))
}

// NoDevice is the error where the device that was asked for cannot be had.
type NoDevice struct{ Problem string } // what is missing and what to do, in sentences

func (e *NoDevice) Error() string { return e.Problem }

// Busy is the error where the machine had too little time for the code under test to say anything about it.
type Busy struct{ child child.Result }

func (e *Busy) Error() string {
	return fmt.Sprintf("the machine is too busy: within %v it gave the code %v of CPU time, and the code did not get "+
		"done with it.",
		e.child.Duration.Round(time.Second), e.child.CPU.Round(time.Millisecond))
}
