package kernels_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/kernels"
	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
)

func init() { tries(kernels.Gray) }

func TestGrayEqualsTheOracle(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			useDevice(t, kind)
			for _, c := range covers {
				t.Run(fmt.Sprintf("n=%d,grid=%d,block=%d", c.n, c.grid, c.block), func(t *testing.T) {
					grayEqualsOracle(t, c.n, c.grid, c.block)
				})
			}
		})
	}
}

// grayEqualsOracle launches the kernel on memory with a guard behind it and compares every byte.
func grayEqualsOracle(t *testing.T, n, grid, block int) {
	const guard, poison = 64, 0xA5
	size := 4*int64(max(n, 0)) + guard
	data, err := cuda.Malloc(size)
	require.NoError(t, err)
	require.NoError(t, cuda.Memset(data, poison, size))
	require.NoError(t, kernels.Gray(grid, block, cuda.Stream{}, data, n))
	got := make(cuda.Pageable, size)
	require.NoError(t, cuda.MemcpyDtoH(got, data, size))
	require.NoError(t, cuda.Free(data))

	want := slices.Repeat([]byte{poison}, int(size))
	for i := range min(max(n, 0), grid*block) {
		binary.LittleEndian.PutUint32(want[4*i:], oracle.Gray(i))
	}
	if at := firstDifference(want, got); at >= 0 {
		t.Fatalf("byte %d is %#02x, the oracle says %#02x", at, got[at], want[at])
	}
}
