// Rounds up to minimal blocks only, and hands out as many as are free in a row.
//
//cudalab:fails blocks stats
package buddy

import (
	"math/bits"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

type Allocator struct {
	root       cuda.DevicePtr
	total, min int64
	taken      []bool // by minimal block
	live       map[int64]int64
	inUse      int64
	closed     bool
}

func up(n int64) int64 { return 1 << bits.Len64(uint64(n-1)) }

func New(total, minBlock int64) (*Allocator, error) {
	if total < 1 || minBlock < 1 || total > 1<<62 || minBlock > 1<<62 {
		return nil, contract.ErrArgument
	}
	total, minBlock = up(total), max(up(minBlock), 256)
	if minBlock > total {
		return nil, contract.ErrArgument
	}
	root, err := cuda.Malloc(total)
	if err != nil {
		return nil, err
	}
	return &Allocator{root: root, total: total, min: minBlock, taken: make([]bool, total/minBlock), live: map[int64]int64{}}, nil
}

func (a *Allocator) Alloc(size int64) (cuda.DevicePtr, error) { // want: misaligned
	switch {
	case a.closed:
		return 0, contract.ErrClosed
	case size < 1 || size > a.total:
		return 0, contract.ErrSize
	}
	n := (size + a.min - 1) / a.min
	row := int64(0)
	for i := range a.taken {
		row++
		if a.taken[i] {
			row = 0
		}
		if row == n {
			first := int64(i) + 1 - n
			a.mark(first, n, true)
			a.live[first] = n
			a.inUse += n * a.min
			return a.root + cuda.DevicePtr(first*a.min), nil
		}
	}
	return 0, contract.ErrFull
}

func (a *Allocator) mark(first, n int64, taken bool) {
	for i := first; i < first+n; i++ {
		a.taken[i] = taken
	}
}

func (a *Allocator) Free(p cuda.DevicePtr) error {
	if a.closed {
		return contract.ErrClosed
	}
	offset := int64(p - a.root)
	n, ok := a.live[offset/a.min]
	if !ok || offset%a.min != 0 {
		return contract.ErrInvalidFree
	}
	delete(a.live, offset/a.min)
	a.mark(offset/a.min, n, false)
	a.inUse -= n * a.min
	return nil
}

func (a *Allocator) Stats() contract.BuddyStats {
	s := contract.BuddyStats{Total: a.total, InUse: a.inUse}
	row := int64(0)
	for _, taken := range a.taken {
		if taken {
			row = 0
			continue
		}
		if row == 0 {
			s.FreeBlocks++
		}
		row++
		s.LargestFree = max(s.LargestFree, row*a.min)
	}
	return s
}

func (a *Allocator) Close() error {
	if a.closed {
		return contract.ErrClosed
	}
	if err := cuda.Free(a.root); err != nil {
		return err
	}
	a.closed = true
	return nil
}
