package buddy_test

import (
	"testing"

	"cudalab/grader/proof/lessontest"
	"cudalab/grader/suites/buddy"
	solution "cudalab/solutions/buddy"
)

func TestLesson(t *testing.T) { lessontest.Run(t, "buddy") }

func TestPaces(t *testing.T) {
	blocks := buddy.Of(solution.New)
	lessontest.Paces(t, buddy.Suite(blocks, blocks))
}
