package oracle

import "encoding/binary"

// ElementPiece is 8 bytes, in little-endian order, of the element with a number that kernel writeElements writes with
// this seed: those from byte 8*k on.
func ElementPiece(seed uint64, number, k int64) uint64 { return mixed(elementStart(seed, number, k)) }

// ElementPieces is as many such pieces, one behind the other from the k-th on, as there is room for.
func ElementPieces(to []byte, seed uint64, number, k int64) {
	for x := elementStart(seed, number, k); len(to) >= 8; x += nextPiece {
		binary.LittleEndian.PutUint64(to, mixed(x))
		to = to[8:]
	}
}

const nextPiece = 0xD1B54A32D192ED03

func elementStart(seed uint64, number, k int64) uint64 {
	return seed + uint64(number)*0x9E3779B97F4A7C15 + uint64(k)*nextPiece
}

// mixed is SplitMix64's last step.
func mixed(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// ElementByte is one byte of such an element.
func ElementByte(seed uint64, number, b int64) byte {
	return byte(ElementPiece(seed, number, b/8) >> (8 * (b % 8)))
}
