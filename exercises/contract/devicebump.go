package contract

import "math"

// Word is 64 bits that threads share. Each method is one atomic operation: no other thread's comes in between. Add and
// CompareAndSwap answer what stood there before, as CUDA's atomicAdd and atomicCAS do.
type Word interface {
	Load() uint64
	Add(value uint64) (old uint64)                     // adds value
	CompareAndSwap(compare, value uint64) (old uint64) // writes value if compare stands there, else nothing
}

// NoRoom stands in place of an offset where a request was refused.
const NoRoom uint64 = math.MaxUint64
