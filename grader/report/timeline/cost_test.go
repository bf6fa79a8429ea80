package timeline_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/report/timeline"
	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
	"cudalab/native/session"
)

// contest records both runs of a race and tells what the first lost its time to.
func contest(t *testing.T, yours, solution func(s *session.Session, a, b *session.Stream, p device.Ptr)) (
	timeline.Cost, []timeline.Run, bool) {
	t.Helper()
	line := run(t, func(s *session.Session) {
		a, b := stream(t, s, "a"), stream(t, s, "b")
		p := ok[device.Ptr](t)(s.Malloc(1 << 28))
		one := func(name string, code func(*session.Session, *session.Stream, *session.Stream, device.Ptr)) {
			s.Mark(verdict.MarkBegan + name)
			code(s, a, b, p)
			s.Mark(verdict.MarkReturned + name)
			require.Equal(t, device.Success, s.DeviceSynchronize())
			s.Mark(verdict.MarkRested + name)
		}
		one(verdict.Yours, yours)
		one(verdict.Solution, solution)
	})
	runs := line.Runs()
	require.Len(t, runs, 2)
	cost, known := timeline.CostOf(&runs[0], &runs[1])
	return cost, runs, known
}

func sets(t *testing.T, s *session.Session, p device.Ptr, in ...*session.Stream) {
	t.Helper()
	for i, x := range in {
		require.Equal(t, device.Success, s.MemsetAsync(p+device.Ptr(i)<<25, 1, 1<<25, x))
	}
}

func TestTimeGoesToWhatTheSolutionDoesNotNeed(t *testing.T) {
	four := func(s *session.Session, a, b *session.Stream, p device.Ptr) { sets(t, s, p, a, b, a, b) }

	cost, runs, known := contest(t, func(s *session.Session, a, b *session.Stream, p device.Ptr) {
		for range 4 {
			sets(t, s, p, a)
			require.Equal(t, device.Success, s.StreamSynchronize(a))
		}
	}, four)
	require.True(t, known)
	require.Equal(t, timeline.HostWaits, cost.Kind)
	require.Equal(t, 4, cost.Count)
	require.Equal(t, "StreamSynchronize", cost.Name)
	spent := runs[0].Spent()
	var sum int64
	for _, v := range spent.By {
		sum += v
	}
	require.Equal(t, runs[0].Took(), sum, "each moment goes to one use")

	cost, _, known = contest(t, func(s *session.Session, a, b *session.Stream, p device.Ptr) {
		for range 400 {
			require.NotEqual(t, device.ErrorInvalidValue, s.StreamQuery(a))
		}
		four(s, a, b, p)
	}, four)
	require.True(t, known)
	require.Equal(t, timeline.HostCalls, cost.Kind)
	require.Equal(t, 400, cost.Count)

	_, _, known = contest(t, four, four)
	require.False(t, known, "what takes no longer has lost nothing")
}
