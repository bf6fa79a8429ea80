// Right, but every batch waits for the one before.
//
//cudalab:fails speed
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
	before, err := cuda.EventCreate()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cuda.EventDestroy(before)) }()
	for i, b := range batches {
		s := streams[i%len(streams)]
		if i > 0 {
			if err := cuda.StreamWaitEvent(s, before); err != nil {
				return err
			}
		}
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
		if err := cuda.EventRecord(before, s); err != nil {
			return err
		}
	}
	return nil
}
