package oracle

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRoundsAreTakenOneByOne(t *testing.T) {
	for _, x := range []uint32{0, 1, 2654435761, 1<<32 - 1} {
		one := x
		for work := range 300 {
			require.Equal(t, one, RoundsOf(work).Of(x), "%d rounds of %d", work, x)
			one = 1664525*one + 1013904223
		}
		require.Equal(t, x, RoundsOf(-1).Of(x))
	}
}

// Elements that stand in for others show: two items have no element in common at one index, and the rounds take no two
// numbers to the same one.
func TestItemsAndRoundsKeepNumbersApart(t *testing.T) {
	for i := range 100 {
		seen := map[uint32]bool{}
		for item := range uint32(200) {
			seen[RoundsOf(6800).Of(Item(item, i))] = true
		}
		require.Len(t, seen, 200)
	}
}

func TestDigestOfItemSeesEveryElement(t *testing.T) {
	sum := uint64(0)
	for n := range 500 {
		require.Equal(t, sum, DigestOfItem(n, 7, 20, 11))
		sum += uint64(RoundsOf(11).Of(RoundsOf(20).Of(Item(7, n))))
	}
}

func TestSumsAreThoseOfTheElements(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		rounds, item, from := RoundsOf(r.IntN(1000)), r.Uint32(), r.IntN(1<<22)
		to := from + r.IntN(1<<r.IntN(18)) - 1
		sum := uint64(0)
		for i := from; i < to; i++ {
			sum += uint64(rounds.Of(Item(item, i)))
		}
		require.Equal(t, sum, rounds.SumOf(item, from, to), "%v of item %d from %d to %d", rounds, item, from, to)
	}
}
