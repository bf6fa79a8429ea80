package tracker

import (
	"fmt"

	"cudalab/grader/suite/allocator"
	"cudalab/native/cuda"
)

// layout is what Wrap is called with, and what the allocator is like that it is to track.
type layout struct {
	inner  kind
	memory cuda.DevicePtr // where it begins; 0: it is allocated
	bytes  int64
	limit  int64
	silent bool // no Report is asked for
	rarely bool // a Report is asked for once in a while
}

func (l layout) String() string {
	return fmt.Sprintf("tracker.Wrap(%s, memory, %d, %d)", kindNames[l.inner], l.bytes, l.limit)
}

// kind is what an allocator is like.
type kind int

const (
	firstFit  kind = iota // hands out the first free bytes that suffice, rounded up to 256
	wrapping              // the same, and its errors are the contract's, wrapped
	failing               // the same, and every third Alloc and every second Free fails with an error of CUDA's
	sizing                // the same, and it has no blocks of more than 1,024 bytes: contract.ErrSize
	disowning             // the same, and every third Alloc and every second Free fails with contract.ErrInvalidFree
	bumping               // hands out one address behind the other, of memory that is not there
)

var kindNames = [...]string{firstFit: "inner", wrapping: "inner whose errors are wrapped",
	failing: "inner that fails now and then",
	sizing:  "inner without blocks above 1024", disowning: "inner that disowns its blocks now and then", bumping: "inner"}

// largestOfSizing is the largest block of a sizing allocator.
const largestOfSizing = 1024

// workload is one tracker and what is done with it.
type workload = allocator.Workload[layout]
