package oracle

// Stamp is byte i of what kernel stamp writes for a tag.
func Stamp(tag uint32, i int64) byte {
	x := tag*0x9E3779B1 + uint32(i)
	x = (x ^ x>>16) * 0x85EBCA6B
	return byte(x >> 24)
}
