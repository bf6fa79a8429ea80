package oracle

// BlockWord is word i, of 8 bytes, of what kernel stampBlocks writes to a block with this tag.
func BlockWord(tag uint64, i int64) uint64 { return tag<<32 + uint64(i) }
