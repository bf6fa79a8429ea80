// A linked list of the free blocks of each order, the block that came back last in front.
package buddy

import (
	"math/bits"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

// block is the state of the block that begins at a minimal block.
type block struct {
	order      int8
	free, live bool
	prev, next int32
}

type Allocator struct {
	root   cuda.DevicePtr
	shift  int
	top    int
	blocks []block
	heads  []int32
	inUse  int64
	count  int
	closed bool
}

func log2(n int64) int { return bits.Len64(uint64(n - 1)) }

func New(total, minBlock int64) (*Allocator, error) {
	if total < 1 || minBlock < 1 || total > 1<<62 || minBlock > 1<<62 {
		return nil, contract.ErrArgument
	}
	shift := max(log2(minBlock), 8)
	top := log2(total) - shift
	if top < 0 {
		return nil, contract.ErrArgument
	}
	root, err := cuda.Malloc(1 << (top + shift))
	if err != nil {
		return nil, err
	}
	a := &Allocator{root: root, shift: shift, top: top, blocks: make([]block, 1<<top), heads: make([]int32, top+1)}
	for i := range a.heads {
		a.heads[i] = -1
	}
	a.push(0, top)
	return a, nil
}

func (a *Allocator) push(i int32, order int) {
	next := a.heads[order]
	a.blocks[i] = block{order: int8(order), free: true, prev: -1, next: next}
	if next >= 0 {
		a.blocks[next].prev = i
	}
	a.heads[order] = i
	a.count++
}

func (a *Allocator) unlink(i int32) {
	b := &a.blocks[i]
	if b.prev >= 0 {
		a.blocks[b.prev].next = b.next
	} else {
		a.heads[b.order] = b.next
	}
	if b.next >= 0 {
		a.blocks[b.next].prev = b.prev
	}
	b.free = false
	a.count--
}

func (a *Allocator) Alloc(size int64) (cuda.DevicePtr, error) {
	if a.closed {
		return 0, contract.ErrClosed
	}
	if size < 1 || size > 1<<(a.top+a.shift) {
		return 0, contract.ErrSize
	}
	order := max(log2(size)-a.shift, 0)
	for from := order; from <= a.top; from++ {
		i := a.heads[from]
		if i < 0 {
			continue
		}
		a.unlink(i)
		for ; from > order; from-- {
			a.push(i+1<<(from-1), from-1)
		}
		a.blocks[i] = block{order: int8(order), live: true}
		a.inUse += 1 << (order + a.shift)
		return a.root + cuda.DevicePtr(i)<<a.shift, nil
	}
	return 0, contract.ErrFull
}

func (a *Allocator) Free(p cuda.DevicePtr) error {
	if a.closed {
		return contract.ErrClosed
	}
	offset := uint64(p - a.root)
	if p < a.root || offset>>a.shift >= uint64(len(a.blocks)) || offset&(1<<a.shift-1) != 0 {
		return contract.ErrInvalidFree
	}
	i := int32(offset >> a.shift)
	if !a.blocks[i].live {
		return contract.ErrInvalidFree
	}
	order := int(a.blocks[i].order)
	a.blocks[i] = block{}
	a.inUse -= 1 << (order + a.shift)
	for ; order < a.top; order++ {
		buddy := i ^ 1<<order
		if b := a.blocks[buddy]; !b.free || int(b.order) != order {
			break
		}
		a.unlink(buddy)
		i = min(i, buddy)
	}
	a.push(i, order)
	return nil
}

func (a *Allocator) Stats() contract.BuddyStats {
	s := contract.BuddyStats{Total: 1 << (a.top + a.shift), InUse: a.inUse, FreeBlocks: a.count}
	for order, head := range a.heads {
		if head >= 0 {
			s.LargestFree = 1 << (order + a.shift)
		}
	}
	return s
}

func (a *Allocator) Close() error {
	if a.closed {
		return contract.ErrClosed
	}
	err := cuda.Free(a.root)
	a.closed = err == nil
	return err
}
