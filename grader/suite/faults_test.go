package suite_test

import (
	"errors"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/order"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

// noted keeps what a bench notes.
type noted struct{ *verdict.CaseNotes }

func (n noted) Outcome(o verdict.Outcome)       { n.Outcomes = append(n.Outcomes, o) }
func (n noted) Value(name string, vs ...uint64) { n.Values[name] = append(n.Values[name], vs...) }
func (n noted) Sample(string, int64)            {}

// after runs a program under EveryFault on a simulated device, and judges it. prepare makes a run's program.
func after(t *testing.T, j suite.FaultJudge, prepare func(cuda.Stream) func() error) ([]verdict.Finding,
	*verdict.CaseNotes) {
	t.Helper()
	found, c := afterOn(t, j, func(_ int, s cuda.Stream) func() error { return prepare(s) })
	for _, f := range found {
		require.Positive(t, f.Line, f.Message)
	}
	return found, c
}

// afterOn is after with a program that is told the number of its input.
func afterOn(t *testing.T, j suite.FaultJudge, prepare func(int, cuda.Stream) func() error) ([]verdict.Finding,
	*verdict.CaseNotes) {
	t.Helper()
	c := &verdict.CaseNotes{ID: "faults", Values: map[string][]uint64{}}
	s := session.New(sim.New(sim.Options{}))
	s.Use()
	s.StartTrace()
	b := &suite.Bench{Session: s, CaseID: c.ID, Notes: noted{c}}
	b.EveryFault(func(input int) (label string, run func() error, finish func()) {
		stream, err := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
		b.Must(err)
		return "one stream", prepare(input, stream), func() {
			b.Must(cuda.DeviceSynchronize())
			b.Must(cuda.StreamDestroy(stream))
		}
	})
	c.Trace = s.StopTrace()
	require.NoError(t, s.Sweep())
	e := &suite.Evidence{Cases: map[string]*verdict.CaseNotes{c.ID: c}, Place: place}
	for _, f := range order.Check(c.Trace) {
		severity := verdict.Error
		if f.Severity == order.Remark {
			severity = verdict.Remark
		}
		c.Findings = append(c.Findings, e.At(verdict.Finding{Rule: f.Rule, Severity: severity, Message: f.Message, Why: f.Why,
			Fix:    f.Fix,
			Record: f.At}, c.Trace.SiteOf(&c.Trace.Records[f.At])))
	}
	found := e.AfterFaults(c.ID, j)
	for _, f := range found {
		require.NotEmpty(t, f.Message)
		require.NotEmpty(t, f.Why)
		require.NotEmpty(t, f.Fix)
	}
	return found, c
}

// place takes this file, and that about callbacks, for the student's.
func place(site trace.Site) (places []verdict.Place) {
	for _, frame := range site {
		file := path.Base(frame.File)
		if strings.HasSuffix(file, "_test.go") && !strings.Contains(frame.Func, ".after") {
			places = append(places, verdict.Place{File: file, Line: frame.Line, Func: frame.Func})
		}
	}
	return places
}

func rules(findings []verdict.Finding) (found []string) {
	for _, f := range findings {
		found = append(found, f.Rule)
	}
	return found
}

var function = suite.FaultJudge{Function: "Run", Wrong: func(int) string { return "" }}

// three allocates and frees three times, and gives back all on every way out.
func three(s cuda.Stream) (err error) {
	for range 3 {
		p, failed := cuda.MallocAsync(100, s)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, cuda.FreeAsync(p, s)) }()
		if err := cuda.MemsetAsync(p, 1, 100, s); err != nil {
			return err
		}
	}
	return nil
}

func TestEveryCallFailsOnce(t *testing.T) {
	found, c := after(t, function, func(s cuda.Stream) func() error { return func() error { return three(s) } })
	require.Empty(t, found)
	runs := suite.FaultRuns(c)
	require.Len(t, runs, 9+3)
	require.Len(t, c.Outcomes, 1+2*9+3)
	require.Equal(t, "As a test, the 1st call of cuda.MallocAsync was made to fail with CUDA_ERROR_OUT_OF_MEMORY (2)",
		runs[0].What)
	require.Equal(t, runs[0].What, runs[1].What)
	require.Equal(t, "As a test, the 3rd call of cuda.FreeAsync was made to fail with CUDA_ERROR_INVALID_VALUE (1)",
		runs[11].What)
	for i, run := range runs {
		require.False(t, run.Outcome.OK())
		require.True(t, c.Trace.Records[run.Failed].Faked)
		if i%4 == 1 { // the first call of each kind, once more on inputs on which all has gone well
			require.Equal(t, -1, run.Again)
			require.Contains(t, run.Outcome.Label, " fails, where it did not before")
		} else {
			require.True(t, c.Outcomes[run.Again].OK(), c.Outcomes[run.Again].Label)
		}
	}
	require.Equal(t, "one stream while the 2nd call of cuda.MemsetAsync fails", runs[6].Outcome.Label)
}

func TestALoopIsMadeToFailAtItsEnds(t *testing.T) {
	_, c := after(t, function, func(s cuda.Stream) func() error {
		return func() error {
			for range 100 {
				if err := cuda.StreamSynchronize(s); err != nil {
					return err
				}
			}
			return nil
		}
	})
	runs := suite.FaultRuns(c)
	require.Len(t, runs, 32+1)
	require.Contains(t, runs[0].What, "1st call")
	require.Contains(t, runs[16].What, "16th call")
	require.Contains(t, runs[17].What, "85th call")
	require.Contains(t, runs[32].What, "100th call")
}

func TestAClockIsMadeToFail(t *testing.T) {
	found, c := after(t, function, func(s cuda.Stream) func() error {
		return func() error {
			e, err := cuda.EventCreate()
			if err != nil {
				return err
			}
			defer cuda.EventDestroy(e)
			if err := errors.Join(cuda.EventRecord(e, s), cuda.EventSynchronize(e)); err != nil {
				return err
			}
			_, _ = cuda.EventElapsedTime(e, e)
			return nil
		}
	})
	clock := suite.FaultRuns(c)[6]
	require.Equal(t, "As a test, the 1st call of cuda.EventElapsedTime was made to fail with CUDA_ERROR_UNKNOWN (999)",
		clock.What)
	require.Equal(t, []string{"error-ignored", "error-ignored"}, rules(found), "of the clock, and of the end of the event")
	require.Equal(t, clock.Failed, found[0].Record)
}
