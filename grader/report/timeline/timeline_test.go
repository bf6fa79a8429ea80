package timeline_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/report/timeline"
	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

// place takes every call of the tests for the student's.
func place(site trace.Site) []verdict.Place {
	if len(site) == 0 {
		return nil
	}
	return []verdict.Place{{File: "test.go", Line: site[0].Line}}
}

func run(t *testing.T, program func(s *session.Session)) *timeline.Timeline {
	t.Helper()
	d := sim.New(sim.Options{})
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	s := session.New(d)
	s.TimeOperations(true)
	s.StartTrace()
	s.Mark("call 0")
	program(s)
	s.Mark("return 0")
	notes := &verdict.CaseNotes{ID: "case", Trace: s.StopTrace(), Outcomes: []verdict.Outcome{{Label: "a call"}}}
	require.NoError(t, s.Sweep())
	return timeline.New(notes, place)
}

func ok[T any](t *testing.T) func(T, device.Code) T {
	return func(v T, code device.Code) T {
		t.Helper()
		require.Equal(t, device.Success, code)
		return v
	}
}

func stream(t *testing.T, s *session.Session, name string) *session.Stream {
	x := ok[*session.Stream](t)(s.StreamCreate(device.StreamNonBlocking))
	s.Label(name)
	return x
}

func find(t *testing.T, line *timeline.Timeline, op trace.Op, stream string) int {
	t.Helper()
	for i, c := range line.Calls {
		if c.Op == op && (!c.InStream || line.StreamName(c.Stream) == stream) {
			return i
		}
	}
	t.Fatalf("no %v on %s", op, stream)
	return -1
}

func TestWaitsJoinTheRecordAndTheWait(t *testing.T) {
	line := run(t, func(s *session.Session) {
		a, b := stream(t, s, "a"), stream(t, s, "b")
		p := ok[device.Ptr](t)(s.MallocAsync(1<<24, a))
		require.Equal(t, device.Success, s.MemsetAsync(p, 1, 1<<24, a))
		e := ok[*session.Event](t)(s.EventCreate(0))
		never := ok[*session.Event](t)(s.EventCreate(0))
		require.Equal(t, device.Success, s.EventRecord(e, a))
		require.Equal(t, device.Success, s.StreamWaitEvent(b, never))
		require.Equal(t, device.Success, s.StreamWaitEvent(b, e))
		require.Equal(t, device.Success, s.MemsetAsync(p, 2, 64, b))
		require.Equal(t, device.Success, s.FreeAsync(p, b))
	})
	require.Equal(t, []timeline.Stream{{ID: 1, Name: "a"}, {ID: 2, Name: "b"}}, line.Streams)
	require.Len(t, line.Waits, 1, "an event that was never recorded orders nothing")
	from, to := line.Calls[line.Waits[0].From], line.Calls[line.Waits[0].To]
	require.Equal(t, trace.OpEventRecord, from.Op)
	require.Equal(t, trace.OpStreamWaitEvent, to.Op)
	require.Equal(t, line.Calls[find(t, line, trace.OpMemsetAsync, "a")].End, from.Start,
		"the record is reached when the work before it is done")
	require.Equal(t, from.End, to.Start, "and b is held until then")
	require.GreaterOrEqual(t, line.Calls[find(t, line, trace.OpMemsetAsync, "b")].Start, to.End)
	require.False(t, slices.ContainsFunc(line.Faults, func(f timeline.Fault) bool { return f.Other >= 0 }),
		"all is ordered")
	require.Len(t, line.Scenes, 1)
	require.Equal(t, "a call", line.Scenes[0].Label)
	require.Zero(t, line.Scenes[0].Overlap, "b waits for a")
	block := line.Blocks[0]
	require.Equal(t, line.Calls[block.Made].Start, block.From)
	require.Equal(t, line.Calls[find(t, line, trace.OpFreeAsync, "b")].End, block.Until)
}

func TestAFaultKnowsBothCalls(t *testing.T) {
	line := run(t, func(s *session.Session) {
		a, b := stream(t, s, "a"), stream(t, s, "b")
		p := ok[device.Ptr](t)(s.MallocAsync(1<<20, a))
		require.Equal(t, device.Success, s.MemsetAsync(p, 1, 1<<20, a))
		require.Equal(t, device.Success, s.FreeAsync(p, b))
	})
	at := slices.IndexFunc(line.Faults, func(f timeline.Fault) bool { return f.Rule == "free-before-use" })
	require.GreaterOrEqual(t, at, 0)
	f := line.Faults[at]
	require.Equal(t, find(t, line, trace.OpFreeAsync, "b"), f.At)
	require.Equal(t, find(t, line, trace.OpMemsetAsync, "a"), f.Other)
	require.Contains(t, line.Scenes[0].Faults, at)
}

func TestOverlapIsMeasured(t *testing.T) {
	line := run(t, func(s *session.Session) {
		a, b := stream(t, s, "a"), stream(t, s, "b")
		p := ok[device.Ptr](t)(s.Malloc(1 << 30))
		for _, x := range []*session.Stream{a, b} {
			require.Equal(t, device.Success, s.MemsetAsync(p, 1, 1<<28, x))
			p += 1 << 28
		}
		require.Equal(t, device.Success, s.DeviceSynchronize())
	})
	require.Positive(t, line.Scenes[0].Overlap)
}

func TestBlocksLieInTheirSpace(t *testing.T) {
	const size = 256
	line := run(t, func(s *session.Session) {
		base := ok[device.Ptr](t)(s.Malloc(8 * size))
		for i := range device.Ptr(8) {
			s.BlockAlloc(base+i*size, size)
		}
		s.BlockFree(base + size)
	})
	spaces := line.Spaces()
	require.Len(t, spaces, 1)
	require.Len(t, spaces[0].Parts, 8)
	require.Positive(t, line.Blocks[spaces[0].Parts[1]].Freed)
}
