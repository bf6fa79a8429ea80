package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
	"cudalab/native/trace"
)

func TestCallsMadeAsideDoNotFail(t *testing.T) {
	s := open(t)
	s.StartTrace()
	s.Fail(trace.OpDeviceSynchronize, 1, device.ErrorUnknown)
	s.Aside(func() { require.Equal(t, device.Success, s.DeviceSynchronize()) })
	require.True(t, s.Failing())
	require.Equal(t, device.ErrorUnknown, s.DeviceSynchronize())
	require.False(t, s.Failing())
}

func TestCallsMadeAsideAreNotCounted(t *testing.T) {
	s := open(t)
	s.StartTrace()
	s.Mark("here")
	s.DeviceSynchronize()
	for range 2 {
		s.Aside(func() { s.DeviceSynchronize() })
	}
	s.DeviceSynchronize()
	s.Aside(func() {})
	require.Len(t, s.CallsSince("here")[trace.OpDeviceSynchronize], 2)
}
