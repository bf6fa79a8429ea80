// Halves as nodes with pointers, made when a block is first halved; the highest free place is taken.
package buddy

import (
	"math/bits"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

// node is a block. One without halves is free as a whole or handed out.
type node struct {
	low, high *node
	live      bool
	largest   int64 // the largest free block in it, in bytes
	pieces    int   // the free blocks in it
}

func whole(size int64) *node { return &node{largest: size, pieces: 1} }

// sum brings a block in halves up to date, and makes it whole again where both are.
func (n *node) sum(size int64) {
	if n.low.largest == size/2 && n.high.largest == size/2 {
		*n = *whole(size)
		return
	}
	n.largest, n.pieces = max(n.low.largest, n.high.largest), n.low.pieces+n.high.pieces
}

// take hands out a block of want bytes from a block of size bytes that has one, and answers its offset.
func (n *node) take(size, want int64) (offset int64) {
	if size == want {
		*n = node{live: true}
		return 0
	}
	if n.low == nil {
		n.low, n.high = whole(size/2), whole(size/2)
	}
	if n.high.largest >= want && (n.low.largest < want || n.low.largest >= n.high.largest) {
		offset = size/2 + n.high.take(size/2, want)
	} else {
		offset = n.low.take(size/2, want)
	}
	n.sum(size)
	return offset
}

// give takes back the block at an offset, and answers its size; 0 if none that is handed out begins there.
func (n *node) give(size, offset int64) (freed int64) {
	switch {
	case n.live && offset == 0:
		*n = *whole(size)
		return size
	case n.low == nil:
		return 0
	case offset < size/2:
		freed = n.low.give(size/2, offset)
	default:
		freed = n.high.give(size/2, offset-size/2)
	}
	n.sum(size)
	return freed
}

type Allocator struct {
	base       cuda.DevicePtr
	total, min int64
	inUse      int64
	root       *node // nil once it is closed
}

func up(n int64) int64 { return 1 << bits.Len64(uint64(n-1)) }

func New(total, minBlock int64) (*Allocator, error) {
	if total < 1 || minBlock < 1 || total > 1<<62 || minBlock > 1<<62 || max(up(minBlock), 256) > up(total) {
		return nil, contract.ErrArgument
	}
	total, minBlock = up(total), max(up(minBlock), 256)
	base, err := cuda.Malloc(total)
	if err != nil {
		return nil, err
	}
	return &Allocator{base: base, total: total, min: minBlock, root: whole(total)}, nil
}

func (a *Allocator) Alloc(size int64) (cuda.DevicePtr, error) {
	if a.root == nil {
		return 0, contract.ErrClosed
	}
	if size < 1 || size > a.total {
		return 0, contract.ErrSize
	}
	size = max(up(size), a.min)
	if a.root.largest < size {
		return 0, contract.ErrFull
	}
	a.inUse += size
	return a.base + cuda.DevicePtr(a.root.take(a.total, size)), nil
}

func (a *Allocator) Free(p cuda.DevicePtr) error {
	if a.root == nil {
		return contract.ErrClosed
	}
	if p < a.base || p >= a.base+cuda.DevicePtr(a.total) {
		return contract.ErrInvalidFree
	}
	size := a.root.give(a.total, int64(p-a.base))
	if size == 0 {
		return contract.ErrInvalidFree
	}
	a.inUse -= size
	return nil
}

func (a *Allocator) Stats() contract.BuddyStats {
	s := contract.BuddyStats{Total: a.total, InUse: a.inUse}
	if a.root != nil {
		s.LargestFree, s.FreeBlocks = a.root.largest, a.root.pieces
	}
	return s
}

func (a *Allocator) Close() error {
	if a.root == nil {
		return contract.ErrClosed
	}
	if err := cuda.Free(a.base); err != nil {
		return err
	}
	a.root = nil
	return nil
}
