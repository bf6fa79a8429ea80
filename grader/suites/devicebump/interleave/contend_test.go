package interleave_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/exercises/contract"
	"cudalab/grader/suites/devicebump/interleave"
)

func TestContentionHoldsACallToItsEnd(t *testing.T) {
	givesUp := func(w contract.Word, capacity, size uint64) (uint64, bool) {
		taken := w.Load()
		for range 100 {
			found := w.CompareAndSwap(taken, taken+round(size))
			if found == taken {
				return taken, true
			}
			taken = found
		}
		return 0, false
	}
	spins := func(w contract.Word, _, size uint64) (uint64, bool) {
		for taken := w.Load(); ; {
			if w.CompareAndSwap(taken, taken+round(size)) == taken {
				return taken, true
			}
		}
	}
	for _, c := range []struct {
		name                   string
		alloc                  alloc
		right, costly, endless bool
	}{
		{"the solution", solution.Alloc, true, false, false},
		{"with a Load ahead of each swap", reloading, true, false, false},
		{"gives up after 100", givesUp, false, false, false},
		{"never looks again", spins, false, true, true},
	} {
		beside := interleave.Contention{Request: interleave.One(20), Capacity: 1 << 20, Bytes: 16, Times: 500}
		came := beside.Run(interleave.Code{Alloc: c.alloc})
		require.Equal(t, c.right, beside.Right(came), c.name)
		require.Equal(t, c.endless, came.Endless, c.name)
		_, costly := beside.TooMany(came)
		require.Equal(t, c.costly, costly, c.name)
	}
}

func TestContentionUntilThereIsNoRoom(t *testing.T) {
	beside := interleave.Contention{Request: interleave.Warp(16, 32), Capacity: 160, Bytes: 16, Times: 1000}
	came := beside.Run(solution)
	require.True(t, beside.Right(came))
	require.Equal(t, []uint64{contract.NoRoom, contract.NoRoom}, came.Offsets)
	require.Equal(t, 10, came.Changes)
}
