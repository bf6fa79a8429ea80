package oracle

import "encoding/binary"

// Differing is how many of the words of x are others than those of y, which is as long: what kernel differ counts.
func Differing(x, y []byte) (n uint64) {
	for i := 0; i+4 <= len(x); i += 4 {
		if binary.LittleEndian.Uint32(x[i:]) != binary.LittleEndian.Uint32(y[i:]) {
			n++
		}
	}
	return n
}
