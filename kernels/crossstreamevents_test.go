package kernels_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/kernels"
	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
)

func init() { tries(kernels.Fill, kernels.Checksum) }

func TestFillAndChecksumEqualTheOracle(t *testing.T) {
	onEach(t, func(t *testing.T) {
		for _, c := range covers {
			t.Run(fmt.Sprintf("n=%d,grid=%d,block=%d", c.n, c.grid, c.block), func(t *testing.T) {
				fillEqualsOracle(t, c.n, c.grid, c.block)
			})
		}
	})
}

// fillEqualsOracle launches both kernels on memory with a guard behind it and compares every byte. The sum has a value
// already, to which the checksum is to be added.
func fillEqualsOracle(t *testing.T, n, grid, block int) {
	const guard, before = 64, uint64(0x0101010101010101)
	size := 4*int64(max(n, 0)) + guard
	data, sum := poisoned(t, size), poisoned(t, 8)
	require.NoError(t, cuda.Memset(sum, 0x01, 8))

	require.NoError(t, kernels.Fill(grid, block, cuda.Stream{}, data, n))
	require.NoError(t, kernels.Checksum(grid, block, cuda.Stream{}, data, n, sum))

	written := min(max(n, 0), grid*block)
	requireWritten(t, data, size, func(want []byte) {
		for i := range written {
			binary.LittleEndian.PutUint32(want[4*i:], oracle.Filled(i))
		}
	})
	require.Equal(t, before+oracle.ChecksumFilled(written), binary.LittleEndian.Uint64(read(t, sum, 8)))
}

// A sum whose terms are beyond 2^64 together: the elements of memory that is all ones.
func TestChecksumIsModulo64Bits(t *testing.T) {
	onEach(t, func(t *testing.T) {
		const n = 200_000
		data, err := cuda.Malloc(4*n + 8)
		require.NoError(t, err)
		sum := data + 4*n
		require.NoError(t, cuda.Memset(data, 0xFF, 4*n))
		require.NoError(t, cuda.Memset(sum, 0, 8))
		require.NoError(t, kernels.Checksum((n+255)/256, 256, cuda.Stream{}, data, n, sum))
		got := make(cuda.Pageable, 8)
		require.NoError(t, cuda.MemcpyDtoH(got, sum, 8))
		require.NoError(t, cuda.Free(data))
		want := uint64(0)
		for i := range uint64(n) {
			want += math.MaxUint32 * (i + 1)
		}
		require.Equal(t, want, binary.LittleEndian.Uint64(got))
	})
}
