package slab_test

import (
	"testing"

	"cudalab/grader/proof/lessontest"
	"cudalab/grader/suites/slab"
	solution "cudalab/solutions/slab"
)

func TestLesson(t *testing.T) { lessontest.Run(t, "slab") }

func TestPaces(t *testing.T) {
	blocks := slab.Of(solution.New)
	lessontest.Paces(t, slab.Suite(blocks, blocks))
}
