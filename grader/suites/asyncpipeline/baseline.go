package asyncpipeline

import (
	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

const baselineBlock = 256

// baseline is what the lesson argues against: one stream, memory from Malloc, and a Free that waits for the device
// after every batch.
func baseline(streams []cuda.Stream, batches []contract.Batch) error {
	s := streams[0]
	for _, b := range batches {
		data, err := cuda.Malloc(int64(4 * b.N))
		if err != nil {
			return err
		}
		grid := (b.N + baselineBlock - 1) / baselineBlock
		if err := cuda.MemsetAsync(b.Result, 0, 8, s); err != nil {
			return err
		}
		if err := kernels.Process(grid, baselineBlock, s, data, b.N, b.Multiplier, b.Work); err != nil {
			return err
		}
		if err := kernels.Reduce(grid, baselineBlock, s, data, b.N, b.Result); err != nil {
			return err
		}
		if err := cuda.StreamSynchronize(s); err != nil {
			return err
		}
		if err := cuda.Free(data); err != nil {
			return err
		}
	}
	return nil
}
