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

// refused has code be given one bad argument, and judges what it did.
func refused(t *testing.T, r suite.Refusal, code func() error) suite.Answer {
	t.Helper()
	c := &verdict.CaseNotes{ID: "arguments", Values: map[string][]uint64{}}
	s := session.New(sim.New(sim.Options{}))
	s.Use()
	s.StartTrace()
	b := &suite.Bench{Session: s, CaseID: c.ID, Notes: noted{c}}
	b.Must(cuda.DeviceSynchronize())
	b.Call("0 bytes", code)
	c.Trace = s.StopTrace()
	e := &suite.Evidence{Cases: map[string]*verdict.CaseNotes{c.ID: c},
		Place: func(trace.Site) []verdict.Place { return nil }}
	return e.JudgeArguments(c.ID, 0, 1, r)
}

func TestArgumentsThatHaveToBeRefused(t *testing.T) {
	other := errors.New("too small")
	synchronises := func(err error) func() error {
		return func() error { return errors.Join(cuda.DeviceSynchronize(), err) }
	}
	counts := func() error {
		_, err := cuda.GetDeviceCount()
		return errors.Join(err, contract.ErrArgument)
	}
	returns := func(err error) func() error { return func() error { return err } }
	run := suite.Refusal{Function: "Run"}
	for name, c := range map[string]struct {
		refusal suite.Refusal
		code    func() error
		said    []string
	}{
		"refused": {run, returns(contract.ErrArgument), nil},
		"accepted": {run, returns(nil),
			[]string{"Run was given 0 bytes: it should have returned an error, but it returned nil."}},
		"a call as label": {suite.Refusal{}, returns(nil),
			[]string{"0 bytes should have returned an error, but it returned nil."}},
		"another error": {run, returns(other), []string{
			"Run was given 0 bytes: it should have returned contract.ErrArgument, but it returned: too small."}},
		"refused late": {run, synchronises(contract.ErrArgument), []string{
			"Run was given 0 bytes: it should have refused before any CUDA call, but it called cuda.DeviceSynchronize first."}},
		"accepted at work": {run, synchronises(nil), []string{
			"Run was given 0 bytes: it should have returned an error, but it returned nil.",
			"Run was given 0 bytes: it should have refused before any CUDA call, but it called cuda.DeviceSynchronize first."}},
		"a call that is allowed": {suite.Refusal{Allowed: []trace.Op{trace.OpDeviceInfo}}, counts, nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := refused(t, c.refusal, c.code)
			var said []string
			for _, f := range a.Findings {
				said = append(said, f.Message)
			}
			require.Equal(t, c.said, said)
			require.Empty(t, a.Skip)
		})
	}
}
