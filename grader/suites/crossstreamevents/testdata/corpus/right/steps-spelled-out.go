// Two events in Share, an event per consumer in FanOut, and no defer.
package crossstreamevents

import (
	"errors"
	"fmt"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

func Share(a, b cuda.Stream, n int, out cuda.DevicePtr, independent func(cuda.Stream) error) error {
	if n < 1 {
		return fmt.Errorf("%w: n is %d", contract.ErrArgument, n)
	}
	filled, err := cuda.EventCreate()
	if err != nil {
		return err
	}
	summed, err := cuda.EventCreate()
	if err != nil {
		return errors.Join(err, cuda.EventDestroy(filled))
	}
	data, err := fill(a, n)
	if err == nil {
		err = cuda.EventRecord(filled, a)
		if err == nil {
			err = checksum(b, filled, data, n, out)
		}
		if err == nil {
			err = independent(a)
		}
		err = errors.Join(err, cuda.EventRecord(summed, b))
		err = errors.Join(err, cuda.StreamWaitEvent(a, summed))
		err = errors.Join(err, cuda.FreeAsync(data, a))
	}
	return errors.Join(err, cuda.EventDestroy(filled), cuda.EventDestroy(summed))
}

func FanOut(source cuda.Stream, consumers []cuda.Stream, n int, outs []cuda.DevicePtr) error {
	switch {
	case n < 1:
		return fmt.Errorf("%w: n is %d", contract.ErrArgument, n)
	case len(consumers) == 0, len(consumers) != len(outs):
		return fmt.Errorf("%w: %d consumers with %d outs", contract.ErrArgument, len(consumers), len(outs))
	}
	events := make([]cuda.Event, 0, len(consumers)+1)
	var err error
	for range cap(events) {
		var event cuda.Event
		if event, err = cuda.EventCreate(); err != nil {
			break
		}
		events = append(events, event)
	}
	if err == nil {
		err = fanOut(source, consumers, n, outs, events)
	}
	for _, event := range events {
		err = errors.Join(err, cuda.EventDestroy(event))
	}
	return err
}

func fanOut(source cuda.Stream, consumers []cuda.Stream, n int, outs []cuda.DevicePtr, events []cuda.Event) error {
	data, err := fill(source, n)
	if err != nil {
		return err
	}
	filled := events[len(consumers)]
	err = cuda.EventRecord(filled, source)
	for i, c := range consumers {
		if err == nil {
			err = checksum(c, filled, data, n, outs[i])
		}
	}
	for i, c := range consumers {
		err = errors.Join(err, cuda.EventRecord(events[i], c))
	}
	for i := range consumers {
		err = errors.Join(err, cuda.StreamWaitEvent(source, events[i]))
	}
	return errors.Join(err, cuda.FreeAsync(data, source))
}

// fill allocates n elements and fills them, or leaves nothing behind.
func fill(s cuda.Stream, n int) (cuda.DevicePtr, error) {
	data, err := cuda.MallocAsync(int64(n)*4, s)
	if err != nil {
		return 0, err
	}
	if err := kernels.Fill(1+(n-1)/512, 512, s, data, n); err != nil {
		return 0, errors.Join(err, cuda.FreeAsync(data, s))
	}
	return data, nil
}

// checksum sets out to zero while it waits for nothing, and then waits.
func checksum(s cuda.Stream, filled cuda.Event, data cuda.DevicePtr, n int, out cuda.DevicePtr) error {
	if err := cuda.MemsetAsync(out, 0, 8, s); err != nil {
		return err
	}
	if err := cuda.StreamWaitEvent(s, filled); err != nil {
		return err
	}
	return kernels.Checksum(1+(n-1)/512, 512, s, data, n, out)
}

// Buffer is in one of these states.
type Buffer struct {
	address cuda.DevicePtr
	owner   cuda.Stream
	order   cuda.Event
	state   int
	used    cuda.Stream
}

const (
	atRest    = iota
	outside   // a use in stream used has not come back
	recorded  // its place is recorded, and owner does not wait for it yet
	withoutIt // the memory is freed
	closed
)

func NewBuffer(bytes int64, s cuda.Stream) (*Buffer, error) {
	if bytes < 1 {
		return nil, fmt.Errorf("%w: %d bytes", contract.ErrArgument, bytes)
	}
	address, err := cuda.MallocAsync(bytes, s)
	if err != nil {
		return nil, err
	}
	order, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
	if err != nil {
		return nil, errors.Join(err, cuda.FreeAsync(address, s))
	}
	return &Buffer{address: address, owner: s, order: order, state: atRest}, nil
}

func (b *Buffer) Use(t cuda.Stream, work func(cuda.Stream, cuda.DevicePtr) error) error {
	if b.state == closed {
		return fmt.Errorf("use: %w", contract.ErrClosed)
	}
	if err := b.comeBack(); err != nil {
		return err
	}
	if t == b.owner {
		return work(b.owner, b.address)
	}
	if err := cuda.EventRecord(b.order, b.owner); err != nil {
		return err
	}
	if err := cuda.StreamWaitEvent(t, b.order); err != nil {
		return err
	}
	b.state, b.used = outside, t
	failed := work(t, b.address)
	if err := b.comeBack(); err != nil {
		return errors.Join(failed, err)
	}
	return failed
}

// comeBack goes on where the way back has stopped.
func (b *Buffer) comeBack() error {
	if b.state == outside {
		if err := cuda.EventRecord(b.order, b.used); err != nil {
			return err
		}
		b.state = recorded
	}
	if b.state == recorded {
		if err := cuda.StreamWaitEvent(b.owner, b.order); err != nil {
			return err
		}
		b.state = atRest
	}
	return nil
}

func (b *Buffer) Close() error {
	if b.state == closed {
		return fmt.Errorf("close: %w", contract.ErrClosed)
	}
	if err := b.comeBack(); err != nil {
		return err
	}
	if b.state != withoutIt {
		if err := cuda.FreeAsync(b.address, b.owner); err != nil {
			return err
		}
		b.state = withoutIt
	}
	if err := cuda.EventDestroy(b.order); err != nil {
		return err
	}
	b.state = closed
	return nil
}
