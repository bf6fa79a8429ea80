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

func init() { tries(kernels.Occupy, kernels.Occupied) }

func TestOccupyEqualsTheOracleAndOccupiedCountsWhatDiffers(t *testing.T) {
	tenants{kernels.Occupy, kernels.Occupied, func(_ cuda.DevicePtr, tag uint32, i int64) uint64 {
		return oracle.Mark(tag, i)
	}}.test(t)
}

// tenants are two kernels: one moves into a block with marks of a tag, the other counts those that are not there.
type tenants struct {
	write func(grid, block int, s cuda.Stream, data cuda.DevicePtr, bytes int64, tag uint32, turns int,
		counter cuda.DevicePtr) error
	count func(grid, block int, s cuda.Stream, data cuda.DevicePtr, bytes int64, tag uint32,
		counter cuda.DevicePtr) error
	mark func(data cuda.DevicePtr, tag uint32, i int64) uint64
}

func (k tenants) test(t *testing.T) {
	onEach(t, func(t *testing.T) {
		for _, c := range []struct {
			bytes              int64
			grid, block, turns int
			tag                uint32
		}{
			{8, 1, 1, 0, 0}, {256, 1, 256, 1, 7}, {4096, 1, 100, 3, 1 << 31}, {80_003, 64, 256, 2, 5}, {0, 1, 32, 1, 1},
			{7, 1, 32, 1, 1}, {-8, 1, 32, 1, 1},
		} {
			t.Run(fmt.Sprintf("bytes=%d,grid=%d,block=%d,turns=%d", c.bytes, c.grid, c.block, c.turns), func(t *testing.T) {
				k.moveIn(t, c.bytes, c.grid, c.block, c.turns, c.tag)
			})
		}
	})
}

func (k tenants) moveIn(t *testing.T, bytes int64, grid, block, turns int, tag uint32) {
	const guard = 64
	size, words := max(bytes, 0)+guard, max(bytes, 0)/8
	data := poisoned(t, size)
	require.Zero(t, counted(t, func(counter cuda.DevicePtr) error {
		return k.write(grid, block, cuda.Stream{}, data, bytes, tag, turns, counter)
	}), "nobody else was there")
	requireWritten(t, data, size, func(want []byte) {
		for i := range words {
			binary.LittleEndian.PutUint64(want[8*i:], k.mark(data, tag, i))
		}
	})
	others := func(tag uint32) uint64 {
		return counted(t, func(counter cuda.DevicePtr) error {
			return k.count(grid, block, cuda.Stream{}, data, bytes, tag, counter)
		})
	}
	require.Zero(t, others(tag))
	require.Equal(t, uint64(words), others(tag+1), "another tag's words are all others")
}

func TestOccupyTakesNoMoreTurnsThanAnInt(t *testing.T) {
	useDevice(t, "sim")
	require.ErrorIs(t, kernels.Occupy(1, 32, cuda.Stream{}, 0, 0, 0, 1<<40, 0), cuda.ErrorInvalidValue)
}
