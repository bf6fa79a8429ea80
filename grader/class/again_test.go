package class

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

func TestAgain(t *testing.T) {
	c, err := course.Open("../..")
	require.NoError(t, err)
	old := Student{Exercises: []verdict.Report{{Exercise: "slab", Status: verdict.Timeout}, {Exercise: "buddy",
		Status: verdict.NotStarted}}}
	for again, want := range map[string]bool{"timeout": true, "crashed": false, "slab": true, "buddy": false,
		"slab=timeout": true, "slab=failed": false,
		"buddy=not-started": true} {
		o := Options{Exercises: c.Exercises, Again: []string{again}}
		require.NoError(t, o.validAgain(again))
		require.Equal(t, want, o.again(old), again)
	}
	for _, wrong := range []string{"", "slub", "timeouts", "slab=", "slub=failed", "slab=slab"} {
		o := Options{Exercises: c.Exercises}
		require.ErrorContains(t, o.validAgain(wrong), "Nobody can be graded again for", wrong)
	}
}
