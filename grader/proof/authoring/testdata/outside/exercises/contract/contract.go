// Package contract holds what this course's exercises, solutions and suites share.
package contract

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

// Tally is what the tally exercise is to add up, and where.
type Tally struct {
	N     int    // how many times, at least 1
	Value uint64 // what is added each time
	// Result is 8 bytes of device memory that the caller owns. It holds garbage until the exercise has set it to zero.
	Result cuda.DevicePtr
}

// ErrArgument is what an exercise answers to arguments that its contract rules out.
var ErrArgument = contract.ErrArgument

// TODO marks a gap.
func TODO(id string) error { return contract.TODO(id) }
