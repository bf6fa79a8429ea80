package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

func TestCallsSinceAMark(t *testing.T) {
	s := session.New(sim.New(sim.Options{}))
	earlier, code := s.StreamCreate(device.StreamNonBlocking)
	require.Equal(t, device.Success, code)
	s.StartTrace()
	require.Equal(t, device.Success, s.DeviceSynchronize())
	s.Mark("here")
	require.Equal(t, device.Success, s.StreamSynchronize(earlier))
	require.Equal(t, device.Success, s.StreamSynchronize(nil))
	for range 2 {
		require.Equal(t, device.Success, s.StreamSynchronize(nil))
	}
	calls := s.CallsSince("here")
	require.Len(t, calls, 1)
	sites := calls[trace.OpStreamSynchronize]
	require.Len(t, sites, 4)
	require.NotEqual(t, sites[0], sites[1])
	require.NotEqual(t, sites[1], sites[2])
	require.Equal(t, sites[2], sites[3], "one line is one site")
}

func TestSinceKnowsTheCallsBehindTheLastMark(t *testing.T) {
	s := session.New(sim.New(sim.Options{}))
	require.Empty(t, s.Since(trace.OpMalloc), "without a trace")
	s.StartTrace()
	malloc := func(size int64) {
		p, code := s.Malloc(size)
		require.Equal(t, device.Success, code)
		require.Equal(t, device.Success, s.Free(p))
	}
	malloc(100)
	s.Mark("here")
	malloc(200)
	s.Fail(trace.OpMalloc, 1, device.ErrorOutOfMemory)
	_, code := s.Malloc(300)
	require.Equal(t, device.ErrorOutOfMemory, code)
	malloc(400)
	var sizes []int64
	for _, r := range s.Since(trace.OpMalloc) {
		sizes = append(sizes, r.Size)
	}
	require.Equal(t, []int64{200, 400}, sizes)
	require.Len(t, s.Since(trace.OpFree), 2, "a call that waits is one call")
}
