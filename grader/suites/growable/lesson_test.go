package growable_test

import (
	"testing"

	"cudalab/grader/proof/lessontest"
	"cudalab/grader/suites/growable"
	solution "cudalab/solutions/growable"
)

func TestLesson(t *testing.T) { lessontest.Run(t, "growable") }

func TestPaces(t *testing.T) {
	vector := growable.Of(solution.New)
	lessontest.Paces(t, growable.Suite(vector, vector))
}
