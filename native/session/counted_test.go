package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
	"cudalab/native/session"
	"cudalab/native/trace"
)

func TestCountedCallsAreCountedAndTheFirstOfEachKindIsHeld(t *testing.T) {
	s := open(t)
	s.StartTrace()
	defer s.Guest(s.Guest(true))
	counts := map[trace.Op]session.Count{}
	s.Counted(counts, func() {
		for range 3 {
			p, code := s.Malloc(64)
			require.Equal(t, device.Success, code)
			require.Equal(t, device.Success, s.Free(p))
			require.Equal(t, device.ErrorInvalidValue, s.Free(p))
		}
		s.Guest(false)
		require.Equal(t, device.Success, s.DeviceSynchronize(), "the grader's own")
		s.Guest(true)
	})
	require.Equal(t, map[trace.Op]session.Count{
		trace.OpMalloc: {Made: 3, Succeeded: 3}, trace.OpFree: {Made: 6, Succeeded: 3},
	}, counts)
	require.Equal(t, device.Success, s.DeviceSynchronize())
	var held []trace.Op
	for _, r := range s.StopTrace().Records {
		if r.Phase != trace.Leave {
			held = append(held, r.Op)
		}
	}
	require.Equal(t, []trace.Op{trace.OpMalloc, trace.OpFree, trace.OpDeviceSynchronize}, held)
}

func TestTracedAnnouncesWhatWasMadeBefore(t *testing.T) {
	s := open(t)
	s.StartTrace()
	s.Untraced(func() {
		e, code := s.EventCreate(0)
		require.Equal(t, device.Success, code)
		for range 2 {
			s.Traced(func() { require.Equal(t, device.Success, s.EventRecord(e, nil)) })
		}
		require.Equal(t, device.Success, s.EventDestroy(e))
	})
	var all []trace.Op
	for _, r := range s.StopTrace().Records {
		all = append(all, r.Op)
	}
	require.Equal(t, []trace.Op{trace.OpEventCreate, trace.OpEventRecord, trace.OpEventCreate, trace.OpEventRecord}, all)
}
