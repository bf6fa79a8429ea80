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

func init() { tries(kernels.Stamp, kernels.Verify) }

func TestStampEqualsTheOracleAndVerifyCountsWhatDiffers(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			useDevice(t, kind)
			for _, c := range []struct {
				bytes       int64
				grid, block int
				tag         uint32
				offset      int64
			}{
				{1, 1, 1, 0, 0}, {1, 64, 256, 7, 3}, {255, 1, 256, 1, 0}, {257, 2, 32, 250, 1}, {4096, 1, 100, 3, 16},
				{1_000_003, 64, 256, 1 << 31, 5}, {0, 1, 32, 1, 0}, {-4, 1, 32, 1, 0},
			} {
				t.Run(fmt.Sprintf("bytes=%d,grid=%d,block=%d", c.bytes, c.grid, c.block), func(t *testing.T) {
					stampAndVerify(t, c.bytes, c.grid, c.block, c.tag, c.offset)
				})
			}
		})
	}
}

func stampAndVerify(t *testing.T, bytes int64, grid, block int, tag uint32, offset int64) {
	const guard, poison = 64, 0xA5
	size := offset + max(bytes, 0) + guard
	var s cuda.Stream
	data, err := cuda.Malloc(size)
	require.NoError(t, err)
	counter, err := cuda.Malloc(8)
	require.NoError(t, err)
	require.NoError(t, cuda.Memset(data, poison, size))
	at := data + cuda.DevicePtr(offset)
	require.NoError(t, kernels.Stamp(grid, block, s, at, bytes, tag))
	got := make(cuda.Pageable, size)
	require.NoError(t, cuda.MemcpyDtoH(got, data, size))

	want := make(cuda.Pageable, size)
	for i := range want {
		want[i] = poison
		if at := int64(i) - offset; at >= 0 && at < bytes {
			want[i] = oracle.Stamp(tag, at)
		}
	}
	require.True(t, string(want) == string(got), "the bytes differ")

	mismatches := func(tag uint32) uint64 {
		require.NoError(t, cuda.Memset(counter, 0, 8))
		require.NoError(t, kernels.Verify(grid, block, s, at, bytes, tag, counter))
		sum := make(cuda.Pageable, 8)
		require.NoError(t, cuda.MemcpyDtoH(sum, counter, 8))
		return binary.LittleEndian.Uint64(sum)
	}
	differ := uint64(0)
	for i := range max(bytes, 0) {
		if oracle.Stamp(tag, i) != oracle.Stamp(tag+1, i) {
			differ++
		}
	}
	require.Zero(t, mismatches(tag))
	require.Equal(t, differ, mismatches(tag+1))
	if bytes > 100 {
		require.Greater(t, differ, uint64(bytes)*9/10, "another tag's bytes are other bytes")
	}
	require.NoError(t, cuda.Free(data))
	require.NoError(t, cuda.Free(counter))
}
