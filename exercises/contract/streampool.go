package contract

import "cudalab/native/cuda"

// Upstream is where a stream-pool gets its memory.
type Upstream interface {
	// Malloc answers memory of size bytes whose address is a multiple of 256. It is there for what comes into s from
	// now on, and for what comes into other streams once they follow that place of s.
	Malloc(size int64, s cuda.Stream) (cuda.DevicePtr, error)
	// Free gives back memory that Malloc has answered, as a whole. The device has to be through with it.
	Free(p cuda.DevicePtr) error
}

// PoolStats is the state of a stream-pool, in bytes.
type PoolStats struct {
	Reserved    int64 // held from the upstream
	InUse       int64 // handed out, as rounded up
	LargestFree int64 // the longest free bytes side by side in one chunk, whoever freed them
	Chunks      int   // how many allocations of the upstream's Reserved is
	Waits       int   // how many Allocs have handed out a block and made a stream wait for it
}
