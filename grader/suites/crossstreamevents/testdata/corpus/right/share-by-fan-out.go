// Share and FanOut are one function.
package crossstreamevents

import (
	"errors"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

func Share(a, b cuda.Stream, n int, out cuda.DevicePtr, independent func(cuda.Stream) error) error {
	return hand(a, []cuda.Stream{b}, n, []cuda.DevicePtr{out}, independent)
}

func FanOut(source cuda.Stream, consumers []cuda.Stream, n int, outs []cuda.DevicePtr) error {
	return hand(source, consumers, n, outs, func(cuda.Stream) error { return nil })
}

func hand(source cuda.Stream, consumers []cuda.Stream, n int, outs []cuda.DevicePtr,
	independent func(cuda.Stream) error) (err error) {
	if n < 1 || len(consumers) == 0 || len(outs) != len(consumers) {
		return contract.ErrArgument
	}
	event, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cuda.EventDestroy(event)) }()
	data, err := cuda.MallocAsync(4*int64(n), source)
	if err != nil {
		return err
	}
	defer func() {
		for _, c := range consumers {
			err = errors.Join(err, after(source, c, event))
		}
		err = errors.Join(err, cuda.FreeAsync(data, source))
	}()
	if err := kernels.Fill((n+255)/256, 256, source, data, n); err != nil {
		return err
	}
	for i, c := range consumers {
		if err := after(c, source, event); err != nil {
			return err
		}
		if err := cuda.MemsetAsync(outs[i], 0, 8, c); err != nil {
			return err
		}
		if err := kernels.Checksum((n+255)/256, 256, c, data, n, outs[i]); err != nil {
			return err
		}
	}
	return independent(source)
}

// after makes what is enqueued in later from now on wait for what is in earlier by now.
func after(later, earlier cuda.Stream, event cuda.Event) error {
	if err := cuda.EventRecord(event, earlier); err != nil {
		return err
	}
	return cuda.StreamWaitEvent(later, event)
}
