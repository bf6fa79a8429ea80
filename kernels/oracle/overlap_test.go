package oracle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMixingIsTheRoundsOfWhatTheElementBecomesFirst(t *testing.T) {
	for work := range 50 {
		for _, x := range []uint32{0, 1, 77, 2654435761, 1<<32 - 1} {
			require.Equal(t, RoundsOf(work).Of(2654435761*x+1), Mixing(work).Of(x))
		}
	}
}

// What is left out, done twice, or taken from elsewhere shows, even without any rounds.
func TestMixingLeavesNoElementAsItWas(t *testing.T) {
	for _, work := range []int{0, 1, 500} {
		seen, once := map[uint32]bool{}, Mixing(work)
		for x := range uint32(1000) {
			require.NotEqual(t, x, once.Of(x))
			require.NotEqual(t, once.Of(x), once.Of(once.Of(x)))
			seen[once.Of(x)] = true
		}
		require.Len(t, seen, 1000)
	}
}
