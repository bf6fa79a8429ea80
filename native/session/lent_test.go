package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
	"cudalab/native/trace"
)

// What was lent is known whether or not a trace is on, and only a guest takes it away.
func TestWhatWasLentIsMissed(t *testing.T) {
	for _, traced := range []bool{false, true} {
		s := open(t)
		if traced {
			s.StartTrace()
		}
		lent, code := s.StreamCreate(0)
		require.Equal(t, device.Success, code)
		memory, code := s.Malloc(256)
		require.Equal(t, device.Success, code)
		own, code := s.Malloc(256)
		require.Equal(t, device.Success, code)
		require.Equal(t, device.Success, s.Free(own))

		require.False(t, s.Guest(true))
		guests, code := s.StreamCreate(0)
		require.Equal(t, device.Success, code)
		require.Equal(t, device.Success, s.StreamDestroy(guests))
		p, code := s.Malloc(256) // where own was, perhaps
		require.Equal(t, device.Success, code)
		require.Equal(t, device.Success, s.Free(p))
		require.Nil(t, s.Taken(), "all of that was the guest's")
		require.Equal(t, device.Success, s.Free(memory))
		require.Equal(t, device.Success, s.StreamDestroy(lent))
		require.True(t, s.Guest(false))

		require.Equal(t, trace.OpFree, s.Taken().Op, "the first")
		require.NotEmpty(t, s.Taken().Site)
	}
}
