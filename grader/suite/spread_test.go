package suite

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpreadHasBothEndsAndEveryPowerOfTwo(t *testing.T) {
	for seed := range uint64(20) {
		seen := map[int]bool{}
		for _, v := range spread(rand.New(rand.NewPCG(seed, 0)), 0, math.MaxInt32) {
			require.True(t, 0 <= v && v <= math.MaxInt32)
			seen[bits.Len(uint(v))] = true
		}
		require.Len(t, seen, 32)
	}
	require.ElementsMatch(t, []int{1, 2, 2}, append(spread(rand.New(rand.NewPCG(1, 2)), 1, 2), 2))
	require.ElementsMatch(t, []int{0, math.MaxInt}, spread(rand.New(rand.NewPCG(1, 2)), 0, math.MaxInt)[:2])
}

func TestSpreadDrawsBothSidesOfAPowerOfTwo(t *testing.T) {
	seen := map[int]bool{}
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		for _, v := range spread(r, 0, math.MaxInt32) {
			seen[v] = true
		}
	}
	for _, v := range []int{1<<16 - 1, 1 << 16, 1<<31 - 2, 1 << 30} {
		require.True(t, seen[v], v)
	}
}
