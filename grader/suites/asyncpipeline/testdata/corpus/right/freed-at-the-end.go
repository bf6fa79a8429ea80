// Allocates for all batches first and frees all at the end, in one defer that joins the errors.
package asyncpipeline

import (
	"errors"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, batches []contract.Batch) (err error) {
	if len(streams) == 0 {
		return contract.ErrArgument
	}
	for _, b := range batches {
		if b.N < 1 {
			return contract.ErrArgument
		}
	}
	var buffers []cuda.DevicePtr
	defer func() {
		for i, data := range buffers {
			err = errors.Join(err, cuda.FreeAsync(data, streams[i%len(streams)]))
		}
	}()
	for i, b := range batches {
		data, err := cuda.MallocAsync(int64(4*b.N), streams[i%len(streams)])
		if err != nil {
			return err
		}
		buffers = append(buffers, data)
	}
	for i, b := range batches {
		if err := compute(b, buffers[i], streams[i%len(streams)]); err != nil {
			return err
		}
	}
	return nil
}

// compute is what a batch does with its buffer.
func compute(b contract.Batch, data cuda.DevicePtr, s cuda.Stream) error {
	if err := cuda.MemsetAsync(b.Result, 0, 8, s); err != nil {
		return err
	}
	grid := (b.N + 255) / 256
	if err := kernels.Process(grid, 256, s, data, b.N, b.Multiplier, b.Work); err != nil {
		return err
	}
	return kernels.Reduce(grid, 256, s, data, b.N, b.Result)
}
