package suite_test

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/order"
	"cudalab/grader/suite"
	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

// noted keeps what a bench notes.
type noted struct{ *suite.CaseNotes }

func (n noted) Outcome(o suite.Outcome)     { n.Outcomes = append(n.Outcomes, o) }
func (n noted) Value(name string, v uint64) { n.Values[name] = append(n.Values[name], v) }
func (n noted) Sample(string, int64)        {}

// after runs a program under EveryFault on a simulated device, and judges it. prepare makes a run's program.
func after(t *testing.T, j suite.FaultJudge, prepare func(cuda.Stream) func() error) ([]suite.Finding, *suite.CaseNotes) {
	t.Helper()
	found, c := afterOn(t, j, func(_ int, s cuda.Stream) func() error { return prepare(s) })
	for _, f := range found {
		require.Positive(t, f.Line, f.Message)
	}
	return found, c
}

// afterOn is after with a program that is told the number of its input.
func afterOn(t *testing.T, j suite.FaultJudge, prepare func(int, cuda.Stream) func() error) ([]suite.Finding, *suite.CaseNotes) {
	t.Helper()
	c := &suite.CaseNotes{ID: "faults", Values: map[string][]uint64{}}
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
	e := &suite.Evidence{Cases: map[string]*suite.CaseNotes{c.ID: c}, Place: place}
	for _, f := range order.Check(c.Trace) {
		severity := suite.Error
		if f.Severity == order.Remark {
			severity = suite.Remark
		}
		c.Findings = append(c.Findings, e.At(suite.Finding{Rule: f.Rule, Severity: severity, Message: f.Message, Why: f.Why, Fix: f.Fix,
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
func place(site trace.Site) (places []suite.Place) {
	for _, frame := range site {
		file := path.Base(frame.File)
		if (file == "faults_test.go" || file == "callback_test.go") && !strings.Contains(frame.Func, ".after") {
			places = append(places, suite.Place{File: file, Line: frame.Line, Func: frame.Func})
		}
	}
	return places
}

func rules(findings []suite.Finding) (found []string) {
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
	runs := c.FaultRuns()
	require.Len(t, runs, 9+3)
	require.Len(t, c.Outcomes, 1+2*9+3)
	require.Equal(t, "As a test, the 1st call of cuda.MallocAsync was made to fail with CUDA_ERROR_OUT_OF_MEMORY (2)", runs[0].What)
	require.Equal(t, runs[0].What, runs[1].What)
	require.Equal(t, "As a test, the 3rd call of cuda.FreeAsync was made to fail with CUDA_ERROR_INVALID_VALUE (1)", runs[11].What)
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
	runs := c.FaultRuns()
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
	clock := c.FaultRuns()[6]
	require.Equal(t, "As a test, the 1st call of cuda.EventElapsedTime was made to fail with CUDA_ERROR_UNKNOWN (999)", clock.What)
	require.Equal(t, []string{"error-ignored", "error-ignored"}, rules(found), "of the clock, and of the end of the event")
	require.Equal(t, clock.Failed, found[0].Record)
}

func TestAnErrorIsIgnored(t *testing.T) {
	found, _ := after(t, function, func(s cuda.Stream) func() error {
		return func() error {
			p, err := cuda.MallocAsync(100, s)
			if err != nil {
				return err
			}
			cuda.FreeAsync(p, s)
			return nil
		}
	})
	require.Equal(t, []string{"error-ignored"}, rules(found))
	require.Equal(t, "As a test, the 1st call of cuda.FreeAsync was made to fail with CUDA_ERROR_INVALID_VALUE (1). Run should have returned "+
		"that error, but it returned nil.", found[0].Message)
}

// An error that is only quoted, or covered by that of a later call, is lost to the caller.
func TestAnErrorIsReplaced(t *testing.T) {
	found, _ := after(t, function, func(s cuda.Stream) func() error {
		return func() error {
			p, err := cuda.MallocAsync(100, s)
			if err != nil {
				return fmt.Errorf("no memory: %v", err)
			}
			return cuda.FreeAsync(p, s)
		}
	})
	require.Equal(t, []string{suite.ErrorReplaced}, rules(found))
	require.Contains(t, found[0].Message, "As a test, the 1st call of cuda.MallocAsync was made to fail with CUDA_ERROR_OUT_OF_MEMORY (2). "+
		"Run should have returned that error, but errors.Is does not find it in what was returned: no memory: cudaMallocAsync: ")

	found, _ = after(t, function, func(s cuda.Stream) func() error {
		return func() error {
			p, _ := cuda.MallocAsync(100, s)
			return errors.Join(cuda.MemsetAsync(p, 1, 100, s), cuda.FreeAsync(p, s))
		}
	})
	require.Equal(t, []string{suite.ErrorReplaced}, rules(found))
	require.Contains(t, found[0].Message, "in what was returned: cudaMemsetAsync: CUDA_ERROR_INVALID_VALUE (1)")
}

// What was destroyed on the way out of a failure is not to be destroyed again.
func TestDestroyedTwiceAfterAnError(t *testing.T) {
	found, _ := after(t, function, func(s cuda.Stream) func() error {
		return func() error {
			event, err := cuda.EventCreate()
			if err != nil {
				return err
			}
			if err = cuda.EventRecord(event, s); err != nil {
				err = errors.Join(err, cuda.EventDestroy(event))
			}
			return errors.Join(err, cuda.EventDestroy(event))
		}
	})
	require.Equal(t, []string{"use-after-destroy-on-error"}, rules(found))
	require.Contains(t, found[0].Message, "As a test, the 1st call of cuda.EventRecord was made to fail")
}

func TestAnErrorMayBeMadeGoodFor(t *testing.T) {
	j := function
	j.Recovers = func(run suite.FaultRun) bool { return run.Op == trace.OpMallocAsync }
	found, c := after(t, j, func(s cuda.Stream) func() error {
		return func() error {
			p, err := cuda.MallocAsync(1000, s)
			if err != nil {
				p, err = cuda.MallocAsync(100, s)
			}
			if err != nil {
				return err
			}
			return cuda.FreeAsync(p, s)
		}
	})
	require.Empty(t, found)
	require.True(t, c.FaultRuns()[0].Outcome.OK())
}

func TestTheThirdAllocationLeaksTheFirst(t *testing.T) {
	found, _ := after(t, function, func(s cuda.Stream) func() error {
		return func() error {
			var all []cuda.DevicePtr
			for range 3 {
				p, err := cuda.MallocAsync(100, s)
				if err != nil && len(all) > 0 {
					return errors.Join(err, cuda.FreeAsync(all[len(all)-1], s))
				}
				if err != nil {
					return err
				}
				all = append(all, p)
			}
			var err error
			for _, p := range all {
				err = errors.Join(err, cuda.FreeAsync(p, s))
			}
			return err
		}
	})
	require.Equal(t, []string{"leak-on-error"}, rules(found))
	require.Equal(t, "As a test, the 3rd call of cuda.MallocAsync was made to fail with CUDA_ERROR_OUT_OF_MEMORY (2). When Run had returned, "+
		"the memory that was allocated here should have been freed, but was not.", found[0].Message)
}

func TestNotUsableAfterAnError(t *testing.T) {
	broken := false
	found, _ := after(t, function, func(s cuda.Stream) func() error {
		return func() error {
			if broken {
				return errors.New("I have given up")
			}
			err := cuda.StreamSynchronize(s)
			broken = err != nil
			return err
		}
	})
	require.Equal(t, []string{"not-usable-after-error"}, rules(found))
	require.Contains(t, found[0].Message, "I have given up")
}

func TestWrongResultsAfterAnError(t *testing.T) {
	results, failed := []int{}, false
	j := function
	j.Wrong = func(outcome int) string {
		if results[outcome] != 1 {
			return "the result is wrong."
		}
		return ""
	}
	found, _ := after(t, j, func(s cuda.Stream) func() error {
		return func() error {
			err := cuda.StreamSynchronize(s)
			result := 1
			if failed {
				result = 2
			}
			failed = failed || err != nil
			results = append(results, result)
			return err
		}
	})
	require.Equal(t, []string{"not-usable-after-error"}, rules(found))
}

// Who remembers what it did on the same inputs makes no call, and meets no failure.
func TestACallIsLeftOut(t *testing.T) {
	done, did := map[int]bool{}, []bool{}
	j := function
	j.Wrong = func(outcome int) string {
		if !did[outcome] {
			return "The stream should have been waited for."
		}
		return ""
	}
	found, _ := afterOn(t, j, func(input int, s cuda.Stream) func() error {
		return func() error {
			did = append(did, !done[input])
			if done[input] {
				return nil
			}
			err := cuda.StreamSynchronize(s)
			done[input] = err == nil
			return err
		}
	})
	require.Equal(t, []string{"left-out"}, rules(found))
	require.Equal(t, "As a test, the 1st call of cuda.StreamSynchronize was to fail. With inputs like these it was made "+
		"before, but now the code came to its end without it. The stream should have been waited for.", found[0].Message)
}

// What counts as done although it failed is not done when it is asked for again.
func TestAFailureIsRemembered(t *testing.T) {
	done, did := map[int]bool{}, []bool{}
	j := function
	j.Wrong = func(outcome int) string {
		if !did[outcome] {
			return "The stream should have been waited for."
		}
		return ""
	}
	found, _ := afterOn(t, j, func(input int, s cuda.Stream) func() error {
		return func() error {
			did = append(did, !done[input])
			if done[input] {
				return nil
			}
			done[input] = true
			return cuda.StreamSynchronize(s)
		}
	})
	require.Equal(t, []string{"left-out"}, rules(found))
}

// A call is made to fail as well where the same inputs went well before.
func TestAnErrorIsIgnoredOnKnownInputs(t *testing.T) {
	known := map[int]bool{}
	found, _ := afterOn(t, function, func(input int, s cuda.Stream) func() error {
		return func() error {
			if err := cuda.StreamSynchronize(s); err != nil && !known[input] {
				return err
			}
			known[input] = true
			return nil
		}
	})
	require.Equal(t, []string{"error-ignored"}, rules(found))
}

// Inputs on which the code needs fewer calls are no fault, and not those on which it fails.
func TestInputsDifferInTheirCalls(t *testing.T) {
	found, c := afterOn(t, function, func(input int, s cuda.Stream) func() error {
		return func() error {
			for range 1 + (input+1)%2 {
				if err := cuda.StreamSynchronize(s); err != nil {
					return err
				}
			}
			return nil
		}
	})
	require.Empty(t, found)
	require.Len(t, c.FaultRuns(), 3)
}

func TestCloseIsCalledAgain(t *testing.T) {
	program := func(forgets bool) func(cuda.Stream) func() error {
		return func(s cuda.Stream) func() error {
			return func() error {
				p, err := cuda.MallocAsync(100, s)
				if err != nil {
					return err
				}
				closeIt := func() error {
					if p == 0 {
						return nil
					}
					err := cuda.FreeAsync(p, s)
					if err == nil || forgets {
						p = 0
					}
					return err
				}
				if err = closeIt(); err != nil {
					err = errors.Join(err, closeIt())
				}
				return err
			}
		}
	}
	j := suite.FaultJudge{Function: "Close", Retried: "Close", Wrong: function.Wrong}
	found, _ := after(t, j, program(false))
	require.Empty(t, found)
	found, _ = after(t, j, program(true))
	require.Equal(t, []string{"leak-on-error"}, rules(found))
	j.Retried = ""
	found, _ = after(t, j, program(true))
	require.Empty(t, found, "what a failed free was to free is excused")
}

func TestAPanicEndsTheRuns(t *testing.T) {
	_, c := after(t, function, func(s cuda.Stream) func() error {
		return func() error {
			p, err := cuda.MallocAsync(100, s)
			if err != nil {
				panic("no memory")
			}
			return cuda.FreeAsync(p, s)
		}
	})
	require.Len(t, c.Outcomes, 2)
	require.Equal(t, "no memory", c.Outcomes[1].Panic)
	require.Contains(t, c.Outcomes[1].Label, "1st call of cuda.MallocAsync fails")
}

// A pool may be destroyed although a free was made to fail: no memory outlives it, so all calls get their turn.
func TestAFreeFailsBeforeItsPoolIsDestroyed(t *testing.T) {
	found, c := after(t, function, func(s cuda.Stream) func() error {
		return func() error {
			pool, err := cuda.MemPoolCreate(cuda.MemPoolProps{})
			if err != nil {
				return err
			}
			p, err := cuda.MallocFromPoolAsync(100, pool, s)
			if err == nil {
				err = cuda.FreeAsync(p, s)
			}
			return errors.Join(err, cuda.MemPoolDestroy(pool))
		}
	})
	require.Empty(t, found)
	require.Len(t, c.FaultRuns(), 4+4)
	require.Equal(t, int32(device.ErrorInvalidValue), c.Trace.Records[c.FaultRuns()[4].Failed].Code)
}

// mapping is a piece of virtual memory that is mapped, with the parts that there are so far.
type mapping struct {
	base            cuda.DevicePtr
	handle          cuda.MemGenericAllocationHandle
	mapped, created bool
}

const mappingSize = 2 << 20

func (m *mapping) open() (err error) {
	if m.base, err = cuda.MemAddressReserve(mappingSize, 0, 0, 0); err != nil {
		return err
	}
	here := cuda.MemLocation{Type: cuda.MemLocationTypeDevice}
	m.handle, err = cuda.MemCreate(mappingSize, cuda.MemAllocationProp{Type: cuda.MemAllocationTypePinned, Location: here}, 0)
	if err != nil {
		return err
	}
	m.created = true
	if err = cuda.MemMap(m.base, mappingSize, 0, m.handle, 0); err != nil {
		return err
	}
	m.mapped = true
	return cuda.MemSetAccess(m.base, mappingSize, []cuda.MemAccessDesc{{Location: here, Flags: cuda.MemAccessFlagsProtReadWrite}})
}

// close gives back what there is, and keeps what could not be given back.
func (m *mapping) close() (err error) {
	if m.mapped {
		if err = cuda.MemUnmap(m.base, mappingSize); err != nil {
			return err
		}
		m.mapped = false
	}
	if m.created {
		if err = cuda.MemRelease(m.handle); err != nil {
			return err
		}
		m.created = false
	}
	if m.base != 0 {
		if err = cuda.MemAddressFree(m.base, mappingSize); err != nil {
			return err
		}
		m.base = 0
	}
	return nil
}

func TestEveryCallOfVirtualMemoryFails(t *testing.T) {
	j := suite.FaultJudge{Function: "Run", Retried: "close", Wrong: function.Wrong}
	found, c := after(t, j, func(cuda.Stream) func() error {
		return func() error {
			var m mapping
			err := m.open()
			failed := m.close()
			if failed != nil {
				failed = errors.Join(failed, m.close())
			}
			return errors.Join(err, failed)
		}
	})
	require.Empty(t, found)
	require.Len(t, c.FaultRuns(), 7+7)
}

func TestMappedMemoryIsLeftBehind(t *testing.T) {
	found, _ := after(t, function, func(cuda.Stream) func() error {
		return func() error {
			var m mapping
			if err := m.open(); err != nil {
				return err
			}
			return m.close()
		}
	})
	require.Subset(t, rules(found), []string{"leak-on-error"})
	var messages []string
	for _, f := range found {
		messages = append(messages, f.Message)
	}
	all := strings.Join(messages, "\n")
	for _, left := range []string{"address range that was reserved here should have been given back, but was not",
		"memory that was created here should have been released, but was not",
		"memory that was mapped here should have been unmapped, but was not"} {
		require.Contains(t, all, left)
	}
}
