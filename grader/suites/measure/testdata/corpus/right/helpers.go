// Small helpers: one that repeats rounds, one that destroys an event in a defer, one that gives memory back.
package measure

import (
	"errors"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

func Time(s cuda.Stream, warm, rounds int, work func(cuda.Stream) error) (ms float32, err error) {
	if rounds < 1 || warm < 0 || work == nil {
		return 0, contract.ErrArgument
	}
	first, err := cuda.EventCreate()
	if err != nil {
		return 0, err
	}
	defer destroy(first, &err)
	last, err := cuda.EventCreate()
	if err != nil {
		return 0, err
	}
	defer destroy(last, &err)

	if err := repeat(warm, s, work); err != nil {
		return 0, err
	}
	if err := cuda.EventRecord(first, s); err != nil {
		return 0, err
	}
	if err := repeat(rounds, s, work); err != nil {
		return 0, err
	}
	if err := cuda.EventRecord(last, s); err != nil {
		return 0, err
	}
	if err := cuda.EventSynchronize(last); err != nil {
		return 0, err
	}
	total, err := cuda.EventElapsedTime(first, last)
	return total / float32(rounds), err
}

func destroy(event cuda.Event, err *error) {
	*err = errors.Join(*err, cuda.EventDestroy(event))
}

func repeat(times int, s cuda.Stream, work func(cuda.Stream) error) error {
	for range times {
		if err := work(s); err != nil {
			return err
		}
	}
	return nil
}

func Compare(s cuda.Stream, n, rounds int) (contract.Comparison, error) {
	var c contract.Comparison
	if n < 1 || rounds < 1 {
		return c, contract.ErrArgument
	}
	size := 4 * int64(n)

	synchronous, err := Time(s, 1, rounds, func(s cuda.Stream) error {
		data, err := cuda.Malloc(size)
		if err != nil {
			return err
		}
		err = write(s, data, n)
		return errors.Join(err, cuda.Free(data))
	})
	if err != nil {
		return c, err
	}
	c.Synchronous = synchronous

	ordered, err := Time(s, 1, rounds, func(s cuda.Stream) error {
		data, err := cuda.MallocAsync(size, s)
		if err != nil {
			return err
		}
		err = write(s, data, n)
		return errors.Join(err, cuda.FreeAsync(data, s))
	})
	if err != nil {
		return c, err
	}
	c.Ordered = ordered

	buffer, err := cuda.MallocAsync(size, s)
	if err != nil {
		return c, err
	}
	kept, err := Time(s, 1, rounds, func(s cuda.Stream) error {
		return write(s, buffer, n)
	})
	c.Kept = kept
	return c, errors.Join(err, cuda.FreeAsync(buffer, s))
}

func write(s cuda.Stream, data cuda.DevicePtr, n int) error {
	return kernels.Gray((n+127)/128, 128, s, data, n)
}
