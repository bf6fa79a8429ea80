// Package asyncpipeline is the exercise async-pipeline: many batches of work on a few streams, each with memory of its
// own that the stream itself allocates and frees, while the host waits for nothing.
package asyncpipeline

import (
	"errors"
	"fmt"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

// Run puts every batch on a stream, batch i on streams[i%len(streams)], and returns without waiting for the device.
//
// The streams are all different; batches may be alike. Run leaves both slices as they are. Asking a stream whether it is
// done (cuda.StreamQuery) is no wait; asking until it is done is one.
//
// There may be any number of streams, from 1 on, and of batches, from 0 on. N and Work are at most math.MaxInt32, Work
// is not below 0, and Multiplier is any finite number.
//
// With no streams, or with N below 1 in any batch, it answers contract.ErrArgument before it makes a single CUDA call.
// It stops at the first error that CUDA answers and returns it; memory that it has allocated is freed on every way out.
func Run(streams []cuda.Stream, batches []contract.Batch) error {
	if err := checkArguments(streams, batches); err != nil {
		return err
	}
	for i, batch := range batches {
		if err := enqueue(streams, i, batch); err != nil {
			return fmt.Errorf("batch %d: %w", i, err)
		}
	}
	return nil
}

// checkArguments answers contract.ErrArgument, or an error that wraps it, to what Run cannot work with.
func checkArguments(streams []cuda.Stream, batches []contract.Batch) error {
	if len(streams) == 0 {
		return fmt.Errorf("no streams: %w", contract.ErrArgument)
	}
	// All batches are looked at before the first is enqueued: work that is on a stream cannot be taken back.
	for i, batch := range batches {
		if batch.N < 1 {
			return fmt.Errorf("batch %d has %d elements: %w", i, batch.N, contract.ErrArgument)
		}
	}
	return nil
}

// enqueue puts batch i on its stream, whole: set the result to zero, allocate the elements, process them, reduce them
// into the result, free them. Every call only joins the stream's queue.
func enqueue(streams []cuda.Stream, i int, batch contract.Batch) error {
	// One stream for the whole batch: its order is the only one that holds these five steps together.
	stream := streams[i%len(streams)]
	if err := cuda.MemsetAsync(batch.Result, 0, 8, stream); err != nil {
		return err
	}

	data, err := cuda.MallocAsync(4*int64(batch.N), stream)
	if err != nil {
		return err
	}

	// One thread per element; the last block is cut short where N is no multiple of its size, hence rounding up.
	const block = 256
	grid := (batch.N + block - 1) / block
	if err := kernels.Process(grid, block, stream, data, batch.N, batch.Multiplier, batch.Work); err != nil {
		return errors.Join(err, cuda.FreeAsync(data, stream))
	}
	if err := kernels.Reduce(grid, block, stream, data, batch.N, batch.Result); err != nil {
		// The kernel before is already in the queue and still uses data; the free waits its turn behind it.
		return errors.Join(err, cuda.FreeAsync(data, stream))
	}

	// The kernels have hardly begun. The stream frees the memory when it gets here, not now.
	return cuda.FreeAsync(data, stream)
}
