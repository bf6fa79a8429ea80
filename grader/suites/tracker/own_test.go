package tracker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/allocator"
)

func TestTagsAreKnownByTheirNames(t *testing.T) {
	seen := map[string]bool{}
	for n := 1; n < 100; n++ {
		name := tagName(n)
		require.False(t, seen[name], "%q is given twice", name)
		seen[name] = true
		require.EqualValues(t, n, tagNumber(name))
	}
	for _, long := range []int{longTags + 2, longTags + mostLong} {
		require.EqualValues(t, long, tagNumber(tagName(long)))
		require.Len(t, tagName(long), long-longTags)
	}
	for _, name := range []string{"A", "aa", "tag", "tag 1", "tag 27", "tag 028", "tag -3", "tag x", "?"} {
		require.Zero(t, tagNumber(name), "%q", name)
	}
	require.Equal(t, "", tagName(-1))
}

func TestTagsAndFunctionsOfOnFullInWords(t *testing.T) {
	require.Equal(t, "allocate 300 (a), allocate 1 (no tag), have OnFull free the oldest block and say true, free #1, "+
		"have OnFull do something unknown",
		allocator.Words([]allocator.Op{alloc(300, 2), alloc(1, 1), onFull(freeOldest), free(1), onFull(99)}))
	for f := freeOldest; f <= noFunction; f++ {
		require.NotEmpty(t, f.String())
		require.NotEqual(t, "do something unknown", f.String())
	}
}
