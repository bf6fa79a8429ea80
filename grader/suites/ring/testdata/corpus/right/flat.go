// Everything in one function: two events a slot, and the newest digest is waited for at the end.
package ring

import (
	"errors"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

func Run(producer, consumer cuda.Stream, slots []cuda.DevicePtr, n, work, items int, out cuda.DevicePtr) (err error) {
	k := len(slots)
	if k == 0 || n < 1 || work < 0 || items < 0 {
		return contract.ErrArgument
	}
	var events []cuda.Event
	defer func() {
		for _, e := range events {
			err = errors.Join(err, cuda.EventDestroy(e))
		}
	}()
	for range 2 * k {
		e, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
		if err != nil {
			return err
		}
		events = append(events, e)
	}
	full, free := events[:k], events[k:]
	grid := (n + 127) / 128
	defer func() {
		failed := cuda.EventRecord(free[0], consumer)
		if failed == nil {
			failed = cuda.StreamWaitEvent(producer, free[0])
		}
		if failed != nil {
			err = errors.Join(err, failed, cuda.StreamSynchronize(consumer))
		}
	}()
	for i := range items {
		slot := i % k
		sum := out + cuda.DevicePtr(8*i)
		if i >= k {
			if err := cuda.StreamWaitEvent(producer, free[slot]); err != nil {
				return err
			}
		}
		if err := kernels.FillItem(grid, 128, producer, slots[slot], n, uint32(i), work); err != nil {
			return err
		}
		if err := cuda.EventRecord(full[slot], producer); err != nil {
			return err
		}
		if err := cuda.StreamWaitEvent(consumer, full[slot]); err != nil {
			return err
		}
		if err := cuda.MemsetAsync(sum, 0, 8, consumer); err != nil {
			return err
		}
		if err := kernels.Digest(grid, 128, consumer, slots[slot], n, work, sum); err != nil {
			return err
		}
		if err := cuda.EventRecord(free[slot], consumer); err != nil {
			return err
		}
	}
	return nil
}
