// Package buddy is the exercise buddy: an allocator that halves blocks until one fits, and makes two free halves whole
// again.
package buddy

import (
	"math/bits"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

// Allocator hands out parts of one piece of device memory, the root block. Each part is the root, or half of it, or
// half of such a half, and so on down to the minimal block.
//
// A block of order k is 2^k minimal blocks long, and the blocks of one order are numbered from the root's beginning:
// block n is n<<k minimal blocks away from it. The halves of block n are 2n and 2n+1 in the order below. So a block's
// buddy, the other half of the same block, is n^1, and the whole is n/2 in the order above.
//
// Any number of allocators may be in use at once.
type Allocator struct {
	root   cuda.DevicePtr
	shift  int // a minimal block is 2^shift bytes
	top    int // the order of the root block
	closed bool

	free  []set   // by order: the blocks that are free, and are not part of a larger free block
	ready uint64  // bit k is set while free[k] is not empty
	live  []uint8 // by minimal block: 1 + the order of the block that is handed out and begins there, or 0

	freeBlocks int
	inUse      int64 // bytes, in whole blocks
}

// leastBlock is the smallest minimal block in bytes: what cuda.Malloc aligns to at least.
const leastBlock = 256

// rounded are New's arguments as New rounds them up, or contract.ErrArgument, or an error that wraps it.
func rounded(total, minBlock int64) (int64, int64, error) {
	// TODO(1a): Answer contract.ErrArgument to what New refuses. Round the rest up to powers of two.
	return 0, 0, contract.TODO("1a")
}

// powerOfTwo is the smallest power of two that is not below n; n is at least 1.
func powerOfTwo(n int64) int64 { return 1 << bits.Len64(uint64(n-1)) }

// New makes an allocator whose root block has total bytes and whose minimal block has minBlock bytes, each rounded up
// to a power of two, and minBlock to 256 at least. The root block comes from one cuda.Malloc of exactly that size; CUDA
// is not called again before Close.
//
// If either is below 1, or above 2^62, or if minBlock is the larger one after rounding, it answers contract.ErrArgument
// without calling CUDA. If cuda.Malloc fails, it returns that error. With any error the Allocator is nil.
func New(total, minBlock int64) (*Allocator, error) {
	_, _, err := rounded(total, minBlock)
	if err != nil {
		return nil, err
	}
	// TODO(1b): Get a root block of the rounded size from cuda.Malloc, make the tables, and insert the root: it is the one
	// free block there is.
	return nil, contract.TODO("1b")
}

// Alloc hands out a block of size bytes, rounded up to a power of two and to the minimal block. Its distance from the
// root block's address is a multiple of the rounded size. It answers contract.ErrSize if size is below 1 or above the
// root's, contract.ErrFull if no such block is free, and contract.ErrClosed after Close.
func (a *Allocator) Alloc(size int64) (cuda.DevicePtr, error) {
	if a.closed {
		return 0, contract.ErrClosed
	}
	order, err := a.orderOf(size)
	if err != nil {
		return 0, err
	}
	n, err := a.take(order)
	if err != nil {
		return 0, err
	}
	a.live[n<<order] = 1 + uint8(order)
	a.inUse += 1 << (order + a.shift)
	return a.root + cuda.DevicePtr(n)<<(order+a.shift), nil
}

// orderOf is the order of the smallest block of at least size bytes, or contract.ErrSize where there can be none.
func (a *Allocator) orderOf(size int64) (int, error) {
	// TODO(1c): Answer contract.ErrSize to a size that no block has. Find the order of the smallest block that holds size.
	return 0, contract.TODO("1c")
}

// take finds a free block of an order, or makes one by halving a larger one, and removes it from the free ones. It
// answers contract.ErrFull where there is none.
func (a *Allocator) take(order int) (int, error) {
	// TODO(1d): Take a free block of this order, or halve a larger one until there is one. Any will do, best the smallest.
	return 0, contract.TODO("1d")
}

// find is the number and the order of the block that is handed out and begins at p, or contract.ErrInvalidFree.
func (a *Allocator) find(p cuda.DevicePtr) (n, order int, err error) {
	// TODO(1e): Find the live block that begins at p. Answer contract.ErrInvalidFree if there is none.
	return 0, 0, contract.TODO("1e")
}

// Free takes back the block that begins at p, and makes it one with its buddy if that is free too, and so on up to the
// root. What is freed may be handed out at once: the caller has finished with it on the device, or what uses it next
// comes into the same stream. Free answers contract.ErrInvalidFree if no block that is handed out begins at p, and
// contract.ErrClosed after Close.
func (a *Allocator) Free(p cuda.DevicePtr) error {
	if a.closed {
		return contract.ErrClosed
	}
	n, order, err := a.find(p)
	if err != nil {
		return err
	}
	a.live[n<<order] = 0
	a.inUse -= 1 << (order + a.shift)
	// TODO(1f): Make the block one with its buddy as long as the buddy is free and whole. Insert what came of it.
	return contract.TODO("1f")
}

// insert puts block n of an order among the free ones.
func (a *Allocator) insert(n, order int) {
	a.free[order].add(n)
	a.ready |= 1 << order
	a.freeBlocks++
}

// remove takes block n of an order from among the free ones.
func (a *Allocator) remove(n, order int) {
	a.free[order].remove(n)
	if a.free[order].empty() {
		a.ready &^= 1 << order
	}
	a.freeBlocks--
}

// Stats is the allocator's state.
func (a *Allocator) Stats() contract.BuddyStats {
	s := contract.BuddyStats{Total: 1 << (a.top + a.shift), InUse: a.inUse, FreeBlocks: a.freeBlocks}
	if a.ready != 0 {
		s.LargestFree = 1 << (bits.Len64(a.ready) - 1 + a.shift)
	}
	return s
}

// Close gives the root block back, and with it all that is still handed out; the caller has finished all device use of
// it. If CUDA answers an error, Close returns that error and may be called again. Once it has returned nil, Alloc, Free
// and Close answer contract.ErrClosed.
func (a *Allocator) Close() error {
	if a.closed {
		return contract.ErrClosed
	}
	// TODO(1g): Free the root block. From then on the allocator is closed.
	return contract.TODO("1g")
}

// set is a set of numbers. The lowest is kept by itself: splitting and merging mostly meet sets of a single number. All others
// are one bit each. Above the bits are more bits, each of which says whether a word of 64 below it has any, and so on up to
// a single word: the next lowest number is found in as many steps as there are levels, four for sixteen million
// numbers.
type set struct {
	lowest int // -1 where the set is empty
	levels [][]uint64
}

// newSet makes an empty set for the numbers below count.
func newSet(count int) set {
	s := set{lowest: -1}
	for {
		count = (count + 63) / 64
		s.levels = append(s.levels, make([]uint64, count))
		if count == 1 {
			return s
		}
	}
}

func (s *set) empty() bool { return s.lowest < 0 }

func (s *set) has(i int) bool { return i == s.lowest || s.levels[0][i>>6]>>(i&63)&1 != 0 }

func (s *set) add(i int) {
	if s.lowest < 0 {
		s.lowest = i
		return
	}
	if i < s.lowest {
		i, s.lowest = s.lowest, i
	}
	for _, words := range s.levels {
		word := words[i>>6]
		words[i>>6] = word | 1<<(i&63)
		if word != 0 {
			return // the levels above know it already
		}
		i >>= 6
	}
}

func (s *set) remove(i int) {
	if i == s.lowest {
		s.lowest = s.next()
		if i = s.lowest; i < 0 {
			return
		}
	}
	for _, words := range s.levels {
		words[i>>6] &^= 1 << (i & 63)
		if words[i>>6] != 0 {
			return
		}
		i >>= 6
	}
}

// next is the lowest of the numbers that are bits, or -1.
func (s *set) next() int {
	top := len(s.levels) - 1
	if s.levels[top][0] == 0 {
		return -1
	}
	i := 0
	for level := top; level >= 0; level-- {
		i = i<<6 | bits.TrailingZeros64(s.levels[level][i])
	}
	return i
}
