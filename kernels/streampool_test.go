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

func init() { tries(kernels.Lease, kernels.Inspect) }

func TestLeaseEqualsTheOracleAndInspectCountsWhatDiffers(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			useDevice(t, kind)
			for _, c := range []struct {
				bytes              int64
				grid, block, turns int
				tenant             uint32
			}{
				{8, 1, 1, 0, 0}, {256, 1, 256, 1, 7}, {4096, 1, 100, 3, 1 << 31}, {80_003, 64, 256, 2, 5}, {0, 1, 32, 1, 1},
				{7, 1, 32, 1, 1}, {-8, 1, 32, 1, 1},
			} {
				t.Run(fmt.Sprintf("bytes=%d,grid=%d,block=%d,turns=%d", c.bytes, c.grid, c.block, c.turns), func(t *testing.T) {
					leaseAndInspect(t, c.bytes, c.grid, c.block, c.turns, c.tenant)
				})
			}
		})
	}
}

func leaseAndInspect(t *testing.T, bytes int64, grid, block, turns int, tenant uint32) {
	const guard = 64
	size := max(bytes, 0) + guard
	var s cuda.Stream
	data, err := cuda.Malloc(size)
	require.NoError(t, err)
	counter, err := cuda.Malloc(8)
	require.NoError(t, err)
	require.NoError(t, cuda.Memset(data, poison, size))
	require.NoError(t, cuda.Memset(counter, 0, 8))
	require.NoError(t, kernels.Lease(grid, block, s, data, bytes, tenant, turns, counter))
	got := make(cuda.Pageable, size)
	require.NoError(t, cuda.MemcpyDtoH(got, data, size))
	want := make(cuda.Pageable, size)
	for i := range want {
		want[i] = poison
	}
	words := max(bytes, 0) / 8
	for i := range words {
		binary.LittleEndian.PutUint64(want[8*i:], oracle.Own(uint64(data)+uint64(8*i), tenant))
	}
	require.True(t, string(want) == string(got), "the bytes differ")

	sum := func() uint64 {
		read := make(cuda.Pageable, 8)
		require.NoError(t, cuda.MemcpyDtoH(read, counter, 8))
		return binary.LittleEndian.Uint64(read)
	}
	require.Zero(t, sum(), "nobody else was there")
	require.NoError(t, kernels.Inspect(grid, block, s, data, bytes, tenant, counter))
	require.Zero(t, sum())
	require.NoError(t, kernels.Inspect(grid, block, s, data, bytes, tenant+1, counter))
	require.Equal(t, uint64(words), sum(), "another tenant's words are all others")
	require.NoError(t, cuda.Free(data))
	require.NoError(t, cuda.Free(counter))
}

func TestLeaseTakesNoMoreTurnsThanAnInt(t *testing.T) {
	useDevice(t, "sim")
	require.ErrorIs(t, kernels.Lease(1, 32, cuda.Stream{}, 0, 0, 0, 1<<40, 0), cuda.ErrorInvalidValue)
}
