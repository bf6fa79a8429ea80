// Keeps a list of what is to be undone and goes through it backwards at the end, whatever fails on the way.
package crossstreamevents

import (
	"errors"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

// undoing is what is still to be done on the way out, the last first.
type undoing []func() error

func (u *undoing) later(f func() error) { *u = append(*u, f) }

func (u *undoing) all(err error) error {
	for _, f := range slices.Backward(*u) {
		err = errors.Join(err, f())
	}
	return err
}

func Share(a, b cuda.Stream, n int, out cuda.DevicePtr, independent func(cuda.Stream) error) error {
	if n < 1 {
		return contract.ErrArgument
	}
	return lend(a, []cuda.Stream{b}, n, []cuda.DevicePtr{out}, func() error { return independent(a) })
}

func FanOut(source cuda.Stream, consumers []cuda.Stream, n int, outs []cuda.DevicePtr) error {
	if n < 1 || len(consumers) == 0 || len(outs) != len(consumers) {
		return contract.ErrArgument
	}
	return lend(source, consumers, n, outs, func() error { return nil })
}

// lend fills a buffer in owner, has every user take its checksum, calls last and takes the buffer back.
func lend(owner cuda.Stream, users []cuda.Stream, n int, outs []cuda.DevicePtr, last func() error) error {
	var undo undoing
	event, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
	if err != nil {
		return err
	}
	undo.later(func() error { return cuda.EventDestroy(event) })
	data, err := cuda.MallocAsync(4*int64(n), owner)
	if err != nil {
		return undo.all(err)
	}
	undo.later(func() error { return cuda.FreeAsync(data, owner) })
	steps := []func() error{
		func() error { return kernels.Fill((n+1023)/1024, 1024, owner, data, n) },
		func() error { return cuda.EventRecord(event, owner) },
	}
	for i, user := range users {
		undo.later(func() error { return follow(owner, user, event) })
		steps = append(steps,
			func() error { return cuda.StreamWaitEvent(user, event) },
			func() error { return cuda.MemsetAsync(outs[i], 0, 8, user) },
			func() error { return kernels.Checksum((n+1023)/1024, 1024, user, data, n, outs[i]) })
	}
	for _, step := range append(steps, last) {
		if err := step(); err != nil {
			return undo.all(err)
		}
	}
	return undo.all(nil)
}

// follow makes later wait for what is in earlier by now, or the host where no event will do.
func follow(later, earlier cuda.Stream, event cuda.Event) error {
	err := cuda.EventRecord(event, earlier)
	if err == nil {
		err = cuda.StreamWaitEvent(later, event)
	}
	if err != nil {
		err = errors.Join(err, cuda.StreamSynchronize(earlier))
	}
	return err
}

// Buffer keeps what is still to be done as functions: the way back, if that has failed, and what gives all back.
type Buffer struct {
	at       cuda.DevicePtr
	s        cuda.Stream
	e        cuda.Event
	left     undoing // of the last use
	giveBack undoing
}

func NewBuffer(bytes int64, s cuda.Stream) (made *Buffer, err error) {
	if bytes < 1 {
		return nil, contract.ErrArgument
	}
	made = &Buffer{s: s}
	if made.e, err = cuda.EventCreateWithFlags(cuda.EventDisableTiming); err != nil {
		return nil, err
	}
	made.giveBack.later(func() error { return cuda.EventDestroy(made.e) })
	if made.at, err = cuda.MallocAsync(bytes, s); err != nil {
		return nil, made.giveBack.all(err)
	}
	made.giveBack.later(func() error { return cuda.FreeAsync(made.at, s) })
	return made, nil
}

// one does the last step of a list, and the one before, as long as none fails.
func (u *undoing) one() error {
	for len(*u) > 0 {
		last := len(*u) - 1
		if err := (*u)[last](); err != nil {
			return err
		}
		*u = (*u)[:last]
	}
	return nil
}

func (b *Buffer) Use(t cuda.Stream, work func(cuda.Stream, cuda.DevicePtr) error) error {
	if b.giveBack == nil {
		return contract.ErrClosed
	}
	if err := b.left.one(); err != nil {
		return err
	}
	if t != b.s {
		if err := behind(t, b.s, b.e); err != nil {
			return err
		}
		b.left.later(func() error { return behind(b.s, t, b.e) })
	}
	return errors.Join(work(t, b.at), b.left.one())
}

// behind is follow for what is made up for later: nobody waits where it cannot be made now.
func behind(later, earlier cuda.Stream, event cuda.Event) error {
	if err := cuda.EventRecord(event, earlier); err != nil {
		return err
	}
	return cuda.StreamWaitEvent(later, event)
}

func (b *Buffer) Close() error {
	if b.giveBack == nil {
		return contract.ErrClosed
	}
	if err := b.left.one(); err != nil {
		return err
	}
	if err := b.giveBack.one(); err != nil {
		return err
	}
	b.giveBack = nil
	return nil
}
