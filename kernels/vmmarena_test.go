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
	onEach(t, func(t *testing.T) {
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

func extendAndRecheck(t *testing.T, from, to int64, grid, block int, seed uint64) {
	const guard = 8
	size := 8 * (max(from, to) + guard)
	array := poisoned(t, size)
	require.NoError(t, kernels.Extend(grid, block, cuda.Stream{}, array, from, to, seed))
	requireWritten(t, array, size, func(want []byte) {
		for i := from; i < to; i++ {
			binary.LittleEndian.PutUint64(want[8*i:], oracle.GrownWord(seed, i))
		}
	})

	mismatches := func(from, to int64, seed uint64) uint64 {
		return counted(t, func(counter cuda.DevicePtr) error {
			return kernels.Recheck(grid, block, cuda.Stream{}, array, from, to, seed, counter)
		})
	}
	written := uint64(max(to-from, 0))
	require.Zero(t, mismatches(from, to, seed))
	require.Equal(t, written, mismatches(from, to, seed+1), "another seed's words are other words")
	if written > 0 {
		require.Equal(t, uint64(from+guard), mismatches(0, to+guard, seed), "what was not written counts as wrong")
	}
}
