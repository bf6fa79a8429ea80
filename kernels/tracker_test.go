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

func init() { tries(kernels.Census) }

func TestCensusEqualsTheOracle(t *testing.T) {
	onEach(t, func(t *testing.T) {
		for _, c := range []struct {
			bytes       int64
			grid, block int
			offset      int64
		}{
			{1, 1, 1, 0}, {1, 64, 256, 3}, {255, 1, 256, 0}, {257, 2, 32, 1}, {4096, 3, 100, 16}, {100_003, 64, 1024, 5},
			{0, 1, 32, 0}, {-4, 1, 32, 0},
		} {
			t.Run(fmt.Sprintf("bytes=%d,grid=%d,block=%d", c.bytes, c.grid, c.block), func(t *testing.T) {
				takeCensus(t, c.bytes, c.grid, c.block, c.offset)
			})
		}
	})
}

// takeCensus counts some bytes among others that must not be counted, on top of what the counts had.
func takeCensus(t *testing.T, bytes int64, grid, block int, offset int64) {
	const guard, before = 64, 7
	size := offset + max(bytes, 0) + guard
	data, err := cuda.Malloc(size)
	require.NoError(t, err)
	counts, err := cuda.Malloc(kernels.CensusBytes)
	require.NoError(t, err)
	held := make(cuda.Pageable, size)
	for i := range held {
		held[i] = oracle.Stamp(3, int64(i)) >> (i % 7) // low values are frequent
	}
	require.NoError(t, cuda.MemcpyHtoD(data, held, size))
	require.NoError(t, cuda.Memset(counts, before, kernels.CensusBytes))
	require.NoError(t, kernels.Census(grid, block, cuda.Stream{}, data+cuda.DevicePtr(offset), bytes, counts))
	got := make(cuda.Pageable, kernels.CensusBytes)
	require.NoError(t, cuda.MemcpyDtoH(got, counts, kernels.CensusBytes))

	var want [oracle.ByteValues]uint64
	oracle.Census(&want, held[offset:offset+max(bytes, 0)])
	for v, n := range want {
		require.Equal(t, n+before*0x0101010101010101, binary.LittleEndian.Uint64(got[8*v:]), "of value %d", v)
	}
	require.NoError(t, cuda.Free(data))
	require.NoError(t, cuda.Free(counts))
}
