package contract

import "cudalab/native/cuda"

// Allocator is what the tracker exercise wraps: anything that hands out blocks of device memory and takes them back. Where it has
// no room it answers ErrFull, or an error that wraps it.
type Allocator interface {
	Alloc(size int64) (cuda.DevicePtr, error)
	Free(p cuda.DevicePtr) error
}

// MemoryReport is what a tracker knows at one moment. All sizes are in bytes as they were asked for, whatever the allocator below
// makes of them.
type MemoryReport struct {
	Live          int64       // of all live blocks together
	Peak          int64       // the most that was ever live at once
	Free          int64       // of the memory: what no live block has
	LargestFree   int64       // the longest stretch of the memory without a live block
	Count         int         // live blocks
	PeakCount     int         // the most blocks that were ever live at once
	Allocs        int         // Allocs that succeeded
	Failures      int         // Allocs that came back with ErrFull, also within OnFull's function
	Fragmentation float64     // 1 - LargestFree/Free: 0 where all that is free is one stretch, or nothing is free
	BySize        []SizeUse   // the size classes in which there ever was a block, by rising size
	ByTag         []TagUse    // the tags under which there ever was a block, by falling Live, then by rising Tag
	Blocks        []LiveBlock // the oldest first
}

// SizeUse is the blocks of one size class: those of more than UpTo/2 bytes and at most UpTo, which is a power of two.
type SizeUse struct {
	UpTo   int64
	Live   int64 // bytes
	Count  int   // live blocks
	Allocs int   // since the beginning
}

// TagUse is the blocks under one tag.
type TagUse struct {
	Tag    string
	Live   int64 // bytes
	Peak   int64 // the most bytes that were ever live under this tag at once
	Count  int   // live blocks
	Allocs int   // since the beginning
}

// LiveBlock is a block that is handed out.
type LiveBlock struct {
	Ptr    cuda.DevicePtr
	Size   int64
	Tag    string
	Number int // of the Alloc that handed it out, among those that succeeded: the first is 1
}
