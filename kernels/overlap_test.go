package kernels_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/kernels"
	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
)

func init() { tries(kernels.Mix) }

func TestMixEqualsTheOracle(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			useDevice(t, kind)
			for i, c := range covers {
				t.Run(fmt.Sprintf("n=%d,grid=%d,block=%d", c.n, c.grid, c.block), func(t *testing.T) {
					for _, inPlace := range []bool{false, true} {
						mixEqualsOracle(t, c.n, c.grid, c.block, []int{0, 1, 500, -1}[i%4], inPlace)
					}
				})
			}
		})
	}
}

// mixEqualsOracle launches the kernel on memory with a guard behind it and compares every byte.
func mixEqualsOracle(t *testing.T, n, grid, block, work int, inPlace bool) {
	const guard, poison = 64, 0xA5
	size := 4*int64(max(n, 0)) + guard
	before := make(cuda.Pageable, size)
	for i := range before {
		before[i] = byte(i * i >> 3)
	}
	src := must(cuda.Malloc(size))(t)
	dst, want := src, slices.Clone(before)
	if !inPlace {
		dst, want = must(cuda.Malloc(size))(t), slices.Repeat(cuda.Pageable{poison}, int(size))
		require.NoError(t, cuda.Memset(dst, poison, size))
	}
	require.NoError(t, cuda.MemcpyHtoD(src, before, size))

	require.NoError(t, kernels.Mix(grid, block, cuda.Stream{}, dst, src, n, work))

	got := make(cuda.Pageable, size)
	require.NoError(t, cuda.MemcpyDtoH(got, dst, size))
	require.NoError(t, cuda.Free(src))
	if !inPlace {
		require.NoError(t, cuda.Free(dst))
	}
	for i := range min(max(n, 0), grid*block) {
		x := binary.LittleEndian.Uint32(before[4*i:])
		binary.LittleEndian.PutUint32(want[4*i:], oracle.Mixing(max(work, 0)).Of(x))
	}
	if at := firstDifference(want, got); at >= 0 {
		t.Fatalf("byte %d is %#02x, the oracle says %#02x", at, got[at], want[at])
	}
}

// The rounds take time only as long as the compiler does not fold them.
func TestPTXOfMix(t *testing.T) {
	require.Contains(t, entry(t, "mix"), "1664525, 1013904223")
	require.Contains(t, entry(t, "mix"), `.pragma "nounroll";`)
}
