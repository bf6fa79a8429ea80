package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
)

func TestOnlyTwoFailuresInARowAreOne(t *testing.T) {
	for name, runs := range map[string][]suite.Again{
		"failed, passed":           {suite.ToConfirm, suite.NotAgain},
		"failed, unclear":          {suite.ToConfirm, suite.ToTell},
		"failed twice":             {suite.ToConfirm, suite.ToConfirm},
		"unclear, passed":          {suite.ToTell, suite.NotAgain},
		"unclear twice":            {suite.ToTell, suite.ToTell},
		"unclear, then failed":     {suite.ToTell, suite.ToConfirm, suite.ToConfirm},
		"unclear, failed, passed":  {suite.ToTell, suite.ToConfirm, suite.NotAgain},
		"unclear, failed, unclear": {suite.ToTell, suite.ToConfirm, suite.ToTell},
	} {
		t.Run(name, func(t *testing.T) {
			at := 0
			require.NoError(t, settle(runs[0], func(attempt int) (suite.Again, error) {
				at++
				require.Equal(t, at, attempt)
				return runs[at], nil
			}))
			require.Equal(t, len(runs)-1, at)
		})
	}
}
