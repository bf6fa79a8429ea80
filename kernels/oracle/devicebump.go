package oracle

// BumpRounded is how many bytes a request takes of a pool: the next multiple of 16.
func BumpRounded(size uint64) uint64 { return (size + 15) &^ 15 }

// BumpFits tells whether a request of size bytes fits into a pool of capacity bytes, of which so many are taken. The
// size is compared before it is rounded, which may run over.
func BumpFits(taken, capacity, size uint64) bool {
	return size != 0 && size <= capacity && taken <= capacity && BumpRounded(size) <= capacity-taken
}

// BumpStamp is word i of the block that a thread has taken, 8 bytes each.
func BumpStamp(tag uint32, thread int, i uint64) uint64 {
	return uint64(tag+uint32(thread))<<32 | i&0xFFFFFFFF
}
