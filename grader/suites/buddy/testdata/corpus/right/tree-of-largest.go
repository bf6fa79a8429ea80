// A binary tree in an array: each node knows the largest free block below it, and an Alloc walks down.
package buddy

import (
	"fmt"
	"math/bits"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

type Allocator struct {
	root    cuda.DevicePtr
	shift   int
	top     int
	largest []uint8 // by node, 1 the root: 1 + the order of the largest free block in it, or 0
	inUse   int64
	closed  bool
}

func New(total, minBlock int64) (*Allocator, error) {
	if total < 1 || minBlock < 1 || total > 1<<62 || minBlock > 1<<62 {
		return nil, fmt.Errorf("buddy: %d and %d: %w", total, minBlock, contract.ErrArgument)
	}
	shift := max(bits.Len64(uint64(minBlock-1)), 8)
	top := bits.Len64(uint64(total-1)) - shift
	if top < 0 {
		return nil, fmt.Errorf("buddy: a block of %d in %d: %w", minBlock, total, contract.ErrArgument)
	}
	root, err := cuda.Malloc(1 << (top + shift))
	if err != nil {
		return nil, fmt.Errorf("buddy: the root block: %w", err)
	}
	a := &Allocator{root: root, shift: shift, top: top, largest: make([]uint8, 2<<top)}
	for n := 1; n < len(a.largest); n++ {
		a.largest[n] = uint8(top + 2 - bits.Len(uint(n)))
	}
	return a, nil
}

func (a *Allocator) Alloc(size int64) (cuda.DevicePtr, error) {
	if a.closed {
		return 0, fmt.Errorf("buddy: Alloc: %w", contract.ErrClosed)
	}
	if size < 1 || size > 1<<(a.top+a.shift) {
		return 0, fmt.Errorf("buddy: %d bytes: %w", size, contract.ErrSize)
	}
	order := max(bits.Len64(uint64(size-1))-a.shift, 0)
	if int(a.largest[1]) <= order {
		return 0, fmt.Errorf("buddy: %d bytes: %w", size, contract.ErrFull)
	}
	n := 1
	for range a.top - order {
		n *= 2
		low, high := a.largest[n], a.largest[n+1]
		if int(low) <= order || int(high) > order && high < low {
			n++
		}
	}
	a.largest[n] = 0
	a.inUse += 1 << (order + a.shift)
	a.update(n)
	first := n<<order - 1<<a.top
	return a.root + cuda.DevicePtr(first)<<a.shift, nil
}

// update brings the nodes above n up to date.
func (a *Allocator) update(n int) {
	for n /= 2; n > 0; n /= 2 {
		low, high := a.largest[2*n], a.largest[2*n+1]
		whole := uint8(a.top + 1 - bits.Len(uint(n))) // a half's, where all of it is free
		if low == whole && high == whole {
			a.largest[n] = whole + 1
		} else {
			a.largest[n] = max(low, high)
		}
	}
}

// find is the node of the live block that begins at p, and its order.
func (a *Allocator) find(p cuda.DevicePtr) (n, order int, ok bool) {
	offset := uint64(p - a.root)
	first := offset >> a.shift
	if first >= 1<<a.top || first<<a.shift != offset {
		return 0, 0, false
	}
	n = int(first) + 1<<a.top
	for a.largest[n] != 0 {
		if n /= 2; n == 0 {
			return 0, 0, false
		}
		order++
	}
	return n, order, n<<order-1<<a.top == int(first)
}

func (a *Allocator) Free(p cuda.DevicePtr) error {
	if a.closed {
		return fmt.Errorf("buddy: Free: %w", contract.ErrClosed)
	}
	n, order, ok := a.find(p)
	if !ok {
		return fmt.Errorf("buddy: %#x: %w", uint64(p), contract.ErrInvalidFree)
	}
	a.largest[n] = uint8(order + 1)
	a.inUse -= 1 << (order + a.shift)
	a.update(n)
	return nil
}

func (a *Allocator) Stats() contract.BuddyStats {
	s := contract.BuddyStats{Total: 1 << (a.top + a.shift), InUse: a.inUse, FreeBlocks: a.free(1, a.top)}
	if a.largest[1] > 0 {
		s.LargestFree = 1 << (int(a.largest[1]) - 1 + a.shift)
	}
	return s
}

// free counts the free blocks in a node of an order.
func (a *Allocator) free(n, order int) int {
	switch int(a.largest[n]) {
	case 0:
		return 0
	case order + 1:
		return 1
	}
	return a.free(2*n, order-1) + a.free(2*n+1, order-1)
}

func (a *Allocator) Close() error {
	if a.closed {
		return fmt.Errorf("buddy: Close: %w", contract.ErrClosed)
	}
	if err := cuda.Free(a.root); err != nil {
		return fmt.Errorf("buddy: the root block: %w", err)
	}
	a.closed = true
	return nil
}
