package suite_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/session"
	"cudalab/native/sim"
)

// number is a workload.
type number int

func (n number) Label() string { return fmt.Sprint("number ", int(n)) }

// What was refused or came to a gap is no reason to ask for nothing more; a panic is.
func TestRunsGoOnBehindAnError(t *testing.T) {
	all, first := []number{1, 2, 3}, []number{1}
	for want, answer := range map[*[]number]func() error{
		&all:   func() error { return errors.Join(errors.New("of the call's own"), contract.TODO("1a")) },
		&first: func() error { panic("of the call's own") },
	} {
		var called []number
		scene := &suite.Scene[func() error, number]{Set: func(*suite.Stage, number) func(func() error, number) error {
			return func(code func() error, n number) error {
				called = append(called, n)
				return code()
			}
		}}
		runs := scene.Runs("runs", "", func(*rand.Rand) []number { return all }, suite.Around[number]{})
		s := session.New(sim.New(sim.Options{}))
		s.Use()
		s.StartTrace()
		notes := &verdict.CaseNotes{ID: "runs", Values: map[string][]uint64{}}
		runs.Drive(&suite.Bench{Session: s, CaseID: notes.ID, Notes: noted{notes}},
			suite.Sides[func() error]{Student: answer})
		require.Equal(t, *want, called)
	}
}
