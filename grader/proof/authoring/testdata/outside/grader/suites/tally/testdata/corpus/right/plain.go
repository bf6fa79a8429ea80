// In one line more than the solution.
package tally

import (
	"fmt"

	"cudalab/native/cuda"

	"example.com/outside/exercises/contract"
	"example.com/outside/kernels"
)

func Run(s cuda.Stream, t contract.Tally) error {
	if t.N < 1 {
		return fmt.Errorf("N is %d: %w", t.N, contract.ErrArgument)
	}
	if err := cuda.MemsetAsync(t.Result, 0, 8, s); err != nil {
		return err
	}
	return kernels.Tally(1+t.N/128, 128, s, t.Result, t.N, t.Value)
}
