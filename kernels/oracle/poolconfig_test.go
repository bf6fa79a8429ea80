package oracle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTouchAgreesWithEveryByteWritten(t *testing.T) {
	for _, size := range []int{0, 1, 2, 255, 256, 257, 511, 512, 513, 1000, 4096, 10_007} {
		for _, seed := range []uint32{0, 1, 200, 255, 256, 1<<32 - 1} {
			data := make([]byte, size)
			Touch(data, seed)
			for i, b := range data {
				require.Equal(t, byte(seed+uint32(i)), b, "byte %d of %d, seed %d", i, size, seed)
			}
		}
	}
}
