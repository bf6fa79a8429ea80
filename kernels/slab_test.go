package kernels_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/kernels"
	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
)

func init() { tries(kernels.Stamp, kernels.Verify) }

func TestStampEqualsTheOracleAndVerifyCountsWhatDiffers(t *testing.T) {
	onEach(t, func(t *testing.T) {
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

func stampAndVerify(t *testing.T, bytes int64, grid, block int, tag uint32, offset int64) {
	const guard = 64
	size := offset + max(bytes, 0) + guard
	data := poisoned(t, size)
	at := data + cuda.DevicePtr(offset)
	require.NoError(t, kernels.Stamp(grid, block, cuda.Stream{}, at, bytes, tag))
	requireWritten(t, data, size, func(want []byte) {
		for i := range max(bytes, 0) {
			want[offset+i] = oracle.Stamp(tag, i)
		}
	})

	mismatches := func(tag uint32) uint64 {
		return counted(t, func(counter cuda.DevicePtr) error {
			return kernels.Verify(grid, block, cuda.Stream{}, at, bytes, tag, counter)
		})
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
}
