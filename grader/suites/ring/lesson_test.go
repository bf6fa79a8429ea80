package ring_test

import (
	"testing"

	"cudalab/grader/proof/lessontest"
	"cudalab/grader/suites/ring"
	solution "cudalab/solutions/ring"
)

func TestLesson(t *testing.T) { lessontest.Run(t, "ring") }

func TestPaces(t *testing.T) {
	lessontest.Paces(t, ring.Suite(solution.Run, solution.Run))
}
