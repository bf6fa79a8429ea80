package suites

import (
	"testing"

	"cudalab/grader/proof/authoring"
)

// Nothing is missing from any lesson.
func TestLessonsAreWhole(t *testing.T) { authoring.Check(t, "../..", all) }
