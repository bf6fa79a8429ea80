// All steps of a batch in one loop, in few words.
package asyncpipeline

import (
	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	if len(streams) == 0 {
		return contract.ErrArgument
	}
	for _, b := range batches {
		if b.N < 1 {
			return contract.ErrArgument
		}
	}
	for i, b := range batches {
		s := streams[i%len(streams)]
		if err := cuda.MemsetAsync(b.Result, 0, 8, s); err != nil {
			return err
		}
		data, err := cuda.MallocAsync(int64(4*b.N), s)
		if err != nil {
			return err
		}
		grid := (b.N + 255) / 256
		if err := kernels.Process(grid, 256, s, data, b.N, b.Multiplier, b.Work); err != nil {
			cuda.FreeAsync(data, s)
			return err
		}
		if err := kernels.Reduce(grid, 256, s, data, b.N, b.Result); err != nil {
			cuda.FreeAsync(data, s)
			return err
		}
		if err := cuda.FreeAsync(data, s); err != nil {
			return err
		}
	}
	return nil
}
