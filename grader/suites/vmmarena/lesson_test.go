package vmmarena_test

import (
	"testing"

	"cudalab/grader/proof/lessontest"
	"cudalab/grader/suites/vmmarena"
	solution "cudalab/solutions/vmmarena"
)

func TestLesson(t *testing.T) { lessontest.Run(t, "vmm-arena") }

func TestPaces(t *testing.T) {
	arena := vmmarena.Of(solution.New)
	lessontest.Paces(t, vmmarena.Suite(arena, arena))
}
