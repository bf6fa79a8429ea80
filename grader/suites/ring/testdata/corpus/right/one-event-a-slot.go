// A slot is a value with one event, which stands for full and then for free; at the end producer waits for each slot.
package ring

import (
	"errors"
	"fmt"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

type slot struct {
	words cuda.DevicePtr
	event cuda.Event
	used  bool
}

func Run(producer, consumer cuda.Stream, slots []cuda.DevicePtr, n, work, items int, out cuda.DevicePtr) error {
	switch {
	case len(slots) < 1:
		return fmt.Errorf("%w: no slots", contract.ErrArgument)
	case n < 1, work < 0, items < 0:
		return fmt.Errorf("%w: %d words, work %d, %d items", contract.ErrArgument, n, work, items)
	case items == 0:
		return nil
	}
	var ring []*slot
	err := func() error {
		for _, words := range slots {
			event, err := cuda.EventCreate()
			if err != nil {
				return err
			}
			ring = append(ring, &slot{words: words, event: event})
		}
		for i := 0; i < items; i++ {
			if err := ring[i%len(ring)].pass(producer, consumer, n, work, i, out+cuda.DevicePtr(i)*8); err != nil {
				return err
			}
		}
		return nil
	}()
	for _, s := range ring {
		if err == nil && s.used {
			err = cuda.StreamWaitEvent(producer, s.event)
		}
	}
	if err != nil {
		err = errors.Join(err, cuda.StreamSynchronize(consumer))
	}
	for _, s := range ring {
		err = errors.Join(err, cuda.EventDestroy(s.event))
	}
	return err
}

func (s *slot) pass(producer, consumer cuda.Stream, n, work, item int, sum cuda.DevicePtr) error {
	if s.used {
		if err := cuda.StreamWaitEvent(producer, s.event); err != nil {
			return err
		}
	}
	s.used = true
	if err := kernels.FillItem((n+1023)/1024, 1024, producer, s.words, n, uint32(item), work); err != nil {
		return err
	}
	if err := after(consumer, producer, s.event); err != nil {
		return err
	}
	if err := cuda.MemsetAsync(sum, 0, 8, consumer); err != nil {
		return err
	}
	if err := kernels.Digest((n+1023)/1024, 1024, consumer, s.words, n, work, sum); err != nil {
		return err
	}
	return cuda.EventRecord(s.event, consumer)
}

func after(later, earlier cuda.Stream, event cuda.Event) error {
	if err := cuda.EventRecord(event, earlier); err != nil {
		return err
	}
	return cuda.StreamWaitEvent(later, event)
}
