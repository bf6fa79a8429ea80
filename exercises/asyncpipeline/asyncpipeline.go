// Package asyncpipeline is the exercise async-pipeline: many batches of work on a few streams, each with memory of its
// own that the stream itself allocates and frees, while the host waits for nothing.
package asyncpipeline

import (
	"fmt"

	"cudalab/exercises/contract"
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
	// TODO(1a): Answer contract.ErrArgument if there are no streams, or if any batch has N below 1.
	return contract.TODO("1a")
}

// enqueue puts batch i on its stream, whole: set the result to zero, allocate the elements, process them, reduce them
// into the result, free them. Every call only joins the stream's queue.
func enqueue(streams []cuda.Stream, i int, batch contract.Batch) error {
	// TODO(1b): Pick the stream of batch i, and set the 8 bytes at batch.Result to zero in that stream.
	if err := contract.TODO("1b"); err != nil {
		return err
	}

	// TODO(1c): Allocate batch.N float32 elements in the stream, then launch kernels.Process on them there.
	if err := contract.TODO("1c"); err != nil {
		return err
	}

	// TODO(1d): Launch kernels.Reduce on the elements, into batch.Result.
	if err := contract.TODO("1d"); err != nil {
		return err
	}

	// TODO(1e): Free the elements in the stream. Then look back: what if a launch above had failed?
	return contract.TODO("1e")
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
	// TODO(2a): Answer contract.ErrArgument to what cannot be done, then make n streams with cuda.StreamNonBlocking. See
	// to it that all that were made are destroyed on every way out.
	if err := contract.TODO("2a"); err != nil {
		return nil, err
	}

	// TODO(2b): Have Run put the batches on the streams, and wait for every stream.
	if err := contract.TODO("2b"); err != nil {
		return nil, err
	}

	// TODO(2c): Bring the 8 bytes at each Result to the host, and answer them as numbers (number).
	return nil, contract.TODO("2c")
}

// number is the unsigned integer that 8 bytes are, lowest byte first.
func number(bytes []byte) (n uint64) {
	for i, b := range bytes[:8] {
		n |= uint64(b) << (8 * i)
	}
	return n
}
