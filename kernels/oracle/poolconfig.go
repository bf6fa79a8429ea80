package oracle

// Touch writes what kernel touch writes: byte i becomes the low byte of seed + i.
func Touch(data []byte, seed uint32) {
	const period = 256
	for i := range min(len(data), period) {
		data[i] = byte(seed + uint32(i))
	}
	for done := period; done < len(data); done *= 2 {
		copy(data[done:], data[:done])
	}
}
