// Package tally is the exercise tally: many threads add to one number.
package tally

import (
	"cudalab/native/cuda"

	"example.com/outside/exercises/contract"
	"example.com/outside/kernels"
)

// Run has t.Value added t.N times to the number at t.Result, which it sets to zero first, all in stream s.
//
// With N below 1 it answers contract.ErrArgument before it makes a CUDA call.
func Run(s cuda.Stream, t contract.Tally) error {
	if t.N < 1 {
		return contract.ErrArgument
	}

	// Both are in one stream, so the zero is there before the first thread adds to it.
	if err := cuda.MemsetAsync(t.Result, 0, 8, s); err != nil {
		return err
	}
	const block = 256
	return kernels.Tally((t.N+block-1)/block, block, s, t.Result, t.N, t.Value)
}
