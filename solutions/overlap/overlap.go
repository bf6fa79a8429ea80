// Package overlap is the exercise overlap: many words go to the device, through a kernel and back, a chunk at a time, so that
// copies in, kernels and copies out are under way at once.
package overlap

import (
	"errors"
	"fmt"

	"cudalab/exercises/contract"
	"cudalab/kernels"
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
	// 4*n may be more than an integer holds, a quarter of a length never is.
	if len(streams) == 0 || n < 1 || chunk < 1 || work < 0 || int64(n) > min(in.Len(), out.Len())/4 {
		return fmt.Errorf("%d streams, %d words in %d bytes and into %d, %d in a chunk, work %d: %w",
			len(streams), n, in.Len(), out.Len(), chunk, work, contract.ErrArgument)
	}

	// There may be more room in a chunk than there are words, and more streams than chunks.
	j := job{in: in, out: out, n: n, size: min(chunk, n), work: work}
	chunks := (n + j.size - 1) / j.size
	streams = streams[:min(len(streams), chunks)]

	buffers := make([]cuda.DevicePtr, 0, len(streams))
	defer func() {
		for i, buffer := range buffers {
			err = errors.Join(err, cuda.FreeAsync(buffer, streams[i]))
		}
	}()
	for _, s := range streams {
		buffer, err := cuda.MallocAsync(4*int64(j.size), s)
		if err != nil {
			return err
		}
		buffers = append(buffers, buffer)
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
	first := i * j.size
	count := min(j.size, j.n-first)
	at, bytes := 4*int64(first), 4*int64(count)
	if err := cuda.MemcpyHtoDAsync(buffer, j.in.At(at), bytes, s); err != nil {
		return err
	}

	// One stream for all three: the kernel finds the words there, and the copy back finds them mixed.
	if err := kernels.Mix((count+block-1)/block, block, s, buffer, buffer, count, j.work); err != nil {
		return err
	}

	// And the next chunk in this stream finds the buffer free again.
	return cuda.MemcpyDtoHAsync(j.out.At(at), buffer, bytes, s)
}

// mark records an event in streams[0], behind all that any of the streams has been given.
func mark(event cuda.Event, streams []cuda.Stream) error {
	for _, s := range streams[1:] {
		// Recorded in one stream after the other: streams[0] waits for what the event stands for at the call.
		if err := cuda.EventRecord(event, s); err != nil {
			return err
		}
		if err := cuda.StreamWaitEvent(streams[0], event); err != nil {
			return err
		}
	}
	return cuda.EventRecord(event, streams[0])
}

// timed enqueues a pass between two events.
func timed(start, stop cuda.Event, streams []cuda.Stream, pass func() error) error {
	if err := mark(start, streams); err != nil {
		return err
	}
	for _, s := range streams[1:] {
		if err := cuda.StreamWaitEvent(s, start); err != nil {
			return err
		}
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
	// The first pass has memory to get for the pool, which the others find there. It also sees to the arguments.
	if err := Run(streams, in, out, n, chunk, work); err != nil {
		return 0, err
	}

	var events [4]cuda.Event
	for i := range events {
		if events[i], err = cuda.EventCreate(); err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, cuda.EventDestroy(events[i])) }()
	}

	// No wait between the passes: at a wait the pool would give its memory back.
	err = timed(events[0], events[1], streams, func() error { return Run(streams[:1], in, out, n, chunk, work) })
	if err != nil {
		return 0, err
	}
	err = timed(events[2], events[3], streams, func() error { return Run(streams, in, out, n, chunk, work) })
	if err != nil {
		return 0, err
	}
	if err := cuda.EventSynchronize(events[3]); err != nil {
		return 0, err
	}
	alone, err := cuda.EventElapsedTime(events[0], events[1])
	if err != nil {
		return 0, err
	}
	together, err := cuda.EventElapsedTime(events[2], events[3])
	if err != nil {
		return 0, err
	}
	return alone / together, nil
}
