// Package crossstreamevents is the exercise cross-stream-events: memory that one stream allocates and fills, other
// streams read and the first one frees, put in order by events alone.
package crossstreamevents

import (
	"errors"

	"cudalab/exercises/contract"
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
	// TODO(1a): Answer contract.ErrArgument if n is below 1.
	if err := contract.TODO("1a"); err != nil {
		return err
	}

	// TODO(1b): Create an event without timing, or several. See to it that each is destroyed on every way out.
	if err := contract.TODO("1b"); err != nil {
		return err
	}

	// TODO(1c): Allocate n uint32 elements in a, and launch kernels.Fill on them there.
	if err := contract.TODO("1c"); err != nil {
		return err
	}

	// TODO(1d): Make b wait for fill with the event. In b, set the 8 bytes at out to zero and launch kernels.Checksum.
	if err := contract.TODO("1d"); err != nil {
		return err
	}

	// TODO(1e): Call independent with a. Then release your buffer with your event, as on each way out behind its allocation.
	return errors.Join(contract.TODO("1e"), release(0, cuda.Event{}, a, b))
}

// release frees data in owner, behind all that the users have been given so far. The event is recorded anew for each
// user; who waited for what it recorded before goes on waiting for that.
func release(data cuda.DevicePtr, event cuda.Event, owner cuda.Stream, users ...cuda.Stream) error {
	// TODO(1f): Make owner wait for every user with the event, then free data in owner, whatever has failed before.
	return contract.TODO("1f")
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
	// TODO(2a): Answer contract.ErrArgument to an n below 1, no consumers, or not as many outs as consumers.
	if err := contract.TODO("2a"); err != nil {
		return err
	}

	// TODO(2b): As in Share: create an event or several, allocate the elements in source and launch kernels.Fill there.
	if err := contract.TODO("2b"); err != nil {
		return err
	}

	// TODO(2c): As in Share, for every consumer: make it wait, set its out to zero, take the checksum. At the end release.
	return contract.TODO("2c")
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
	// TODO(3a): Answer contract.ErrArgument if bytes is below 1. Create an event without timing and allocate bytes bytes
	// in s. If the allocation fails, the event has to go.
	return nil, contract.TODO("3a")
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
	// TODO(3b): Make the way back of an earlier use if that has failed. In the buffer's own stream call work, and that is
	// all. Else make t wait for the buffer's stream with the event, call work, and make the buffer's stream wait for t,
	// whatever work has answered.
	return contract.TODO("3b")
}

// Close frees the memory in the buffer's stream, behind all uses, and destroys the event. It never waits for the
// device.
//
// It answers an error of CUDA's, and can then be called again, for what is left; when the memory is freed Use answers
// contract.ErrClosed. Once Close has succeeded it does so, too.
func (b *Buffer) Close() error {
	// TODO(3c): Free the memory in the buffer's stream, behind all uses, and destroy the event. What could not be given
	// back is for the next Close. Answer contract.ErrClosed after one that has given back all.
	return contract.TODO("3c")
}
