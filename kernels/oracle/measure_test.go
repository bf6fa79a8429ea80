package oracle

import (
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNeighboursOfAGrayCodeDifferInOneBit(t *testing.T) {
	seen := map[uint32]bool{Gray(0): true}
	for i := 1; i < 1<<12; i++ {
		require.Equal(t, 1, bits.OnesCount32(Gray(i)^Gray(i-1)), i)
		seen[Gray(i)] = true
	}
	require.Len(t, seen, 1<<12, "no two are alike")
}
