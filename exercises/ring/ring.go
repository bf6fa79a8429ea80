// Package ring is the exercise ring: a buffer of a few slots through which one stream sends any number of items to another.
package ring

import (
	"cudalab/exercises/contract"
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
	// TODO(1a): Answer contract.ErrArgument to no slots, an n below 1, a work below 0 and items below 0.
	if err := contract.TODO("1a"); err != nil {
		return err
	}

	r := ring{producer: producer, consumer: consumer, slots: slots, n: n, work: work, out: out}
	// TODO(1b): Create the events, no more than two for a slot. See to it that on every way out handBack is called and then
	// every event destroyed.
	if err := contract.TODO("1b"); err != nil {
		return err
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
	// TODO(1c): If an earlier item was in this slot, have producer wait until that was digested. Then launch kernels.FillItem.
	if err := contract.TODO("1c"); err != nil {
		return err
	}

	// TODO(1d): Have consumer wait until the slot is full.
	return contract.TODO("1d")
}

// consume takes item i out of its slot, and notes when producer may use that again.
func (r *ring) consume(i int) error {
	// TODO(1e): Set the item's 8 bytes to zero, unless all are set by now, and launch kernels.Digest, in consumer.
	if err := contract.TODO("1e"); err != nil {
		return err
	}

	// TODO(1f): Record in consumer that the slot is free again.
	return contract.TODO("1f")
}

// handBack has what comes next in producer come after all digests, however far Run has come.
func (r *ring) handBack() error {
	// TODO(1g): Have producer wait for all that consumer has been given. Where an event cannot do that, let the host.
	return contract.TODO("1g")
}
