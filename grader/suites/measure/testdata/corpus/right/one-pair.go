// One pair of events for all three ways, all warm-ups first, and no use of Time in Compare: a type keeps the pair.
package measure

import (
	"errors"
	"fmt"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

type stopwatch struct {
	s           cuda.Stream
	start, stop cuda.Event
}

func newStopwatch(s cuda.Stream) (*stopwatch, error) {
	w := &stopwatch{s: s}
	var err error
	if w.start, err = cuda.EventCreateWithFlags(cuda.EventDefault); err != nil {
		return nil, err
	}
	if w.stop, err = cuda.EventCreateWithFlags(cuda.EventBlockingSync); err != nil {
		return nil, errors.Join(err, cuda.EventDestroy(w.start))
	}
	return w, nil
}

func (w *stopwatch) close() error {
	return errors.Join(cuda.EventDestroy(w.start), cuda.EventDestroy(w.stop))
}

// times has a round repeated, and measures one.
func (w *stopwatch) times(n int, round func() error) (float32, error) {
	if err := cuda.EventRecord(w.start, w.s); err != nil {
		return 0, err
	}
	for i := 0; i < n; i++ {
		if err := round(); err != nil {
			return 0, fmt.Errorf("round %d: %w", i, err)
		}
	}
	if err := cuda.EventRecord(w.stop, w.s); err != nil {
		return 0, err
	}
	if err := cuda.StreamSynchronize(w.s); err != nil {
		return 0, err
	}
	ms, err := cuda.EventElapsedTime(w.start, w.stop)
	if err != nil {
		return 0, err
	}
	return float32(float64(ms) / float64(n)), nil
}

func Time(s cuda.Stream, warm, rounds int, work func(cuda.Stream) error) (float32, error) {
	switch {
	case work == nil:
		return 0, fmt.Errorf("no work: %w", contract.ErrArgument)
	case warm < 0, rounds <= 0:
		return 0, fmt.Errorf("%d, %d: %w", warm, rounds, contract.ErrArgument)
	}
	round := func() error { return work(s) }
	for ; warm > 0; warm-- {
		if err := round(); err != nil {
			return 0, err
		}
	}
	w, err := newStopwatch(s)
	if err != nil {
		return 0, err
	}
	ms, err := w.times(rounds, round)
	return ms, errors.Join(err, w.close())
}

func Compare(s cuda.Stream, n, rounds int) (c contract.Comparison, err error) {
	if n <= 0 || rounds <= 0 {
		return c, contract.ErrArgument
	}
	w, err := newStopwatch(s)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	buffer, err := cuda.Malloc(4 * int64(n))
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, cuda.Free(buffer)) }()

	gray := func(data cuda.DevicePtr) error { return kernels.Gray((n+1023)/1024, 1024, s, data, n) }
	ways := []struct {
		answer *float32
		round  func() error
	}{
		{&c.Kept, func() error { return gray(buffer) }},
		{&c.Synchronous, func() error {
			data, err := cuda.Malloc(4 * int64(n))
			if err == nil {
				err = errors.Join(gray(data), cuda.Free(data))
			}
			return err
		}},
		{&c.Ordered, func() error {
			data, err := cuda.MallocAsync(4*int64(n), s)
			if err == nil {
				err = errors.Join(gray(data), cuda.FreeAsync(data, s))
			}
			return err
		}},
	}
	for _, way := range ways {
		for range 3 {
			if err := way.round(); err != nil {
				return c, err
			}
		}
	}
	for _, way := range ways {
		if *way.answer, err = w.times(rounds, way.round); err != nil {
			return c, err
		}
	}
	return c, nil
}
