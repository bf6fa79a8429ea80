package overlap_test

import (
	"testing"

	"cudalab/grader/proof/lessontest"
	"cudalab/grader/suites/overlap"
	solution "cudalab/solutions/overlap"
)

func TestLesson(t *testing.T) { lessontest.Run(t, "overlap") }

func TestPaces(t *testing.T) {
	code := overlap.Of(solution.Run, solution.Efficiency)
	lessontest.Paces(t, overlap.Suite(code, code))
}
