// Looks through all minimal blocks for a place.
//
//cudalab:fails cost
package buddy

import (
	"math/bits"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

type Allocator struct {
	root       cuda.DevicePtr
	total, min int64
	size       []int64 // by minimal block: the bytes of the block that begins there, or 0
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
	return &Allocator{root: root, total: total, min: minBlock, size: make([]int64, total/minBlock)}, nil
}

// free reports whether nothing is handed out from an offset on. It is never asked about the inside of a block.
func (a *Allocator) free(offset, size int64) bool {
	for at := offset / a.min; at < (offset+size)/a.min; at++ {
		if a.size[at] != 0 {
			return false
		}
	}
	return true
}

func (a *Allocator) Alloc(size int64) (cuda.DevicePtr, error) {
	switch {
	case a.closed:
		return 0, contract.ErrClosed
	case size < 1 || size > a.total:
		return 0, contract.ErrSize
	}
	size = max(up(size), a.min)
	for offset := int64(0); offset < a.total; {
		if taken := a.size[offset/a.min]; taken != 0 {
			offset += max(taken, size)
			continue
		}
		if a.free(offset, size) {
			a.size[offset/a.min] = size
			return a.root + cuda.DevicePtr(offset), nil
		}
		offset += size
	}
	return 0, contract.ErrFull
}

func (a *Allocator) Free(p cuda.DevicePtr) error {
	if a.closed {
		return contract.ErrClosed
	}
	offset := int64(p - a.root)
	if offset < 0 || offset >= a.total || offset%a.min != 0 || a.size[offset/a.min] == 0 {
		return contract.ErrInvalidFree
	}
	a.size[offset/a.min] = 0
	return nil
}

func (a *Allocator) Stats() contract.BuddyStats {
	s := contract.BuddyStats{Total: a.total}
	for _, size := range a.size {
		s.InUse += size
	}
	for offset := int64(0); offset < a.total; {
		if taken := a.size[offset/a.min]; taken != 0 {
			offset += taken
			continue
		}
		size := a.min
		for size < a.total && offset%(2*size) == 0 && a.free(offset, 2*size) {
			size *= 2
		}
		s.FreeBlocks++
		s.LargestFree = max(s.LargestFree, size)
		offset += size
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
