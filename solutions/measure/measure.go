// Package measure is the exercise measure: a clock for work that a stream does, and with it what three ways of having
// memory cost.
package measure

import (
	"errors"
	"fmt"

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
	if rounds < 1 || warm < 0 || work == nil {
		return 0, fmt.Errorf("%d rounds behind %d to warm up: %w", rounds, warm, contract.ErrArgument)
	}

	start, err := cuda.EventCreate()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, cuda.EventDestroy(start)) }()
	stop, err := cuda.EventCreate()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, cuda.EventDestroy(stop)) }()

	// No wait behind the warm-up: in s the first record comes after it all the same.
	for range warm {
		if err := work(s); err != nil {
			return 0, err
		}
	}

	if err := cuda.EventRecord(start, s); err != nil {
		return 0, err
	}
	for range rounds {
		if err := work(s); err != nil {
			return 0, err
		}
	}
	if err := cuda.EventRecord(stop, s); err != nil {
		return 0, err
	}

	// The stream has its stamps to take yet. By the second one it has taken the first as well.
	if err := cuda.EventSynchronize(stop); err != nil {
		return 0, err
	}
	total, err := cuda.EventElapsedTime(start, stop)
	return total / float32(rounds), err
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
	if n < 1 || rounds < 1 {
		return c, fmt.Errorf("%d elements, %d rounds: %w", n, rounds, contract.ErrArgument)
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
		data, err := cuda.Malloc(4 * int64(n))
		if err != nil {
			return err
		}
		return errors.Join(launch(s, data, n), cuda.Free(data))
	}
}

// ordered is a round with memory from cuda.MallocAsync, which cuda.FreeAsync takes back, also where the launch fails.
func ordered(n int) func(cuda.Stream) error {
	return func(s cuda.Stream) error {
		data, err := cuda.MallocAsync(4*int64(n), s)
		if err != nil {
			return err
		}
		return errors.Join(launch(s, data, n), cuda.FreeAsync(data, s))
	}
}

// kept times rounds that find their memory there.
func kept(s cuda.Stream, n, rounds int) (ms float32, err error) {
	data, err := cuda.MallocAsync(4*int64(n), s)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, cuda.FreeAsync(data, s)) }()
	return Time(s, 1, rounds, func(s cuda.Stream) error { return launch(s, data, n) })
}

// launch has s write the n elements at data.
func launch(s cuda.Stream, data cuda.DevicePtr, n int) error {
	const block = 256
	return kernels.Gray((n+block-1)/block, block, s, data, n)
}
