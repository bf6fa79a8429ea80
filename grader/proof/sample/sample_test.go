package sample

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOf(t *testing.T) {
	const n, k = 70, 3
	t.Setenv(Variable, "")
	for i := range n {
		require.True(t, Of("slab", n, k)(i))
	}
	seen, shared := map[int]bool{}, map[int]bool{}
	for seed := range 200 {
		t.Setenv(Variable, fmt.Sprint("drawn ", seed))
		drawn, again, none := Of("slab", n, k), Of("slab", n, k), Of("slab", 1, 5)
		few := Few("slab", n, k)
		require.True(t, none(0), "of fewer than k all are drawn")
		t.Setenv(Variable, fmt.Sprint("others ", seed))
		others, count := Of("slab", n, k), 0
		t.Setenv(Variable, fmt.Sprint("share ", seed))
		share, size := Of("slab", n, k), 0
		require.Equal(t, few, Few("slab", n, k), "the few are the same in both halves")
		for i := range n {
			require.Equal(t, drawn(i), again(i))
			require.NotEqual(t, drawn(i), others(i), "each is run once")
			require.Equal(t, slices.Contains(few, i), drawn(i))
			if drawn(i) {
				seen[i] = true
				count++
			}
			if share(i) {
				require.True(t, others(i), "a share is of the others")
				shared[i] = true
				size++
			}
		}
		require.Equal(t, k, count)
		require.InDelta(t, (n-k)/Shares, size, k)
	}
	require.Len(t, seen, n, "after some hundred draws each has been drawn")
	require.Len(t, shared, n, "and been in a share")
	for _, nonsense := range []string{"drawn", "all 7", "drawn "} {
		t.Setenv(Variable, nonsense)
		require.Panics(t, func() { Of("slab", n, k) }, nonsense)
	}
}
