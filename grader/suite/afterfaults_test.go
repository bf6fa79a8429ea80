package suite_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/trace"
)

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
	require.Equal(t, "As a test, the 1st call of cuda.FreeAsync was made to fail with CUDA_ERROR_INVALID_VALUE (1). Run "+
		"should have returned that error, but it returned nil.", found[0].Message)
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
	require.Contains(t, found[0].Message, "As a test, the 1st call of cuda.MallocAsync was made to fail with "+
		"CUDA_ERROR_OUT_OF_MEMORY (2). Run should have returned that error, but errors.Is does not find it in what was "+
		"returned: no memory: cudaMallocAsync: ")

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
	require.True(t, suite.FaultRuns(c)[0].Outcome.OK())
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
	require.Equal(t, "As a test, the 3rd call of cuda.MallocAsync was made to fail with CUDA_ERROR_OUT_OF_MEMORY (2). "+
		"When Run had returned, the memory that was allocated here should have been freed, but was not.", found[0].Message)
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
	require.Len(t, suite.FaultRuns(c), 3)
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
	require.Len(t, suite.FaultRuns(c), 4+4)
	require.Equal(t, int32(device.ErrorInvalidValue), c.Trace.Records[suite.FaultRuns(c)[4].Failed].Code)
}
