// Package slab is the exercise slab: an allocator that hands out blocks of a few fixed sizes from memory that it got from
// CUDA once, at the beginning.
package slab

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

// Allocator hands out blocks of some size classes. Its memory is one allocation of CUDA's, in which the classes lie one
// behind the other, and the blocks of a class side by side. What it knows of its blocks it keeps on the host: it never
// looks into them. Any number of allocators may be in use at once.
type Allocator struct {
	memory  cuda.DevicePtr
	classes []class // by rising block size
	closed  bool
}

// class is the blocks of one size.
type class struct {
	blockSize int64
	first     cuda.DevicePtr // where block 0 begins
	free      []int32        // the blocks that are not handed out; the last of them is handed out next
	live      []bool         // by block: it is handed out
	spills    int            // see contract.ClassStats
}

// checkArguments is how many bytes all blocks have together. It answers contract.ErrArgument, or an error that wraps it,
// to what New cannot work with.
func checkArguments(classes []int64, blocksPerClass int) (total int64, err error) {
	// TODO(1a): Answer contract.ErrArgument if there are no classes, if a size is no multiple of 256 or not larger than
	// the one before, or if there is not at least one block in a class. Else add up all bytes; New says what is too many.
	return 0, contract.TODO("1a")
}

// New gets memory for blocksPerClass blocks of each of the sizes in classes, in one call of cuda.Malloc: it is the only
// CUDA call until Close.
//
// The sizes have to be multiples of 256 above 0, each larger than the one before, and at least one; there has to be at
// least one block of each, and all together must not have more bytes than an int64 can count. Else New answers
// contract.ErrArgument before any CUDA call, and it may do so for more blocks in a class than an int32 can count. An error
// of CUDA's is returned, and nothing is left behind. With any error the Allocator is nil. New leaves classes as they
// are, and the caller may write to the slice afterwards.
func New(classes []int64, blocksPerClass int) (*Allocator, error) {
	_, err := checkArguments(classes, blocksPerClass)
	if err != nil {
		return nil, err
	}
	// TODO(1b): Allocate memory for all blocks, as many bytes as checkArguments has added up.
	memory, err := cuda.DevicePtr(0), contract.TODO("1b")
	if err != nil {
		return nil, err
	}
	a := &Allocator{memory: memory}
	first := memory
	for _, size := range classes {
		a.classes = append(a.classes, newClass(size, first, blocksPerClass))
		first += cuda.DevicePtr(size) * cuda.DevicePtr(blocksPerClass)
	}
	return a, nil
}

// newClass is a class whose blocks begin at first, all of them free.
func newClass(blockSize int64, first cuda.DevicePtr, blocks int) class {
	c := class{blockSize: blockSize, first: first, free: make([]int32, blocks), live: make([]bool, blocks)}
	for i := range c.free {
		c.free[i] = int32(blocks - 1 - i) // block 0 goes first
	}
	return c
}

// Stats is the state of every class, in the order in which New was given them. The slice is the caller's own: no later call
// changes it, and what the caller writes to it changes nothing.
func (a *Allocator) Stats() []contract.ClassStats {
	stats := make([]contract.ClassStats, len(a.classes))
	for i := range a.classes {
		c := &a.classes[i]
		stats[i] = contract.ClassStats{
			BlockSize: c.blockSize,
			Total:     len(c.live),
			InUse:     len(c.live) - len(c.free),
			Spills:    c.spills,
		}
	}
	return stats
}

// Alloc hands out a block of at least size bytes, from the smallest class that fits, or if all of its blocks are handed
// out from the next larger one that has a free block. It answers contract.ErrSize to a size below 1 or beyond the largest
// class, contract.ErrFull if no class that fits has a free block, and contract.ErrClosed after Close.
func (a *Allocator) Alloc(size int64) (cuda.DevicePtr, error) {
	if a.closed {
		return 0, contract.ErrClosed
	}
	fits, err := a.smallest(size)
	if err != nil {
		return 0, err
	}
	return a.take(fits)
}

// smallest is the index of the smallest class whose blocks have at least size bytes. It answers contract.ErrSize to a size
// below 1 or beyond the largest class.
func (a *Allocator) smallest(size int64) (int, error) {
	// TODO(1c): Find the first class that is large enough. Answer contract.ErrSize if there is none, and to a size below 1.
	return 0, contract.TODO("1c")
}

// take hands out a block of the class with index fits, or of the first one behind it that has a free block, which is a
// spill of class fits. It answers contract.ErrFull if none has.
func (a *Allocator) take(fits int) (cuda.DevicePtr, error) {
	// TODO(1d): Take a block off the free ones of the first class that has any, and remember that it is handed out. Count
	// a spill where it is not class fits.
	return 0, contract.TODO("1d")
}

// Free takes back the block that begins at p. What is freed may be handed out at once: the caller has finished with it
// on the device, or what uses the block next comes into the same stream. Free answers contract.ErrInvalidFree if p is
// not where a block begins that is handed out, and contract.ErrClosed after Close.
func (a *Allocator) Free(p cuda.DevicePtr) error {
	if a.closed {
		return contract.ErrClosed
	}
	// TODO(1e): Find the class that p lies in and the block that begins there. Take it back if it is handed out; to
	// everything else answer contract.ErrInvalidFree.
	return contract.TODO("1e")
}

// Close gives the memory back to CUDA, blocks that are still handed out included; the caller has finished with all of
// them on the device. It answers an error of CUDA's, and can then be called again; once it has succeeded, every call that
// returns an error answers contract.ErrClosed.
func (a *Allocator) Close() error {
	if a.closed {
		return contract.ErrClosed
	}
	// TODO(1f): Give the memory back to CUDA. If that succeeds, the allocator is closed.
	return contract.TODO("1f")
}
