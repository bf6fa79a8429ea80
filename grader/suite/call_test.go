package suite_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

// made is one call of code with two streams and a result, as a check sees it.
func made(t *testing.T, code func(a, b cuda.Stream, out cuda.DevicePtr) error) suite.Made[number] {
	t.Helper()
	scene := &suite.Scene[func(a, b cuda.Stream, out cuda.DevicePtr) error, number]{
		Set: func(s *suite.Stage, _ number) func(func(a, b cuda.Stream, out cuda.DevicePtr) error, number) error {
			a, b := s.Stream("a"), s.Stream("b")
			s.Lend(4 * 256)
			out := s.Results(1).At(0)
			return func(code func(a, b cuda.Stream, out cuda.DevicePtr) error, _ number) error { return code(a, b, out) }
		},
	}
	runs := scene.Runs("runs", "", suite.Fixed[number](1), suite.Around[number]{
		Before: func(s *suite.Stage, _ number) { suite.Late{1}.Busy(s, s.Lent) },
		Behind: func(s *suite.Stage, _ number) { suite.Late{1}.WaitLast(s) },
	})
	s := session.New(sim.New(sim.Options{}))
	s.Use()
	s.StartTrace()
	c := &verdict.CaseNotes{ID: runs.ID, Values: map[string][]uint64{}}
	b := &suite.Bench{Session: s, CaseID: c.ID, Notes: noted{c}}
	runs.Drive(b, suite.Sides[func(a, b cuda.Stream, out cuda.DevicePtr) error]{Student: code})
	c.Trace = s.StopTrace()
	e := &suite.Evidence{Cases: map[string]*verdict.CaseNotes{c.ID: c}, Place: place}
	return runs.Made(e)[0]
}

// clocked adds up what it has allocated and filled, in stream a and on a clock.
func clocked(a, _ cuda.Stream, out cuda.DevicePtr) error {
	start, err1 := cuda.EventCreate()
	stop, err2 := cuda.EventCreate()
	data, err3 := cuda.MallocAsync(4*256, a)
	err := errors.Join(err1, err2, err3, cuda.EventRecord(start, a), kernels.Fill(1, 256, a, data, 256),
		kernels.Checksum(1, 256, a, data, 256, out), cuda.EventRecord(stop, a), cuda.EventSynchronize(stop))
	if err != nil {
		return err
	}
	_, err = cuda.EventElapsedTime(start, stop)
	return errors.Join(err, cuda.FreeAsync(data, a), cuda.EventDestroy(start), cuda.EventDestroy(stop))
}

func TestCallFindsWhatWasLaunched(t *testing.T) {
	m := made(t, clocked)
	require.Empty(t, m.Outcome.Err)
	require.Len(t, m.Launches("fill"), 1)
	require.Equal(t, m.Launches("checksum")[0], m.LastInto("checksum", 0))
	require.Negative(t, m.LastInto("fill", 0), "it does not touch the result")
	require.Len(t, m.Lent(trace.OpMalloc), 2, "the memory that was lent, and the result's")
	require.Len(t, m.All(func(r *trace.Record) bool { return suite.Allocates(r.Op) }), 1)
}

func TestClocksHaveTheirTwoRecords(t *testing.T) {
	m := made(t, clocked)
	recorded, read := m.Find(trace.OpEventRecord), m.Clocks()
	require.Len(t, read, 1)
	require.Equal(t, recorded, []int{read[0].Start, read[0].Stop})
	require.Positive(t, read[0].Ms)
}

func TestAllocates(t *testing.T) {
	for op, want := range map[trace.Op][2]bool{trace.OpMallocAsync: {true, true}, trace.OpMemCreate: {true, true},
		trace.OpMallocHost: {true, false}, trace.OpFree: {}} {
		require.Equal(t, want, [2]bool{suite.Allocates(op), suite.AllocatesOnDevice(op)}, op)
	}
}

func TestLateStreamsInALabel(t *testing.T) {
	name := suite.Names("a", "b", "c")
	require.Empty(t, suite.Late(nil).While(name))
	require.Equal(t, ", while b is busy", suite.Late{1}.While(name))
	require.Equal(t, ", while a and b and c are busy", suite.Late{0, 1, 2}.While(name))
}

// With stream b late, the host waits for a first: what a left undone is over by then.
func TestLateStreamsAreWaitedForLast(t *testing.T) {
	m := made(t, func(cuda.Stream, cuda.Stream, cuda.DevicePtr) error { return nil })
	var waited []trace.ID
	for _, r := range m.Notes.Trace.Records[m.To:] {
		if r.Op == trace.OpStreamSynchronize && r.Phase == trace.Leave {
			waited = append(waited, r.Stream)
		}
	}
	require.Equal(t, m.Streams, waited)
}
