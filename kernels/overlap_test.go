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

func init() { tries(kernels.Mix) }

func TestMixEqualsTheOracle(t *testing.T) {
	onEach(t, func(t *testing.T) {
		for i, c := range covers {
			t.Run(fmt.Sprintf("n=%d,grid=%d,block=%d", c.n, c.grid, c.block), func(t *testing.T) {
				for _, inPlace := range []bool{false, true} {
					mixEqualsOracle(t, c.n, c.grid, c.block, []int{0, 1, 500, -1}[i%4], inPlace)
				}
			})
		}
	})
}

// mixEqualsOracle launches the kernel on memory with a guard behind it and compares every byte.
func mixEqualsOracle(t *testing.T, n, grid, block, work int, inPlace bool) {
	const guard = 64
	size := 4*int64(max(n, 0)) + guard
	before := make(cuda.Pageable, size)
	for i := range before {
		before[i] = byte(i * i >> 3)
	}
	src := poisoned(t, size)
	dst := src
	if !inPlace {
		dst = poisoned(t, size)
	}
	require.NoError(t, cuda.MemcpyHtoD(src, before, size))
	require.NoError(t, kernels.Mix(grid, block, cuda.Stream{}, dst, src, n, work))
	requireWritten(t, dst, size, func(want []byte) {
		if inPlace {
			copy(want, before)
		}
		for i := range min(max(n, 0), grid*block) {
			x := binary.LittleEndian.Uint32(before[4*i:])
			binary.LittleEndian.PutUint32(want[4*i:], oracle.Mixing(max(work, 0)).Of(x))
		}
	})
}

// The rounds take time only as long as the compiler does not fold them.
func TestPTXOfMix(t *testing.T) {
	require.Contains(t, entry(t, "mix"), "1664525, 1013904223")
	require.Contains(t, entry(t, "mix"), `.pragma "nounroll";`)
}
