package vmmarena

import (
	"cudalab/exercises/contract"
	"cudalab/grader/suite/mapping"
	"cudalab/native/cuda"
)

// copying is what the lesson argues against: an arena that grows by allocating twice as much, copying what is there and
// freeing the old memory. Every growth moves it.
type copying struct {
	base            cuda.DevicePtr
	size, used, top int64
}

func newCopying(_ int, reserve int64) (Arena, error) { return &copying{top: reserve}, nil }

func (a *copying) Alloc(size int64) (cuda.DevicePtr, error) {
	end := a.used + mapping.RoundUp(size, alignment)
	if end > a.top {
		return 0, contract.ErrFull
	}
	if end > a.size {
		if err := a.grow(min(2*end, a.top)); err != nil {
			return 0, err
		}
	}
	p := a.base + cuda.DevicePtr(a.used)
	a.used = end
	return p, nil
}

func (a *copying) grow(size int64) error {
	next, err := cuda.Malloc(size)
	if err != nil {
		return err
	}
	if a.size > 0 {
		if err := cuda.MemcpyDtoD(next, a.base, a.used); err != nil {
			return err
		}
		if err := cuda.Free(a.base); err != nil {
			return err
		}
	}
	a.base, a.size = next, size
	return nil
}

func (a *copying) Reset() error {
	a.used = 0
	return nil
}

func (a *copying) Close() error { return cuda.Free(a.base) }

func (a *copying) Stats() contract.ArenaStats {
	return contract.ArenaStats{Base: a.base, Used: a.used, Committed: a.size, Reserved: a.top}
}
