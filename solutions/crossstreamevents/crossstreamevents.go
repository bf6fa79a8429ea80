// Package crossstreamevents is the exercise cross-stream-events: memory that one stream allocates and fills, other
// streams read and the first one frees, put in order by events alone.
package crossstreamevents

import (
	"errors"
	"fmt"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

// Share hands a buffer of n uint32 elements, at most math.MaxInt32, from stream a to stream b, another one, and back,
// and returns without waiting for the device.
//
// The buffer is allocated in a and filled there by kernels.Fill. Stream b takes its checksum with kernels.Checksum,
// into the 8 bytes at out, which hold garbage until Share has set them to zero, in b as well. Then the buffer is freed
// in a. Nothing but events puts the two streams in order.
//
// independent enqueues work in a that has nothing to do with the buffer. It is called once, with a, after all of b's
// work has been enqueued and before a is made to wait for b, so that its work can run while b reads.
//
// With n below 1 Share answers contract.ErrArgument before it makes a single CUDA call. It stops at the first error,
// of CUDA or of independent, and returns it. On every way out the buffer is freed, behind its last use but where
// the call fails that should see to that, and every event that Share has created is destroyed.
func Share(a, b cuda.Stream, n int, out cuda.DevicePtr, independent func(cuda.Stream) error) (err error) {
	if n < 1 {
		return fmt.Errorf("%d elements: %w", n, contract.ErrArgument)
	}

	event, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
	if err != nil {
		return err
	}
	// A stream that was told to wait goes on waiting when the event is gone, so this is never too early.
	defer func() { err = errors.Join(err, cuda.EventDestroy(event)) }()

	data, err := cuda.MallocAsync(4*int64(n), a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release(data, event, a, b)) }()

	// One thread per element; the last block is cut short where n is no multiple of its size, hence rounding up.
	const block = 256
	grid := (n + block - 1) / block
	if err := kernels.Fill(grid, block, a, data, n); err != nil {
		return err
	}

	// The event takes in what a has been given so far: the allocation and fill.
	if err := cuda.EventRecord(event, a); err != nil {
		return err
	}
	if err := cuda.StreamWaitEvent(b, event); err != nil {
		return err
	}
	if err := cuda.MemsetAsync(out, 0, 8, b); err != nil {
		return err
	}
	if err := kernels.Checksum(grid, block, b, data, n, out); err != nil {
		return err
	}

	// Stream a has nothing to wait for yet. It will, in release, before it frees.
	return independent(a)
}

// release frees data in owner, behind all that the users have been given so far. The event is recorded anew for each
// user; who waited for what it recorded before goes on waiting for that.
func release(data cuda.DevicePtr, event cuda.Event, owner cuda.Stream, users ...cuda.Stream) error {
	var failed error
	for _, user := range users {
		err := cuda.EventRecord(event, user)
		if err == nil {
			err = cuda.StreamWaitEvent(owner, event)
		}
		if err != nil {
			// Without the event only the host is left to wait, or the memory would go while user still reads it.
			failed = errors.Join(failed, err, cuda.StreamSynchronize(user))
		}
	}
	return errors.Join(failed, cuda.FreeAsync(data, owner))
}

// FanOut hands a buffer of n uint32 elements, at most math.MaxInt32, from one stream to however many and back, and
// returns without waiting for the device.
//
// The buffer is allocated in source and filled there by kernels.Fill. Every stream in consumers, all of them different and
// none the source, takes its checksum with kernels.Checksum: consumers[i] into the 8 bytes at outs[i], which hold garbage
// until FanOut has set them to zero, in consumers[i] as well. No checksum waits for another consumer. Then the buffer is
// freed in source. Nothing but events puts the streams in order. FanOut leaves both slices as they are.
//
// With n below 1, without consumers, or with fewer or more outs than consumers FanOut answers contract.ErrArgument
// before it makes a single CUDA call. It stops at the first error that CUDA answers and returns it. On every way out
// the buffer is freed, behind its last use but where the call fails that should see to that, and every event that
// FanOut has created is destroyed.
func FanOut(source cuda.Stream, consumers []cuda.Stream, n int, outs []cuda.DevicePtr) (err error) {
	if n < 1 || len(consumers) == 0 || len(outs) != len(consumers) {
		return fmt.Errorf("%d elements, %d consumers, %d outs: %w", n, len(consumers), len(outs), contract.ErrArgument)
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
	defer func() { err = errors.Join(err, release(data, event, source, consumers...)) }()

	const block = 256
	grid := (n + block - 1) / block
	if err := kernels.Fill(grid, block, source, data, n); err != nil {
		return err
	}

	// Recorded once, the event serves any number of streams that wait for it.
	if err := cuda.EventRecord(event, source); err != nil {
		return err
	}
	for i, consumer := range consumers {
		if err := cuda.StreamWaitEvent(consumer, event); err != nil {
			return err
		}
		if err := cuda.MemsetAsync(outs[i], 0, 8, consumer); err != nil {
			return err
		}
		if err := kernels.Checksum(grid, block, consumer, data, n, outs[i]); err != nil {
			return err
		}
	}
	return nil
}

// Buffer is memory on the device that carries its stream: it is allocated and freed there, and whoever uses it in
// another stream need not think of that one.
type Buffer struct {
	memory cuda.DevicePtr // 0 when it is freed
	stream cuda.Stream
	event  cuda.Event
	user   cuda.Stream // of the last use in another stream
	away   bool        // the buffer's stream does not wait for that use yet
	closed bool        // the event is destroyed, too
}

// NewBuffer allocates bytes bytes, at most 1<<58, in stream s, whose the buffer is from then on, and creates its
// one event, without timing.
//
// With bytes below 1 it answers contract.ErrArgument before it makes a single CUDA call. It returns the first
// error that CUDA answers, and leaves nothing behind then.
func NewBuffer(bytes int64, s cuda.Stream) (*Buffer, error) {
	if bytes < 1 {
		return nil, fmt.Errorf("%d bytes: %w", bytes, contract.ErrArgument)
	}

	event, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
	if err != nil {
		return nil, err
	}
	memory, err := cuda.MallocAsync(bytes, s)
	if err != nil {
		return nil, errors.Join(err, cuda.EventDestroy(event))
	}
	return &Buffer{memory: memory, stream: s, event: event}, nil
}

// Use calls work once, with stream t and the memory. What work enqueues in t comes behind all that is in the
// buffer's stream by now, and so behind all earlier uses. What comes into the buffer's stream later comes behind
// what work has enqueued, also where work answers an error, which Use returns.
//
// In the buffer's own stream Use makes no CUDA call but those of work. In another one it makes the way there,
// calls work and makes the way back, with the buffer's event. If the way there fails, work is not called. If the
// way back fails, its error is joined to work's, and the next Use or Close makes it before all else; t lives until
// then, and else until Use returns. If it fails once more, that is the error, and nothing else is done.
//
// Use never waits for the device. It is not called from work. After Close it answers contract.ErrClosed.
func (b *Buffer) Use(t cuda.Stream, work func(cuda.Stream, cuda.DevicePtr) error) error {
	if b.memory == 0 {
		return contract.ErrClosed
	}
	// The event is recorded anew for each way; who waits for what it remembered before goes on waiting for that.
	back := func() error {
		if !b.away {
			return nil
		}
		if err := cuda.EventRecord(b.event, b.user); err != nil {
			return err
		}
		if err := cuda.StreamWaitEvent(b.stream, b.event); err != nil {
			return err
		}
		b.away = false
		return nil
	}
	if err := back(); err != nil {
		return err
	}
	if t == b.stream {
		return work(t, b.memory)
	}

	if err := cuda.EventRecord(b.event, b.stream); err != nil {
		return err
	}
	if err := cuda.StreamWaitEvent(t, b.event); err != nil {
		return err
	}
	// From here on t may have work with the memory, however little of it work has come to.
	b.user, b.away = t, true
	return errors.Join(work(t, b.memory), back())
}

// Close frees the memory in the buffer's stream, behind all uses, and destroys the event. It never waits for the
// device.
//
// It answers an error of CUDA's, and can then be called again, for what is left; when the memory is freed Use answers
// contract.ErrClosed. Once Close has succeeded it does so, too.
func (b *Buffer) Close() error {
	if b.closed {
		return contract.ErrClosed
	}
	if b.memory != 0 {
		// A use in the buffer's own stream: it comes behind all others, and first makes the way back that has failed.
		err := b.Use(b.stream, func(s cuda.Stream, memory cuda.DevicePtr) error { return cuda.FreeAsync(memory, s) })
		if err != nil {
			return err
		}
		b.memory = 0
	}
	if err := cuda.EventDestroy(b.event); err != nil {
		return err
	}
	b.closed = true
	return nil
}
