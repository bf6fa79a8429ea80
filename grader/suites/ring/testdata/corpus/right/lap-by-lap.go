// All fills of a lap are enqueued before its digests, each with an event; steps are closures that stop at the first error.
package ring

import (
	"errors"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

func Run(producer, consumer cuda.Stream, slots []cuda.DevicePtr, n, work, items int, out cuda.DevicePtr) error {
	if min(len(slots), n) < 1 || min(work, items) < 0 {
		return contract.ErrArgument
	}
	var failed error
	do := func(step func() error) {
		if failed == nil {
			failed = step()
		}
	}
	full, free := make([]cuda.Event, len(slots)), make([]cuda.Event, len(slots))
	made := 0
	for i := range slots {
		do(func() (err error) { full[i], err = cuda.EventCreateWithFlags(cuda.EventDisableTiming); return err })
		do(func() (err error) { free[i], err = cuda.EventCreateWithFlags(cuda.EventDisableTiming); return err })
		if failed == nil {
			made = i + 1
		} else if full[i] != (cuda.Event{}) {
			failed = errors.Join(failed, cuda.EventDestroy(full[i]))
		}
	}
	grid := (n + 255) / 256
	if items > 0 {
		do(func() error { return cuda.MemsetAsync(out, 0, 8*int64(items), consumer) })
	}
	for first := 0; first < items; first += len(slots) {
		lap := slots[:min(len(slots), items-first)]
		for s, slot := range lap {
			if first > 0 {
				do(func() error { return cuda.StreamWaitEvent(producer, free[s]) })
			}
			do(func() error { return kernels.FillItem(grid, 256, producer, slot, n, uint32(first+s), work) })
			do(func() error { return cuda.EventRecord(full[s], producer) })
		}
		for s, slot := range lap {
			sum := out + cuda.DevicePtr(8*(first+s))
			do(func() error { return cuda.StreamWaitEvent(consumer, full[s]) })
			do(func() error { return kernels.Digest(grid, 256, consumer, slot, n, work, sum) })
			do(func() error { return cuda.EventRecord(free[s], consumer) })
		}
	}
	if items > 0 {
		do(func() error { return cuda.EventRecord(full[0], consumer) })
		do(func() error { return cuda.StreamWaitEvent(producer, full[0]) })
	}
	if failed != nil {
		failed = errors.Join(failed, cuda.StreamSynchronize(consumer))
	}
	for i := range made {
		failed = errors.Join(failed, cuda.EventDestroy(full[i]), cuda.EventDestroy(free[i]))
	}
	return failed
}
