package kernels_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/kernels"
	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
)

func init() { tries(kernels.WriteElements, kernels.CheckElements) }

func TestWriteElementsEqualsTheOracleAndCheckElementsCountsWhatDiffers(t *testing.T) {
	onEach(t, func(t *testing.T) {
		for _, c := range []elements{
			{elem: 1, from: 0, to: 1, grid: 1, block: 1}, {elem: 1, from: 3, to: 1000, grid: 1, block: 32, seed: 7, first: 5},
			{elem: 3, from: 17, to: 1000, grid: 2, block: 100, seed: 1 << 63, first: 1 << 40},
			{elem: 8, from: 0, to: 100, grid: 1, block: 32, first: -3}, {elem: 12, from: 99, to: 100, grid: 64, block: 256,
				seed: 3},
			{elem: 4096, from: 1, to: 90, grid: 3, block: 64, seed: 5}, {elem: 300_001, from: 1, to: 3, grid: 8, block: 256,
				seed: 9},
			{elem: 3, from: 10, to: 10, grid: 1, block: 32}, {elem: 3, from: 10, to: 3, grid: 1, block: 32},
		} {
			t.Run(fmt.Sprintf("elem=%d,from=%d,to=%d,grid=%d,block=%d", c.elem, c.from, c.to, c.grid, c.block), c.test)
		}
	})
}

type elements struct {
	elem, from, to int64
	grid, block    int
	seed           uint64
	first          int64
}

func (c elements) test(t *testing.T) {
	const guard = 8
	size := c.elem * (max(c.from, c.to) + guard)
	array := poisoned(t, size)
	require.NoError(t, kernels.WriteElements(c.grid, c.block, cuda.Stream{}, array, c.elem, c.from, c.to, c.seed, c.first))
	requireWritten(t, array, size, func(want []byte) {
		for i := c.from; i < c.to; i++ {
			for b := range c.elem {
				want[i*c.elem+b] = oracle.ElementByte(c.seed, c.first+i-c.from, b)
			}
		}
	})

	got := read(t, array, size)
	mismatches := func(from, to, first int64) uint64 {
		return counted(t, func(counter cuda.DevicePtr) error {
			return kernels.CheckElements(c.grid, c.block, cuda.Stream{}, array, c.elem, from, to, c.seed, first, counter)
		})
	}
	// differing is how many bytes of the elements are others than those of elements with numbers from first on.
	differing := func(from, to, first int64) (n uint64) {
		for i := from; i < to; i++ {
			for b := range c.elem {
				if got[i*c.elem+b] != oracle.ElementByte(c.seed, first+i-from, b) {
					n++
				}
			}
		}
		return n
	}
	require.Zero(t, mismatches(c.from, c.to, c.first))
	if c.to > c.from {
		require.Equal(t, differing(c.from, c.to, c.first+1), mismatches(c.from, c.to, c.first+1),
			"other numbers' elements are other ones")
		require.NotZero(t, mismatches(0, c.to+guard, c.first-c.from), "what was not written counts as wrong")
		require.Equal(t, differing(0, c.to+guard, c.first-c.from), mismatches(0, c.to+guard, c.first-c.from))
	}
}
