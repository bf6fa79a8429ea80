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

func init() { tries(kernels.Extend, kernels.Recheck) }

func TestExtendEqualsTheOracleAndRecheckCountsWhatDiffers(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			useDevice(t, kind)
			for _, c := range []struct {
				from, to    int64
				grid, block int
				seed        uint64
			}{
				{0, 1, 1, 1, 0}, {0, 1000, 1, 32, 7}, {17, 1000, 2, 100, 1 << 63}, {999, 1000, 64, 256, 3}, {0, 100_003, 64, 256,
					5},
				{10, 10, 1, 32, 1}, {10, 3, 1, 32, 1},
			} {
				t.Run(fmt.Sprintf("from=%d,to=%d,grid=%d,block=%d", c.from, c.to, c.grid, c.block), func(t *testing.T) {
					extendAndRecheck(t, c.from, c.to, c.grid, c.block, c.seed)
				})
			}
		})
	}
}

func extendAndRecheck(t *testing.T, from, to int64, grid, block int, seed uint64) {
	const guard = 8
	size := 8 * (max(from, to) + guard)
	var s cuda.Stream
	array, err := cuda.Malloc(size)
	require.NoError(t, err)
	counter, err := cuda.Malloc(8)
	require.NoError(t, err)
	require.NoError(t, cuda.Memset(array, poison, size))
	require.NoError(t, kernels.Extend(grid, block, s, array, from, to, seed))
	got := make(cuda.Pageable, size)
	require.NoError(t, cuda.MemcpyDtoH(got, array, size))

	want := make(cuda.Pageable, size)
	for i := range want {
		want[i] = poison
	}
	for i := from; i < to; i++ {
		binary.LittleEndian.PutUint64(want[8*i:], oracle.GrownWord(seed, i))
	}
	require.True(t, string(want) == string(got), "the bytes differ")

	mismatches := func(from, to int64, seed uint64) uint64 {
		require.NoError(t, cuda.Memset(counter, 0, 8))
		require.NoError(t, kernels.Recheck(grid, block, s, array, from, to, seed, counter))
		sum := make(cuda.Pageable, 8)
		require.NoError(t, cuda.MemcpyDtoH(sum, counter, 8))
		return binary.LittleEndian.Uint64(sum)
	}
	written := uint64(max(to-from, 0))
	require.Zero(t, mismatches(from, to, seed))
	require.Equal(t, written, mismatches(from, to, seed+1), "another seed's words are other words")
	if written > 0 {
		require.Equal(t, uint64(from+guard), mismatches(0, to+guard, seed), "what was not written counts as wrong")
	}
	require.NoError(t, cuda.Free(array))
	require.NoError(t, cuda.Free(counter))
}
