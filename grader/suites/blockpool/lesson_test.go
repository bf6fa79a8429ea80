package blockpool_test

import (
	"testing"

	"cudalab/grader/proof/lessontest"
	"cudalab/grader/suites/blockpool"
	solution "cudalab/solutions/blockpool"
)

func TestLesson(t *testing.T) { lessontest.Run(t, "block-pool") }

func TestPaces(t *testing.T) {
	pool := blockpool.Of(solution.New)
	lessontest.Paces(t, blockpool.Suite(pool, pool))
}
