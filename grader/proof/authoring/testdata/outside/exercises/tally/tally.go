// Package tally is the exercise tally: many threads add to one number.
package tally

import (
	"cudalab/native/cuda"

	"example.com/outside/exercises/contract"
)

// Run has t.Value added t.N times to the number at t.Result, which it sets to zero first, all in stream s.
//
// With N below 1 it answers contract.ErrArgument before it makes a CUDA call.
func Run(s cuda.Stream, t contract.Tally) error {
	// TODO(1a): Answer contract.ErrArgument to an N below 1.
	if err := contract.TODO("1a"); err != nil {
		return err
	}

	// TODO(1b): Set the 8 bytes at t.Result to zero in s, and launch kernels.Tally there with one thread for each addition.
	return contract.TODO("1b")
}
