package run

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/machine/lock"
	"cudalab/grader/suite"
)

// What was too slow is timed once more alone on the machine, whatever others there are for its GPU.
func TestWhatIsRepeatedIsAlone(t *testing.T) {
	time, alone := errors.New("Time"), errors.New("Alone")
	turn := func(err error) func(context.Context) (func(), error) {
		return func(context.Context) (func(), error) { return nil, err }
	}
	c := &checking{Runner: NewRunner("", Options{Device: gpu, Turns: lock.Turns{Time: turn(time), Alone: turn(alone)}})}
	_, err := c.timed(context.Background(), &suite.Case{}, 0)
	require.ErrorIs(t, err, time)
	_, err = c.timed(context.Background(), &suite.Case{}, 1)
	require.ErrorIs(t, err, alone)
}
