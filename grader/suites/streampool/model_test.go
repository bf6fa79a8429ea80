package streampool

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
)

// What the upstream has refused it need not be asked again, also where the Alloc that has asked it failed later, at a
// wait for another stream: on a device whose streams are idle by then that is the first wait of all.
func TestWhatWasRefusedInAFailedAllocCounts(t *testing.T) {
	const judged = 0
	ask := func(what, size, at int64) sequence.Answer {
		return sequence.Answer{}.With(sequence.Details{Seen: []int64{judged, what, size, at}})
	}
	m := modelOf(layout{step: 4096, limit: 4096}, 0)
	require.Nil(t, m.grow(2048, 1<<20, a))
	small := ask(handedOut, 2048, 1<<21)
	_, f := m.follow(allocator.Alloc(1925), small)
	require.NotNil(t, f)
	require.Equal(t, "wrong-chunk", f.Rule)

	m = modelOf(layout{step: 4096, limit: 4096}, 0)
	m.Failed(allocator.Alloc(3944), ask(refused, 4096, 0))
	_, f = m.follow(allocator.Alloc(1925), small)
	require.Nil(t, f)
}
