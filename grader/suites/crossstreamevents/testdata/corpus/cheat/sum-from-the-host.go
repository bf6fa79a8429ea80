// Adds up on the host and copies the sum to where the kernel should have put it.
//
//cudalab:fails results placement
package crossstreamevents

import (
	"errors"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

func Share(a, b cuda.Stream, n int, out cuda.DevicePtr, independent func(cuda.Stream) error) error {
	if n < 1 {
		return contract.ErrArgument
	}
	sum := uint64(0)
	for i := range n {
		x := (uint32(i) + 1) * 0x9E3779B9
		x = (x ^ x>>16) * 0x85EBCA6B
		x = (x ^ x>>13) * 0xC2B2AE35
		sum += uint64(x^x>>16) * uint64(i+1)
	}
	raw := make([]byte, 8)
	for i := range raw {
		raw[i] = byte(sum >> (8 * i))
	}
	if err := cuda.MemcpyHtoDAsync(out, cuda.Pageable(raw), 8, b); err != nil {
		return err
	}
	return independent(a)
}

func FanOut(source cuda.Stream, consumers []cuda.Stream, n int, outs []cuda.DevicePtr) (err error) {
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
	return nil
}

// after makes what is enqueued in later from now on wait for what is in earlier by now.
func after(later, earlier cuda.Stream, event cuda.Event) error {
	if err := cuda.EventRecord(event, earlier); err != nil {
		return err
	}
	return cuda.StreamWaitEvent(later, event)
}

// Buffer is memory and the stream that it belongs to.
type Buffer struct {
	block   cuda.DevicePtr
	home    cuda.Stream
	mark    cuda.Event
	pending *cuda.Stream // whose work home does not wait for yet
	freed   bool
	gone    bool
}

func NewBuffer(bytes int64, home cuda.Stream) (*Buffer, error) {
	if bytes <= 0 {
		return nil, contract.ErrArgument
	}
	block, e := cuda.MallocAsync(bytes, home)
	if e != nil {
		return nil, e
	}
	mark, e := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
	if e != nil {
		return nil, errors.Join(e, cuda.FreeAsync(block, home))
	}
	return &Buffer{block: block, home: home, mark: mark}, nil
}

func (b *Buffer) Use(t cuda.Stream, work func(cuda.Stream, cuda.DevicePtr) error) error {
	if b.gone {
		return contract.ErrClosed
	}
	if e := b.settle(); e != nil {
		return e
	}
	if t != b.home {
		if e := b.order(t, b.home); e != nil {
			return e
		}
		b.pending = &t
	}
	e := work(t, b.block)
	return errors.Join(e, b.settle())
}

// settle makes the way back that is still to be made.
func (b *Buffer) settle() error {
	if b.pending == nil {
		return nil
	}
	e := b.order(b.home, *b.pending)
	if e == nil {
		b.pending = nil
	}
	return e
}

// order has one stream wait for all that is in another.
func (b *Buffer) order(later, earlier cuda.Stream) error {
	if e := cuda.EventRecord(b.mark, earlier); e != nil {
		return e
	}
	return cuda.StreamWaitEvent(later, b.mark)
}

func (b *Buffer) Close() error {
	if b.gone {
		return contract.ErrClosed
	}
	if e := b.settle(); e != nil {
		return e
	}
	if !b.freed {
		if e := cuda.FreeAsync(b.block, b.home); e != nil {
			return e
		}
		b.freed = true
	}
	e := cuda.EventDestroy(b.mark)
	b.gone = e == nil
	return e
}
