package contract

import "cudalab/native/cuda"

// PoolConfig says what the pool-config exercise is to do: how its pool is set, and what goes through it.
type PoolConfig struct {
	Device    int           // the device the pool is on
	Threshold uint64        // the pool's release threshold, in bytes
	TrimTo    uint64        // bytes that the trim at the end may leave reserved; the caller passes at most math.MaxInt64
	Streams   []cuda.Stream // at least one, all different; they belong to the caller
	Sizes     []int64       // one or more blocks of a round, each of 1 byte or more; block j is in Streams[j%len(Streams)]
	Rounds    int           // at least 1, however many
}

// Sample is a pool's own account of its memory at one moment, in bytes.
type Sample struct {
	Reserved uint64 // what the pool holds from the system: cuda.MemPoolAttrReservedMemCurrent
	Used     uint64 // what of it is handed out: cuda.MemPoolAttrUsedMemCurrent
	UsedHigh uint64 // the most that was handed out since the mark was last reset: cuda.MemPoolAttrUsedMemHigh
}

// PoolReport is what the pool-config exercise found out.
type PoolReport struct {
	Rounds  []Sample // one at the end of each round
	Reused  int      // how many of all the allocations did not raise Reserved
	Trimmed Sample   // after the trim
}
