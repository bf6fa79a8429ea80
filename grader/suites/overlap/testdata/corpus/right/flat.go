// Allocates and frees a buffer for every chunk, and measures with events in the last stream and waits between the passes.
package overlap

import (
	"errors"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, in, out cuda.HostBuffer, n, chunk, work int) error {
	if len(streams) < 1 || n <= 0 || chunk <= 0 || work < 0 {
		return contract.ErrArgument
	}
	if in.Len()/4 < int64(n) || out.Len()/4 < int64(n) {
		return contract.ErrArgument
	}
	if chunk > n {
		chunk = n
	}
	for i, first := 0, 0; first < n; i, first = i+1, first+chunk {
		words := min(chunk, n-first)
		s := streams[i%len(streams)]
		buffer, err := cuda.MallocAsync(int64(words)*4, s)
		if err != nil {
			return err
		}
		err = cuda.MemcpyHtoDAsync(buffer, in.At(int64(first)*4), int64(words)*4, s)
		if err == nil {
			err = kernels.Mix((words+127)/128, 128, s, buffer, buffer, words, work)
		}
		if err == nil {
			err = cuda.MemcpyDtoHAsync(out.At(int64(first)*4), buffer, int64(words)*4, s)
		}
		err = errors.Join(err, cuda.FreeAsync(buffer, s))
		if err != nil {
			return err
		}
	}
	return nil
}

func Efficiency(streams []cuda.Stream, in, out cuda.HostBuffer, n, chunk, work int) (_ float32, err error) {
	for range 2 {
		if err := Run(streams, in, out, n, chunk, work); err != nil {
			return 0, err
		}
	}
	one, err := took(streams, func() error { return Run(streams[:1], in, out, n, chunk, work) })
	if err != nil {
		return 0, err
	}
	all, err := took(streams, func() error { return Run(streams, in, out, n, chunk, work) })
	if err != nil {
		return 0, err
	}
	return float32(float64(one) / float64(all)), nil
}

// took waits for all streams, times a pass with events in the last of them, and waits for it.
func took(streams []cuda.Stream, pass func() error) (ms float32, err error) {
	for _, s := range streams {
		if err := cuda.StreamSynchronize(s); err != nil {
			return 0, err
		}
	}
	last := streams[len(streams)-1]
	var events []cuda.Event
	defer func() {
		for _, e := range events {
			err = errors.Join(err, cuda.EventDestroy(e))
		}
	}()
	for range len(streams) + 2 {
		e, err := cuda.EventCreate()
		if err != nil {
			return 0, err
		}
		events = append(events, e)
	}
	start, stop, ends := events[0], events[1], events[2:]
	if err := cuda.EventRecord(start, last); err != nil {
		return 0, err
	}
	for _, s := range streams {
		if err := cuda.StreamWaitEvent(s, start); err != nil {
			return 0, err
		}
	}
	if err := pass(); err != nil {
		return 0, err
	}
	for i, s := range streams {
		if err := cuda.EventRecord(ends[i], s); err != nil {
			return 0, err
		}
		if err := cuda.StreamWaitEvent(last, ends[i]); err != nil {
			return 0, err
		}
	}
	if err := cuda.EventRecord(stop, last); err != nil {
		return 0, err
	}
	if err := cuda.StreamSynchronize(last); err != nil {
		return 0, err
	}
	return cuda.EventElapsedTime(start, stop)
}
