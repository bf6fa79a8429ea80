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

func init() { tries(kernels.FillItem, kernels.Digest) }

func TestFillItemAndDigestEqualTheOracle(t *testing.T) {
	onEach(t, func(t *testing.T) {
		for i, c := range covers {
			t.Run(fmt.Sprintf("n=%d,grid=%d,block=%d", c.n, c.grid, c.block), func(t *testing.T) {
				itemEqualsOracle(t, c.n, c.grid, c.block, uint32(i)*1_000_003, []int{0, 1, 77, -1}[i%4], []int{3, 0, 500}[i%3])
			})
		}
	})
}

// itemEqualsOracle launches both kernels on memory with a guard behind it and compares every byte. The result has a
// value already, to which the digest is to be added.
func itemEqualsOracle(t *testing.T, n, grid, block int, item uint32, filled, work int) {
	const guard, before = 64, uint64(0x0101010101010101)
	size := 4*int64(max(n, 0)) + guard
	data, result := poisoned(t, size), poisoned(t, 8)
	require.NoError(t, cuda.Memset(result, 0x01, 8))

	require.NoError(t, kernels.FillItem(grid, block, cuda.Stream{}, data, n, item, filled))
	require.NoError(t, kernels.Digest(grid, block, cuda.Stream{}, data, n, work, result))

	written := min(max(n, 0), grid*block)
	requireWritten(t, data, size, func(want []byte) {
		for i := range written {
			binary.LittleEndian.PutUint32(want[4*i:], oracle.RoundsOf(filled).Of(oracle.Item(item, i)))
		}
	})
	require.Equal(t, before+oracle.DigestOfItem(written, item, max(filled, 0), work),
		binary.LittleEndian.Uint64(read(t, result, 8)))
}

// The rounds take time only as long as the compiler does not fold them.
func TestPTXOfTheRounds(t *testing.T) {
	for _, name := range []string{"fillItem", "digest"} {
		require.Contains(t, entry(t, name), "1664525, 1013904223", name)
		require.Contains(t, entry(t, name), `.pragma "nounroll";`, name)
	}
}
