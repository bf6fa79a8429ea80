package blockpool

import (
	"cudalab/grader/suite/sequence"
	"testing"

	"github.com/stretchr/testify/require"
)

// How often streams had to wait while time was measured is the machine's to say: only from the first Stats behind it on
// is it counted.
func TestWaitsOfTimedAllocsAreTheMachines(t *testing.T) {
	m := modelOf(layout{256, 2})
	answer := func(at uint64, stats ...int64) sequence.Answer {
		return sequence.Answer{Addr: at}.With(sequence.Details{Stats: stats})
	}
	require.Empty(t, m.Step(alloc(1), answer(256)))
	require.Empty(t, m.Step(alloc(2), answer(512)))
	full := answer(0, 256, 2, 2, 7)
	full.Err = sequence.ErrFull
	require.Empty(t, m.Step(alloc(1), full))
	full = full.With(sequence.Details{Stats: []int64{256, 2, 2, 8}})
	found := m.Step(alloc(1), full)
	require.Len(t, found, 1)
	require.Equal(t, "changed-by-error", found[0].Rule)
}
