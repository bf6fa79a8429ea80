package oracle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFilledElementsAreAllDifferentAndNoneIsZero(t *testing.T) {
	const n = 300_000
	seen := map[uint32]int{0: -1}
	for i := range n {
		x := Filled(i)
		if earlier, ok := seen[x]; ok {
			t.Fatalf("elements %d and %d are both %d", earlier, i, x)
		}
		seen[x] = i
	}
}

func TestChecksumFilledSeesEveryElement(t *testing.T) {
	sum := uint64(0)
	for n := range 1000 {
		require.Equal(t, sum, ChecksumFilled(n), "n %d", n)
		sum += uint64(n+1) * uint64(Filled(n))
	}
}
