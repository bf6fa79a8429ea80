// A stream for each role, as far as there are any: one copies in, one computes, one copies back, over two buffers a stream with
// an edge each way.
package overlap

import (
	"errors"
	"fmt"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

type buffer struct {
	p                  cuda.DevicePtr
	full, mixed, empty cuda.Event
	used               bool
}

func Run(streams []cuda.Stream, in, out cuda.HostBuffer, n, chunk, work int) (err error) {
	if len(streams) == 0 || n < 1 || chunk < 1 || work < 0 || in.Len()/4 < int64(n) || out.Len()/4 < int64(n) {
		return fmt.Errorf("refused: %w", contract.ErrArgument)
	}
	size := min(n, chunk)
	k := len(streams)
	to, compute, from := streams[0], streams[min(1, k-1)], streams[min(2, k-1)]
	var buffers []*buffer
	defer func() {
		for _, b := range buffers {
			// What reads and writes the buffer is in three streams; the free comes behind all of it.
			for _, s := range []cuda.Stream{to, compute} {
				failed := cuda.EventRecord(b.empty, s)
				if failed == nil {
					failed = cuda.StreamWaitEvent(from, b.empty)
				}
				if failed != nil {
					failed = errors.Join(failed, cuda.StreamSynchronize(s))
				}
				err = errors.Join(err, failed)
			}
			err = errors.Join(err, cuda.FreeAsync(b.p, from))
			err = errors.Join(err, cuda.EventDestroy(b.full), cuda.EventDestroy(b.mixed), cuda.EventDestroy(b.empty))
		}
	}()
	for range min(2*k, (n+size-1)/size) {
		b, err := newBuffer(4*int64(size), to)
		if err != nil {
			return err
		}
		buffers = append(buffers, b)
	}
	for first, i := 0, 0; first < n; first, i = first+size, i+1 {
		b, words := buffers[i%len(buffers)], min(size, n-first)
		if b.used {
			if err := cuda.StreamWaitEvent(to, b.empty); err != nil {
				return err
			}
		}
		b.used = true
		if err := cuda.MemcpyHtoDAsync(b.p, in.At(4*int64(first)), 4*int64(words), to); err != nil {
			return err
		}
		if err := edge(b.full, to, compute); err != nil {
			return err
		}
		if err := kernels.Mix(1+(words-1)/64, 64, compute, b.p, b.p, words, work); err != nil {
			return err
		}
		if err := edge(b.mixed, compute, from); err != nil {
			return err
		}
		if err := cuda.MemcpyDtoHAsync(out.At(4*int64(first)), b.p, 4*int64(words), from); err != nil {
			return err
		}
		if err := cuda.EventRecord(b.empty, from); err != nil {
			return err
		}
	}
	return nil
}

func newBuffer(bytes int64, s cuda.Stream) (b *buffer, err error) {
	b = &buffer{}
	made := []*cuda.Event{&b.full, &b.mixed, &b.empty}
	for i, e := range made {
		if *e, err = cuda.EventCreateWithFlags(cuda.EventDisableTiming); err != nil {
			for _, e := range made[:i] {
				err = errors.Join(err, cuda.EventDestroy(*e))
			}
			return nil, err
		}
	}
	if b.p, err = cuda.MallocAsync(bytes, s); err != nil {
		return nil, errors.Join(err, cuda.EventDestroy(b.full), cuda.EventDestroy(b.mixed), cuda.EventDestroy(b.empty))
	}
	return b, nil
}

func edge(e cuda.Event, first, then cuda.Stream) error {
	if err := cuda.EventRecord(e, first); err != nil {
		return err
	}
	return cuda.StreamWaitEvent(then, e)
}

func Efficiency(streams []cuda.Stream, in, out cuda.HostBuffer, n, chunk, work int) (quotient float32, err error) {
	if err := Run(streams, in, out, n, chunk, work); err != nil {
		return 0, err
	}
	one, err := measure(streams, streams[:1], in, out, n, chunk, work)
	if err != nil {
		return 0, err
	}
	all, err := measure(streams, streams, in, out, n, chunk, work)
	return one / all, err
}

func measure(all, use []cuda.Stream, in, out cuda.HostBuffer, n, chunk, work int) (ms float32, err error) {
	var e [3]cuda.Event
	for i := range e {
		if e[i], err = cuda.EventCreateWithFlags(cuda.EventBlockingSync); err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, cuda.EventDestroy(e[i])) }()
	}
	for _, s := range all[1:] {
		if err := edge(e[2], s, all[0]); err != nil {
			return 0, err
		}
	}
	if err := cuda.EventRecord(e[0], all[0]); err != nil {
		return 0, err
	}
	for _, s := range all[1:] {
		if err := cuda.StreamWaitEvent(s, e[0]); err != nil {
			return 0, err
		}
	}
	if err := Run(use, in, out, n, chunk, work); err != nil {
		return 0, err
	}
	for _, s := range all[1:] {
		if err := edge(e[2], s, all[0]); err != nil {
			return 0, err
		}
	}
	if err := cuda.EventRecord(e[1], all[0]); err != nil {
		return 0, err
	}
	if err := cuda.EventSynchronize(e[1]); err != nil {
		return 0, err
	}
	return cuda.EventElapsedTime(e[0], e[1])
}
