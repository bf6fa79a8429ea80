// Believes that every call works, so a failing allocation ends in a kernel that writes to address 0.
//
//cudalab:fails cleanup
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
		cuda.MemsetAsync(b.Result, 0, 8, s)
		data, _ := cuda.MallocAsync(int64(4*b.N), s)
		grid := (b.N + 255) / 256
		kernels.Process(grid, 256, s, data, b.N, b.Multiplier, b.Work) // want: out-of-bounds
		kernels.Reduce(grid, 256, s, data, b.N, b.Result)
		cuda.FreeAsync(data, s)
	}
	return nil
}
