package measure_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/proof/lessontest"
	stats "cudalab/grader/suite/measure"
	"cudalab/grader/suites/measure"
	solution "cudalab/solutions/measure"
)

func TestLesson(t *testing.T) { lessontest.Run(t, "measure") }

// Memory that is kept costs less than memory in stream order, and that a fraction of what synchronous memory does: so
// the chapter says, and so the solution measures.
func TestTheThreeWays(t *testing.T) {
	code := measure.Code{Time: solution.Time, Compare: solution.Compare}
	seen := lessontest.Benchmark(t, measure.Suite(code, code), "ways")
	nanoseconds := func(way string) float64 { return stats.MedianOf(seen[way+": solution"]).Value }
	kept, ordered, synchronous := nanoseconds("Kept"), nanoseconds("Ordered"), nanoseconds("Synchronous")
	t.Logf("a round takes %.0f ns with memory that is kept, %.0f in stream order, %.0f synchronously", kept, ordered,
		synchronous)
	require.Less(t, kept, ordered)
	require.Less(t, 5*ordered, synchronous)
}
