// Package overlap is the exercise overlap: many words go to the device, through a kernel and back, a chunk at a time, so that
// copies in, kernels and copies out are under way at once.
package overlap

import (
	"errors"
	"fmt"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

// Run sends the n words of 4 bytes at the start of in through kernels.Mix, with so many rounds of work, into the start of out,
// chunk words at a time, the last chunk being what is left. It returns without waiting for the device.
//
// in and out are the caller's pinned memory and may be the same buffer; Run leaves their bytes to the device: it neither
// reads nor writes them itself. It uses streams and no others, and leaves that slice as it is; out is complete when all of
// them are done. One may be there twice. Where they are two or more, all different, at most half of the chunks, rounded
// up, come one after the other, each copied in behind the copy back of the one before. Never does Run hold more device
// memory than two buffers of min(chunk, n) words for each of streams, which it allocates and frees in
// stream order; it allocates no host memory. The more of the streams have work, the better: two leave one of the three
// machines idle, the two that copy and the one that computes.
//
// However large chunk is, min(chunk, n) is at most math.MaxInt32, and so is work; there may be any number of streams.
//
// Without streams, with n or chunk below 1, work below 0, or in or out shorter than 4*n bytes it answers contract.ErrArgument
// before it makes a CUDA call. It stops at the first error of CUDA and returns it. Its memory is freed behind its last use, in
// a stream, and its events, if it has any, are destroyed, on every way out; what is enqueued by then still runs.
func Run(streams []cuda.Stream, in, out cuda.HostBuffer, n, chunk, work int) (err error) {
	// TODO(1a): Answer contract.ErrArgument to no streams, an n or a chunk below 1, a work below 0, and an in or out of fewer than
	// 4*n bytes. HostBuffer.Len answers how many bytes a buffer has.
	if err := contract.TODO("1a"); err != nil {
		return err
	}

	// There may be more room in a chunk than there are words, and more streams than chunks.
	j := job{in: in, out: out, n: n, size: min(chunk, n), work: work}
	chunks := (n + j.size - 1) / j.size
	streams = streams[:min(len(streams), chunks)]

	// TODO(1b): Allocate a buffer of 4*j.size bytes for each of streams, in that stream. See to it that on every way out each is
	// freed in its stream, behind its last use.
	var buffers []cuda.DevicePtr
	if err := contract.TODO("1b"); err != nil {
		return err
	}

	for i := range chunks {
		turn := i % len(streams)
		if err := j.send(streams[turn], buffers[turn], i); err != nil {
			return fmt.Errorf("chunk %d: %w", i, err)
		}
	}
	return nil
}

// job is what one call of Run works with.
type job struct {
	in, out       cuda.HostBuffer
	n, size, work int // words, words in a chunk, rounds
}

// block is how many threads a block has. Each thread takes one word, so the last block is cut short.
const block = 256

// send takes chunk i through one stream: to the device, through the kernel, and back.
func (j *job) send(s cuda.Stream, buffer cuda.DevicePtr, i int) error {
	// TODO(1c): Which words has chunk i? There are j.size in each but the last. Copy them from j.in to the buffer, in s.
	if err := contract.TODO("1c"); err != nil {
		return err
	}

	// TODO(1d): Launch kernels.Mix on the buffer, from it into itself, with one thread for each word of the chunk.
	if err := contract.TODO("1d"); err != nil {
		return err
	}

	// TODO(1e): Copy the words back, to the same place in j.out. What makes the buffer free for the next chunk?
	return contract.TODO("1e")
}

// mark records an event in streams[0], behind all that any of the streams has been given.
func mark(event cuda.Event, streams []cuda.Stream) error {
	// TODO(2a): Have streams[0] wait for what each of the others has been given so far. Then record the event there.
	return contract.TODO("2a")
}

// timed enqueues a pass between two events.
func timed(start, stop cuda.Event, streams []cuda.Stream, pass func() error) error {
	if err := mark(start, streams); err != nil {
		return err
	}
	// TODO(2b): See to it that none of the streams begins with the pass before start.
	if err := contract.TODO("2b"); err != nil {
		return err
	}
	if err := pass(); err != nil {
		return err
	}
	return mark(stop, streams)
}

// Efficiency does the work of Run at least three times: once on all of streams to warm up, then on streams[0] alone and
// on all of streams. It answers how many times as long the one takes as the other: each from an event that all the work
// comes after to an event that comes after all the work, with nothing else of Efficiency's under way meanwhile. It
// waits for these passes and for nothing else. The caller passes two different buffers; arguments and errors are Run's.
func Efficiency(streams []cuda.Stream, in, out cuda.HostBuffer, n, chunk, work int) (times float32, err error) {
	// TODO(2c): Warm up with a pass on all of streams. Who looks at the arguments?
	if err := contract.TODO("2c"); err != nil {
		return 0, err
	}

	var events [4]cuda.Event
	for i := range events {
		if events[i], err = cuda.EventCreate(); err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, cuda.EventDestroy(events[i])) }()
	}

	// TODO(2d): Time a pass on streams[0] alone and one on all of streams, wait for both, and answer how many times as long the
	// first takes as the second.
	return 0, contract.TODO("2d")
}
