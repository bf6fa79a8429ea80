// Puts all of FanOut on one stream of its own, where nothing has to be put in order.
//
//cudalab:fails placement
//cudalab:may results order
package crossstreamevents

import (
	"errors"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

func Share(a, b cuda.Stream, n int, out cuda.DevicePtr, independent func(cuda.Stream) error) (err error) {
	if n < 1 {
		return contract.ErrArgument
	}
	event, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cuda.EventDestroy(event)) }()
	data, err := cuda.MallocAsync(4*int64(n), a)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, after(a, b, event))
		err = errors.Join(err, cuda.FreeAsync(data, a))
	}()
	if err := kernels.Fill((n+255)/256, 256, a, data, n); err != nil {
		return err
	}
	if err := after(b, a, event); err != nil {
		return err
	}
	if err := cuda.MemsetAsync(out, 0, 8, b); err != nil {
		return err
	}
	if err := kernels.Checksum((n+255)/256, 256, b, data, n, out); err != nil {
		return err
	}
	return independent(a)
}

func FanOut(source cuda.Stream, consumers []cuda.Stream, n int, outs []cuda.DevicePtr) (err error) {
	if n < 1 || len(consumers) == 0 || len(outs) != len(consumers) {
		return contract.ErrArgument
	}
	s, err := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cuda.StreamDestroy(s)) }()
	data, err := cuda.MallocAsync(4*int64(n), s) // want: wrong-stream
	if err != nil {
		return err
	}
	err = kernels.Fill((n+255)/256, 256, s, data, n)
	for _, out := range outs {
		if err == nil {
			err = cuda.MemsetAsync(out, 0, 8, s)
		}
		if err == nil {
			err = kernels.Checksum((n+255)/256, 256, s, data, n, out)
		}
	}
	return errors.Join(err, cuda.FreeAsync(data, s))
}

// after makes what is enqueued in later from now on wait for what is in earlier by now.
func after(later, earlier cuda.Stream, event cuda.Event) error {
	if err := cuda.EventRecord(event, earlier); err != nil {
		return err
	}
	return cuda.StreamWaitEvent(later, event)
}
