package suite_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

// called has code be called with something to call in turn, which sets a byte at p.
func called(t *testing.T, code func(p cuda.DevicePtr, work func() error) error) suite.Call {
	t.Helper()
	c := &verdict.CaseNotes{ID: "calls", Values: map[string][]uint64{}}
	s := session.New(sim.New(sim.Options{}))
	s.Use()
	s.StartTrace()
	b := &suite.Bench{Session: s, CaseID: c.ID, Notes: noted{c}}
	p, err := cuda.Malloc(1)
	b.Must(err)
	b.Call("one byte", func() error {
		return code(p, func() error {
			return b.Callback("work", func() error { return cuda.MemsetAsync(p, 1, 1, cuda.Stream{}) })
		})
	})
	c.Trace = s.StopTrace()
	e := &suite.Evidence{Cases: map[string]*verdict.CaseNotes{c.ID: c}, Place: place}
	return e.Calls(c.ID)[0]
}

func ops(c *suite.Call) (made []trace.Op) {
	c.Records(func(_ int, r *trace.Record) bool {
		made = append(made, r.Op)
		return true
	})
	return made
}

func TestACallbacksCallsAreNotTheStudents(t *testing.T) {
	c := called(t, func(p cuda.DevicePtr, work func() error) error {
		return errors.Join(work(), cuda.MemsetAsync(p, 2, 1, cuda.Stream{}), work(), work(), cuda.Free(p))
	})
	require.Equal(t, []trace.Op{trace.OpMemsetAsync, trace.OpFree}, ops(&c))
	require.Len(t, c.Callbacks(), 3)
	for _, back := range c.Callbacks() {
		require.Equal(t, "work", back.Name)
		require.Equal(t, 1, back.To-back.From)
		require.Equal(t, trace.OpMemsetAsync, c.Record(back.From).Op)
		require.Equal(t, "work", suite.CallNameAt(c.Notes, back.From))
		line := c.At(back.From-1, verdict.Finding{})
		require.Equal(t, "callback_test.go", line.File, "the line that called it")
	}
	require.Equal(t, "cuda.MemsetAsync", suite.CallNameAt(c.Notes, c.Callbacks()[0].To+1))
}

func TestACallbackThatPanicsComesToAnEnd(t *testing.T) {
	c := called(t, func(p cuda.DevicePtr, work func() error) error {
		func() {
			defer func() { _ = recover() }()
			_ = (&suite.Bench{Session: session.Current()}).Callback("other", func() error { panic("no more") })
		}()
		return cuda.Free(p)
	})
	require.Equal(t, []trace.Op{trace.OpFree}, ops(&c))
	require.Len(t, c.Callbacks(), 1)
	require.True(t, c.Callbacks()[0].Failed)
}

// What a runner sends need not be what a session records.
func TestACallbackWithoutAnEnd(t *testing.T) {
	c := called(t, func(_ cuda.DevicePtr, work func() error) error { return work() })
	records := c.Notes.Trace.Records
	notes := &verdict.CaseNotes{ID: "calls", Outcomes: c.Notes.Outcomes,
		Trace: &trace.Trace{Records: records[:len(records)-2]}}
	e := &suite.Evidence{Cases: map[string]*verdict.CaseNotes{notes.ID: notes}}
	require.Empty(t, ops(&e.Calls("calls")[0]))
}

func TestAFaultInACallback(t *testing.T) {
	back := func(code func(work func() error) error) func(s cuda.Stream) func() error {
		return func(s cuda.Stream) func() error {
			b := &suite.Bench{Session: session.Current()}
			p, err := cuda.Malloc(1)
			b.Must(err)
			return func() error {
				return code(func() error {
					return b.Callback("work", func() error { return cuda.MemsetAsync(p, 1, 1, s) })
				})
			}
		}
	}
	stops := suite.FaultJudge{Function: "Run", Stops: true, Wrong: func(int) string { return "" }}
	found, c := after(t, stops, back(func(work func() error) error {
		err := work()
		return errors.Join(err, work())
	}))
	require.Equal(t, "As a test, the 1st call of cuda.MemsetAsync, inside work, was made to fail with "+
		"CUDA_ERROR_INVALID_VALUE (1)", suite.FaultRuns(c)[0].What)
	require.Equal(t, []string{"goes-on-after-error", "leak"}, rules(found), "the caller keeps its memory")
	require.Contains(t, found[0].Message, "but went on with work.")

	found, _ = after(t, stops, back(func(work func() error) error { _ = work(); return nil }))
	require.Equal(t, []string{"error-ignored", "leak"}, rules(found))
}

func TestWorkCalledAheadOfARefusal(t *testing.T) {
	c := called(t, func(_ cuda.DevicePtr, work func() error) error { return errors.Join(work(), contract.ErrArgument) })
	a := c.Evidence.JudgeArguments(c.Notes.ID, 0, 1, suite.Refusal{Function: "Run"})
	require.Equal(t, []string{"late-argument-check"}, rules(a.Findings))
	require.Contains(t, a.Findings[0].Message, "but it called work first.")
}
