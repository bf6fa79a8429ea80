package allocator_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/allocator"
)

func TestTagsAreKnownByTheirNames(t *testing.T) {
	seen := map[string]bool{}
	for n := 1; n < 100; n++ {
		name := allocator.Tag(n)
		require.False(t, seen[name], "%q is given twice", name)
		seen[name] = true
		require.Equal(t, n, allocator.TagNumber(name))
	}
	for _, name := range []string{"A", "aa", "tag", "tag 1", "tag 27", "tag 028", "tag -3", "tag x", "?"} {
		require.Zero(t, allocator.TagNumber(name), "%q", name)
	}
	require.Equal(t, "", allocator.Tag(-1))
}

func TestTagsAndFunctionsOfOnFullInWords(t *testing.T) {
	require.Equal(t, "allocate 300 (a), allocate 1 (no tag), have OnFull free the oldest block and say true, free #1, have OnFull do something unknown",
		allocator.Words([]allocator.Op{allocator.AllocAs(300, 2), allocator.AllocAs(1, 1), allocator.OnFull(allocator.FreeOldest), allocator.Free(1),
			allocator.OnFull(99)}))
	for f := allocator.FreeOldest; f <= allocator.NoFunction; f++ {
		require.NotEmpty(t, f.String())
		require.NotEqual(t, "do something unknown", f.String())
	}
}
