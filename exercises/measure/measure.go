// Package measure is the exercise measure: a clock for work that a stream does, and with it what three ways of having
// memory cost.
package measure

import (
	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

// Time answers how long a round of work takes in stream s, in milliseconds: the time from right before the first timed round
// to right after the last, by two events in s, divided by rounds.
//
// work enqueues one round in the stream that it is given, and does not panic. Time calls it warm times to warm up and
// then rounds times on the clock, each time with s. Between the two records it enqueues nothing but these rounds, and
// neither waits nor asks whether something is done. After the second record it waits for s, and never for another
// stream. There is no upper limit to warm and rounds.
//
// With rounds below 1, warm below 0 or no work Time answers contract.ErrArgument before it makes a single CUDA call. It
// stops at the first error, of CUDA or of work, and returns it, with any ms. Its events are destroyed on every way out.
func Time(s cuda.Stream, warm, rounds int, work func(cuda.Stream) error) (ms float32, err error) {
	// TODO(1a): Answer contract.ErrArgument if rounds is below 1, warm is below 0, or work is nil.
	if err := contract.TODO("1a"); err != nil {
		return 0, err
	}

	// TODO(1b): Create two events with timing. See to it that both are destroyed on every way out.
	if err := contract.TODO("1b"); err != nil {
		return 0, err
	}

	// TODO(1c): Call work with s, warm times.
	if err := contract.TODO("1c"); err != nil {
		return 0, err
	}

	// TODO(1d): Record the first event in s, call work with s, rounds times, and record the second event in s.
	if err := contract.TODO("1d"); err != nil {
		return 0, err
	}

	// TODO(1e): Wait for the second event. Answer the time between the two, for one round.
	return 0, contract.TODO("1e")
}

// Compare times three ways of having memory of n uint32 elements, at most math.MaxInt32, 4*n bytes, for kernels.Gray.
// Each is timed in s, over so many rounds, behind at least one warm-up round of its own kind:
//
//   - Synchronous: a round is cuda.Malloc of 4*n bytes, no more, Gray in s, cuda.Free.
//   - Ordered: a round is cuda.MallocAsync of as many in s, Gray in s, cuda.FreeAsync in s. A pool of one's own
//     will do.
//   - Kept: a round is Gray in s, on memory of as many or more that was allocated before the warm-up and is freed after
//     the last round.
//
// Between a way's two records nothing else is enqueued, waited for or asked. After the second one Compare may wait for s,
// and never for another stream; cuda.Free waits for the whole device, and is welcome wherever no clock of another way runs.
//
// With n or rounds below 1 Compare answers contract.ErrArgument before it makes a single CUDA call. It stops at the first
// error of CUDA and returns it. Memory and events are gone on every way out.
func Compare(s cuda.Stream, n, rounds int) (c contract.Comparison, err error) {
	// TODO(2a): Answer contract.ErrArgument if n or rounds is below 1. What follows is written; its rounds are not.
	if err := contract.TODO("2a"); err != nil {
		return c, err
	}
	if c.Synchronous, err = Time(s, 1, rounds, synchronous(n)); err != nil {
		return c, err
	}
	if c.Ordered, err = Time(s, 1, rounds, ordered(n)); err != nil {
		return c, err
	}
	c.Kept, err = kept(s, n, rounds)
	return c, err
}

// synchronous is a round with memory from cuda.Malloc, which cuda.Free takes back, also where the launch fails.
func synchronous(n int) func(cuda.Stream) error {
	return func(s cuda.Stream) error {
		// TODO(2b): Allocate n elements with cuda.Malloc, launch, and free with cuda.Free: also where the launch fails.
		return contract.TODO("2b")
	}
}

// ordered is a round with memory from cuda.MallocAsync, which cuda.FreeAsync takes back, also where the launch fails.
func ordered(n int) func(cuda.Stream) error {
	return func(s cuda.Stream) error {
		// TODO(2c): Allocate n elements with cuda.MallocAsync in s, launch, and free with cuda.FreeAsync in s: also where the
		// launch fails.
		return contract.TODO("2c")
	}
}

// kept times rounds that find their memory there.
func kept(s cuda.Stream, n, rounds int) (ms float32, err error) {
	// TODO(2d): Allocate n elements, and see to it that they are freed on every way out. Time rounds that only launch.
	return 0, contract.TODO("2d")
}

// launch has s write the n elements at data.
func launch(s cuda.Stream, data cuda.DevicePtr, n int) error {
	const block = 256
	return kernels.Gray((n+block-1)/block, block, s, data, n)
}
