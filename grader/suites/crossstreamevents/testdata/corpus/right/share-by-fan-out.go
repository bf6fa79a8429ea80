// Share and FanOut are one function.
package crossstreamevents

import (
	"errors"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

func Share(a, b cuda.Stream, n int, out cuda.DevicePtr, independent func(cuda.Stream) error) error {
	return hand(a, []cuda.Stream{b}, n, []cuda.DevicePtr{out}, independent)
}

func FanOut(source cuda.Stream, consumers []cuda.Stream, n int, outs []cuda.DevicePtr) error {
	return hand(source, consumers, n, outs, func(cuda.Stream) error { return nil })
}

func hand(source cuda.Stream, consumers []cuda.Stream, n int, outs []cuda.DevicePtr,
	independent func(cuda.Stream) error) (err error) {
	if n < 1 || len(consumers) == 0 || len(outs) != len(consumers) {
		return contract.ErrArgument
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
	defer func() {
		for _, c := range consumers {
			err = errors.Join(err, after(source, c, event))
		}
		err = errors.Join(err, cuda.FreeAsync(data, source))
	}()
	if err := kernels.Fill((n+255)/256, 256, source, data, n); err != nil {
		return err
	}
	for i, c := range consumers {
		if err := after(c, source, event); err != nil {
			return err
		}
		if err := cuda.MemsetAsync(outs[i], 0, 8, c); err != nil {
			return err
		}
		if err := kernels.Checksum((n+255)/256, 256, c, data, n, outs[i]); err != nil {
			return err
		}
	}
	return independent(source)
}

// after makes what is enqueued in later from now on wait for what is in earlier by now.
func after(later, earlier cuda.Stream, event cuda.Event) error {
	if err := cuda.EventRecord(event, earlier); err != nil {
		return err
	}
	return cuda.StreamWaitEvent(later, event)
}

// shared is a buffer. Its Close gives back what it can, whatever fails.
type shared struct {
	stream cuda.Stream
	data   map[cuda.DevicePtr]bool
	event  []cuda.Event
	behind []cuda.Stream // that are still to be waited for
}

func NewBuffer(bytes int64, s cuda.Stream) (*shared, error) {
	if bytes < 1 {
		return nil, contract.ErrArgument
	}
	event, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
	if err != nil {
		return nil, err
	}
	data, err := cuda.MallocAsync(bytes, s)
	if err != nil {
		return nil, errors.Join(err, cuda.EventDestroy(event))
	}
	return &shared{s, map[cuda.DevicePtr]bool{data: true}, []cuda.Event{event}, nil}, nil
}

func (b *shared) closed() bool { return len(b.data)+len(b.event) == 0 }

func (b *shared) Use(t cuda.Stream, work func(cuda.Stream, cuda.DevicePtr) error) (err error) {
	if b.closed() {
		return contract.ErrClosed
	}
	if err := b.back(); err != nil {
		return err
	}
	if t != b.stream {
		if err := after(t, b.stream, b.event[0]); err != nil {
			return err
		}
		b.behind = append(b.behind, t)
		defer func() { err = errors.Join(err, b.back()) }()
	}
	for data := range b.data {
		err = work(t, data)
	}
	return err
}

func (b *shared) back() error {
	for len(b.behind) > 0 {
		if err := after(b.stream, b.behind[0], b.event[0]); err != nil {
			return err
		}
		b.behind = b.behind[1:]
	}
	return nil
}

func (b *shared) Close() (err error) {
	if b.closed() {
		return contract.ErrClosed
	}
	if err := b.back(); err != nil {
		return err
	}
	for data := range b.data {
		failed := cuda.FreeAsync(data, b.stream)
		if failed == nil {
			delete(b.data, data)
		}
		err = errors.Join(err, failed)
	}
	for _, event := range b.event {
		failed := cuda.EventDestroy(event)
		if failed == nil {
			b.event = nil
		}
		err = errors.Join(err, failed)
	}
	return err
}
