package allocator

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// In the midst of a long row alone Stats are not asked for, and even there now and then.
func TestStatsInARow(t *testing.T) {
	const row = 1000
	ops := slices.Concat([]Op{Trim(0)}, slices.Repeat([]Op{Alloc(1)}, row), []Op{Free(1), Alloc(1), Close})
	unasked := inRow(ops)
	since, left := 0, 0
	for i := range ops {
		if !unasked(i) {
			since = 0
			continue
		}
		since++
		left++
		require.Greater(t, i, rowBegins)
		require.Less(t, i, row, "the last of the row is asked for")
		require.Less(t, since, rowAsked)
	}
	require.Greater(t, left, row/2)
}
