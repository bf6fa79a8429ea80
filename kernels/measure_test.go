package kernels_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/kernels"
	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
)

func init() { tries(kernels.Gray) }

func TestGrayEqualsTheOracle(t *testing.T) {
	onEach(t, func(t *testing.T) {
		for _, c := range covers {
			t.Run(fmt.Sprintf("n=%d,grid=%d,block=%d", c.n, c.grid, c.block), func(t *testing.T) {
				grayEqualsOracle(t, c.n, c.grid, c.block)
			})
		}
	})
}

// grayEqualsOracle launches the kernel on memory with a guard behind it and compares every byte.
func grayEqualsOracle(t *testing.T, n, grid, block int) {
	const guard = 64
	size := 4*int64(max(n, 0)) + guard
	data := poisoned(t, size)
	require.NoError(t, kernels.Gray(grid, block, cuda.Stream{}, data, n))
	requireWritten(t, data, size, func(want []byte) {
		for i := range min(max(n, 0), grid*block) {
			binary.LittleEndian.PutUint32(want[4*i:], oracle.Gray(i))
		}
	})
}
