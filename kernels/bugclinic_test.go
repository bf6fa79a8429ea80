package kernels_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/kernels"
	"cudalab/native/cuda"
)

func init() { tries(kernels.Differ) }

// Two arrays that differ in every third word, and in what lies behind the last one.
func TestDifferCountsTheWordsThatDiffer(t *testing.T) {
	const before = uint64(0x0101010101010101)
	onEach(t, func(t *testing.T) {
		for _, c := range covers {
			t.Run(fmt.Sprintf("n=%d,grid=%d,block=%d", c.n, c.grid, c.block), func(t *testing.T) {
				n := max(c.n, 0)
				x, y := make(cuda.Pageable, 4*n+4), make(cuda.Pageable, 4*n+4)
				want := uint64(0)
				for i := range n + 1 {
					binary.LittleEndian.PutUint32(x[4*i:], uint32(i))
					binary.LittleEndian.PutUint32(y[4*i:], uint32(i))
					if i%3 == 0 || i == n {
						y[4*i+i%4] ^= 0x80 // in each of a word's bytes
						if i < min(n, c.grid*c.block) {
							want++
						}
					}
				}
				require.Equal(t, before+want, differs(t, c.n, c.grid, c.block, x, y))
				require.Equal(t, before, differs(t, c.n, c.grid, c.block, x, x))
			})
		}
	})
}

// differs is what the kernel makes of a count that is not zero before.
func differs(t *testing.T, n, grid, block int, x, y cuda.Pageable) uint64 {
	upload := func(bytes cuda.Pageable) cuda.DevicePtr {
		p := must(cuda.Malloc(int64(len(bytes))))(t)
		require.NoError(t, cuda.MemcpyHtoD(p, bytes, int64(len(bytes))))
		return p
	}
	one, other, count := upload(x), upload(y), must(cuda.Malloc(8))(t)
	require.NoError(t, cuda.Memset(count, 0x01, 8))
	require.NoError(t, kernels.Differ(grid, block, cuda.Stream{}, one, other, n, count))
	got := make(cuda.Pageable, 8)
	require.NoError(t, cuda.MemcpyDtoH(got, count, 8))
	for _, p := range []cuda.DevicePtr{one, other, count} {
		require.NoError(t, cuda.Free(p))
	}
	return binary.LittleEndian.Uint64(got)
}
