// The offsets of the free blocks in a list for each order, in few words.
package buddy

import (
	"math/bits"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

type Allocator struct {
	root   cuda.DevicePtr
	min    int64
	free   [][]int64     // by order, the offsets of the free blocks
	live   map[int64]int // by offset, the order of a block that is handed out
	inUse  int64
	closed bool
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
	top := bits.Len64(uint64(total/minBlock)) - 1
	a := &Allocator{root: root, min: minBlock, free: make([][]int64, top+1), live: map[int64]int{}}
	a.free[top] = []int64{0}
	return a, nil
}

func (a *Allocator) Alloc(size int64) (cuda.DevicePtr, error) {
	top := len(a.free) - 1
	switch {
	case a.closed:
		return 0, contract.ErrClosed
	case size < 1 || size > a.min<<top:
		return 0, contract.ErrSize
	}
	order := bits.Len64(uint64(up(max(size, a.min))/a.min)) - 1
	from := order
	for from <= top && len(a.free[from]) == 0 {
		from++
	}
	if from > top {
		return 0, contract.ErrFull
	}
	last := len(a.free[from]) - 1
	offset := a.free[from][last]
	a.free[from] = a.free[from][:last]
	for from > order {
		from--
		a.free[from] = append(a.free[from], offset+a.min<<from)
	}
	a.live[offset] = order
	a.inUse += a.min << order
	return a.root + cuda.DevicePtr(offset), nil
}

func (a *Allocator) Free(p cuda.DevicePtr) error {
	if a.closed {
		return contract.ErrClosed
	}
	offset := int64(p - a.root)
	order, ok := a.live[offset]
	if !ok {
		return contract.ErrInvalidFree
	}
	delete(a.live, offset)
	a.inUse -= a.min << order
	for order < len(a.free)-1 {
		at := slices.Index(a.free[order], offset^a.min<<order)
		if at < 0 {
			break
		}
		a.free[order] = slices.Delete(a.free[order], at, at+1)
		offset &^= a.min << order
		order++
	}
	a.free[order] = append(a.free[order], offset)
	return nil
}

func (a *Allocator) Stats() contract.BuddyStats {
	s := contract.BuddyStats{Total: a.min << (len(a.free) - 1), InUse: a.inUse}
	for order, blocks := range a.free {
		s.FreeBlocks += len(blocks)
		if len(blocks) > 0 {
			s.LargestFree = a.min << order
		}
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
