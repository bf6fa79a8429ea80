package oracle

// ByteValues is how many values a byte may have.
const ByteValues = 256

// Census adds to counts how many of the bytes have each value, as kernel census does.
func Census(counts *[ByteValues]uint64, bytes []byte) {
	for _, v := range bytes {
		counts[v]++
	}
}
