package session_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

var spin = device.NewKernel(device.Spec{
	Entry: "spin", PTX: "spin", Exec: func(*device.Launch, device.Memory) {},
	Accesses: func(_ *device.Launch, buf []device.Access) []device.Access { return buf },
	Work:     func(*device.Launch) device.Work { return device.Work{Threads: 1, Nanos: 30_000_000} },
})

// busyBeside has two streams, one of them with work for 30 ms of virtual time, which takes some 50,000 questions.
func busyBeside(t *testing.T) (s *session.Session, busy, idle *session.Stream) {
	s = session.New(sim.New(sim.Options{}))
	busy, code := s.StreamCreate(device.StreamNonBlocking)
	require.Equal(t, device.Success, code)
	idle, code = s.StreamCreate(device.StreamNonBlocking)
	require.Equal(t, device.Success, code)
	s.Limit(100)
	s.StartTrace()
	require.Equal(t, device.Success, s.Launch(&device.Launch{Kernel: spin, Grid: device.Dim{X: 1, Y: 1, Z: 1},
		Block: device.Dim{X: 1, Y: 1, Z: 1}}, busy))
	return s, busy, idle
}

func answers(tr *trace.Trace, op trace.Op) (codes []device.Code) {
	for _, r := range tr.Records {
		if r.Op == op {
			codes = append(codes, device.Code(r.Code))
		}
	}
	return codes
}

func TestWhoWaitsByAskingFillsNoTrace(t *testing.T) {
	s, busy, _ := busyBeside(t)
	asked := 0
	for s.StreamQuery(busy) == device.ErrorNotReady {
		asked++
	}
	require.Greater(t, asked, 10_000)
	require.Equal(t, append(slices.Repeat([]device.Code{device.ErrorNotReady}, 4), device.Success), answers(s.StopTrace(),
		trace.OpStreamQuery))

	s, busy, idle := busyBeside(t)
	s.Limit(100_000) // what is through counts
	for done := false; !done; {
		done = true
		for _, x := range []*session.Stream{idle, busy} {
			done = s.StreamQuery(x) == device.Success && done
		}
	}
	require.Equal(t, append(slices.Repeat([]device.Code{device.Success, device.ErrorNotReady}, 4), device.Success),
		answers(s.StopTrace(), trace.OpStreamQuery))
}

func TestQuestionsOfNobodyWhoWaitsStay(t *testing.T) {
	s, busy, idle := busyBeside(t)
	for range 5 {
		require.Equal(t, device.Success, s.StreamQuery(idle))
	}
	for range 5 {
		require.Equal(t, device.ErrorNotReady, s.StreamQuery(busy))
		require.Equal(t, device.Success, s.StreamSynchronize(idle))
	}
	require.Len(t, answers(s.StopTrace(), trace.OpStreamQuery), 10,
		"asked without waiting, and something else done in between")
}

func TestAskingWithoutEndRunsAway(t *testing.T) {
	s, busy, idle := busyBeside(t)
	require.Equal(t, device.ErrorNotReady, s.StreamQuery(busy))
	require.PanicsWithError(t, (&session.Runaway{Records: 100}).Error(), func() {
		for {
			s.StreamQuery(idle)
		}
	})
}
