// Package ring is the exercise ring: a buffer of a few slots through which one stream sends any number of items to another.
package ring

import (
	"errors"
	"fmt"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

// Run sends so many items through the ring of slots from one stream to another, and returns without waiting for the device.
//
// A slot is 4*n bytes of the caller's; slots do not overlap. Item i goes through slots[i%len(slots)]: kernels.FillItem(…, n,
// uint32(i), work) in producer, then kernels.Digest(…, n, work, …) in consumer, into the 8 bytes at out+8*i, which hold
// garbage until Run has set them to zero. Nothing but events puts the two streams in order. n and work are at most
// math.MaxInt32, and there may be any number of slots and of items. The two streams may be one.
//
// The producer runs as far ahead as the slots allow: the fill of item i comes after the digest of item i-len(slots) and of no
// later one; the digest of item i comes after the fill of item i and of no later one. When Run has returned, work that is
// enqueued in producer comes after all digests, so that the slots may be used again, on every way out. Run creates at most
// 2*len(slots) events, however many items there are, and destroys them. It allocates no memory, and leaves
// the slice slots as it is.
//
// Without slots, with n below 1, work below 0 or items below 0 it answers contract.ErrArgument before it makes a CUDA call; 0
// items are nothing to do, and out is not touched. It stops at CUDA's first error and returns it; then it may wait.
func Run(producer, consumer cuda.Stream, slots []cuda.DevicePtr, n, work, items int, out cuda.DevicePtr) (err error) {
	if len(slots) == 0 || n < 1 || work < 0 || items < 0 {
		return fmt.Errorf("%d slots, n %d, work %d, %d items: %w", len(slots), n, work, items, contract.ErrArgument)
	}

	r := ring{producer: producer, consumer: consumer, slots: slots, n: n, work: work, out: out}
	defer func() {
		if len(r.free) > 0 { // or nothing has been enqueued
			err = errors.Join(err, r.handBack())
		}
		// A stream that was told to wait goes on waiting when the event is gone.
		for _, event := range append(r.full, r.free...) {
			err = errors.Join(err, cuda.EventDestroy(event))
		}
	}()
	for range min(len(slots), items) {
		for _, events := range []*[]cuda.Event{&r.full, &r.free} {
			event, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
			if err != nil {
				return err
			}
			*events = append(*events, event)
		}
	}

	for i := range items {
		if err := r.produce(i); err != nil {
			return err
		}
		if err := r.consume(i); err != nil {
			return err
		}
	}
	return nil
}

// ring is what one call of Run works with.
type ring struct {
	producer, consumer cuda.Stream
	slots              []cuda.DevicePtr
	full, free         []cuda.Event // of each slot: its item is there, its item was read
	n, work            int
	out                cuda.DevicePtr
}

// block is how many threads a block has. Each thread takes one element, so the last block is cut short.
const block = 256

// produce puts item i into its slot, and tells consumer.
func (r *ring) produce(i int) error {
	slot := i % len(r.slots)
	// In the first lap nobody has used the slot, and its event was never recorded.
	if i >= len(r.slots) {
		if err := cuda.StreamWaitEvent(r.producer, r.free[slot]); err != nil {
			return err
		}
	}
	if err := kernels.FillItem((r.n+block-1)/block, block, r.producer, r.slots[slot], r.n, uint32(i), r.work); err != nil {
		return err
	}

	// Recorded right behind the fill, the event takes in this item and none of the next.
	if err := cuda.EventRecord(r.full[slot], r.producer); err != nil {
		return err
	}
	return cuda.StreamWaitEvent(r.consumer, r.full[slot])
}

// consume takes item i out of its slot, and notes when producer may use that again.
func (r *ring) consume(i int) error {
	slot, sum := i%len(r.slots), r.out+cuda.DevicePtr(8*i)
	if err := cuda.MemsetAsync(sum, 0, 8, r.consumer); err != nil {
		return err
	}
	if err := kernels.Digest((r.n+block-1)/block, block, r.consumer, r.slots[slot], r.n, r.work, sum); err != nil {
		return err
	}

	// Nobody waits for this yet. Producer will, when it comes round to the slot again.
	return cuda.EventRecord(r.free[slot], r.consumer)
}

// handBack has what comes next in producer come after all digests, however far Run has come.
func (r *ring) handBack() error {
	err := cuda.EventRecord(r.free[0], r.consumer)
	if err == nil {
		err = cuda.StreamWaitEvent(r.producer, r.free[0])
	}
	if err != nil {
		// Without the event only the host is left to wait, or the caller would write to slots that are being read.
		err = errors.Join(err, cuda.StreamSynchronize(r.consumer))
	}
	return err
}
