package oracle

// Filled is element i of what kernel fill writes: MurmurHash3's last step over multiples of 2^32 divided by the golden
// ratio, both of which take no two numbers to the same one.
func Filled(i int) uint32 {
	x := (uint32(i) + 1) * 0x9E3779B9
	x = (x ^ x>>16) * 0x85EBCA6B
	x = (x ^ x>>13) * 0xC2B2AE35
	return x ^ x>>16
}

// ChecksumFilled is what kernel checksum adds to its sum over n elements that kernel fill wrote: each times its index +
// 1.
func ChecksumFilled(n int) (sum uint64) {
	for i := range n {
		sum += uint64(Filled(i)) * uint64(i+1)
	}
	return sum
}
