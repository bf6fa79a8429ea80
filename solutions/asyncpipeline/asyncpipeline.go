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
// The streams are all different, and so are the Results; batches may else be alike. Run leaves both slices as they are.
// Asking a stream whether it is done (cuda.StreamQuery) is no wait; asking until it is done is one.
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

// Sums does what Run does on n streams of its own, and answers the sums: sums[i] is what batch i leaves in the 8 bytes
// at its Result, an unsigned 64-bit integer, lowest byte first.
//
// It makes n streams that do not wait for the legacy default stream, and has Run put the batches on them. It waits when
// all of them are enqueued, and not before. Nothing is read before it is there.
//
// With n below 1, or with N below 1 in any batch, it answers contract.ErrArgument before it makes a single CUDA call.
// It stops at the first error that CUDA answers and returns it, without sums. On every way out its streams are gone,
// where one cannot be destroyed the others, and whatever else it has allocated, on the device or on the host. It
// leaves batches as it is. Without batches the answer is no sums and nil, whether or not streams are made.
func Sums(n int, batches []contract.Batch) (sums []uint64, err error) {
	if n < 1 {
		return nil, fmt.Errorf("%d streams: %w", n, contract.ErrArgument)
	}
	streams := make([]cuda.Stream, n)
	// Run would refuse a bad batch as well, but only behind the CUDA calls that make its streams.
	if err := checkArguments(streams, batches); err != nil {
		return nil, err
	}
	made := 0
	// Ahead of the first stream, so that the way out on which the third cannot be made is covered as well.
	defer func() {
		for _, stream := range streams[:made] {
			err = errors.Join(err, cuda.StreamDestroy(stream))
		}
		if err != nil {
			sums = nil
		}
	}()
	for ; made < n; made++ {
		if streams[made], err = cuda.StreamCreateWithFlags(cuda.StreamNonBlocking); err != nil {
			return nil, err
		}
	}

	if err := Run(streams, batches); err != nil {
		return nil, err
	}
	// All streams are fed by now, so they work side by side while the host waits for one after the other.
	for _, stream := range streams {
		if err := cuda.StreamSynchronize(stream); err != nil {
			return nil, err
		}
	}

	raw := make(cuda.Pageable, 8)
	for _, batch := range batches {
		if err := cuda.MemcpyDtoH(raw, batch.Result, 8); err != nil {
			return nil, err
		}
		sums = append(sums, number(raw))
	}
	return sums, nil
}

// number is the unsigned integer that 8 bytes are, lowest byte first.
func number(bytes []byte) (n uint64) {
	for i, b := range bytes[:8] {
		n |= uint64(b) << (8 * i)
	}
	return n
}
