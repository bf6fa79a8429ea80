package oracle

// Mark is word i of a block that kernel occupy has moved into with a tag.
func Mark(tag uint32, i int64) uint64 {
	return (uint64(tag)<<32 ^ uint64(i)) * 0x9E3779B97F4A7C15
}
