package oracle

// GrownWord is word i, of 8 bytes, of what kernel extend writes to an array with this seed.
func GrownWord(seed uint64, i int64) uint64 {
	x := seed + uint64(i)*0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}
