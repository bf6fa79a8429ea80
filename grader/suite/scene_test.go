package suite_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/session"
	"cudalab/native/sim"
)

// number is a workload.
type number int

func (n number) Label() string { return fmt.Sprint("number ", int(n)) }

// Where calls are to end with an error, all of them are made; elsewhere none behind the first that does.
func TestRunsGoOnWhereTheyAreToFail(t *testing.T) {
	for fails, want := range map[bool][]number{true: {1, 2, 3}, false: {1}} {
		var called []number
		scene := &suite.Scene[error, number]{Set: func(*suite.Stage, number) func(error, number) error {
			return func(err error, n number) error {
				called = append(called, n)
				return err
			}
		}}
		runs := scene.Runs("runs", "", func(*rand.Rand) []number { return []number{1, 2, 3} }, suite.Around[number]{Fails: fails})
		s := session.New(sim.New(sim.Options{}))
		s.Use()
		s.StartTrace()
		notes := &verdict.CaseNotes{ID: "runs", Values: map[string][]uint64{}}
		runs.Drive(&suite.Bench{Session: s, CaseID: notes.ID, Notes: noted{notes}}, suite.Sides[error]{Student: errors.New("of the call's own")})
		require.Equal(t, want, called)
	}
}
