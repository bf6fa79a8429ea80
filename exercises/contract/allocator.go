package contract

import (
	"errors"

	"cudalab/native/cuda"
)

// What the allocators answer. Wrapping an error with more words is welcome. A call that answers an error has changed
// nothing, but for a Close that has given something back by then: up to the next Close the others may answer ErrClosed,
// and hand out nothing that has gone.
var (
	// ErrSize: the size is less than 1, or larger than anything that this allocator could ever hand out.
	ErrSize = errors.New("no block has this size")
	// ErrFull: there is no room left, but there may be later.
	ErrFull = errors.New("no room left")
	// ErrInvalidFree: the address is not where a block begins that is handed out: it was freed already, lies inside a
	// block, or was never handed out. So is the null address.
	ErrInvalidFree = errors.New("not a block that is handed out")
	// ErrClosed: the allocator was closed.
	ErrClosed = errors.New("the allocator is closed")
)

// ClassStats is the state of one size class of a slab allocator.
type ClassStats struct {
	BlockSize int64 // bytes
	Total     int   // blocks there are
	InUse     int   // blocks handed out
	Spills    int   // allocations since New that this class was the smallest to fit, and that got a larger block
}

// BuddyStats is the state of a buddy allocator, in bytes.
type BuddyStats struct {
	Total       int64 // the root block
	InUse       int64 // handed out, in whole blocks
	LargestFree int64 // the largest block that could be handed out now; 0 if there is none
	FreeBlocks  int   // free blocks once every two free buddies are one
}

// ArenaStats is the state of an arena, in bytes.
type ArenaStats struct {
	Base        cuda.DevicePtr // where the arena's addresses begin
	Used        int64          // from Base to the end of the last block
	Committed   int64          // from Base to the end of the memory that is mapped
	Reserved    int64          // addresses reserved
	Granularity int64          // what the device maps memory in multiples of
}

// BlockPoolStats is the state of a pool of blocks of one size.
type BlockPoolStats struct {
	BlockSize int64 // bytes
	Total     int   // blocks
	InUse     int   // of these, handed out
	Waits     int   // how many Allocs have handed out a block and made a stream wait for it
}
