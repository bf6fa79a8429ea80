package kernels_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/kernels"
	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
)

func init() { tries(kernels.Touch) }

func TestTouchEqualsTheOracle(t *testing.T) {
	onEach(t, func(t *testing.T) {
		for _, c := range []struct {
			bytes       int64
			grid, block int
			seed        uint32
			offset      int64
		}{
			{1, 1, 1, 0, 0}, {1, 64, 256, 7, 3}, {255, 1, 256, 1, 0}, {257, 2, 32, 250, 1}, {4096, 1, 100, 3, 16},
			{1_000_003, 64, 256, 1 << 31, 5}, {3_000_000, 1000, 1024, 1<<32 - 1, 0}, {0, 1, 32, 1, 0}, {-4, 1, 32, 1, 0},
		} {
			t.Run(fmt.Sprintf("bytes=%d,grid=%d,block=%d", c.bytes, c.grid, c.block), func(t *testing.T) {
				const guard = 64
				size := c.offset + max(c.bytes, 0) + guard
				data := poisoned(t, size)
				require.NoError(t, kernels.Touch(c.grid, c.block, cuda.Stream{}, data+cuda.DevicePtr(c.offset), c.bytes, c.seed))
				requireWritten(t, data, size, func(want []byte) { oracle.Touch(want[c.offset:size-guard], c.seed) })
			})
		}
	})
}
