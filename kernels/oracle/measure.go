package oracle

// Gray is element i of what kernel gray writes: of the Gray codes of two neighbours a single bit differs.
func Gray(i int) uint32 { return uint32(i) ^ uint32(i)>>1 }
