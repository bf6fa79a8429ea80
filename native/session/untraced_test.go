package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
	"cudalab/native/trace"
)

func TestUntracedCallsReachTheDeviceAndAreNotInTheTrace(t *testing.T) {
	s := open(t)
	s.StartTrace()
	var p device.Ptr
	s.Untraced(func() {
		var code device.Code
		p, code = s.Malloc(1024)
		require.Equal(t, device.Success, code)
		require.Equal(t, device.Success, s.Free(p))
		require.Equal(t, device.ErrorInvalidValue, s.Free(p))
	})
	require.Equal(t, device.Success, s.DeviceSynchronize())
	for _, r := range s.StopTrace().Records {
		require.Equal(t, trace.OpDeviceSynchronize, r.Op)
	}
}

func TestTheTraceGoesOnBehindAPanicInUntraced(t *testing.T) {
	s := open(t)
	s.StartTrace()
	require.Panics(t, func() { s.Untraced(func() { panic("the student's") }) })
	require.Equal(t, device.Success, s.DeviceSynchronize())
	require.NotEmpty(t, s.StopTrace().Records)
	s.Untraced(func() {})
	require.Equal(t, device.Success, s.DeviceSynchronize())
	require.Empty(t, s.StopTrace().Records, "without a trace none begins")
}

func TestFilledTellsOfMemsets(t *testing.T) {
	s := open(t)
	p, code := s.Malloc(64)
	require.Equal(t, device.Success, code)
	require.Zero(t, s.Filled())
	require.Equal(t, device.Success, s.MemsetAsync(p, 0, 64, nil))
	require.Equal(t, int64(1), s.Filled())
	other := open(t)
	p, code = other.Malloc(64)
	require.Equal(t, device.Success, code)
	require.Zero(t, other.Filled())
	require.Equal(t, device.Success, other.Memset(p, 0, 64))
	require.Equal(t, int64(1), other.Filled())
}
