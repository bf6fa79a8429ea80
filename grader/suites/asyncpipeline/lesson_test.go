package asyncpipeline_test

import (
	"testing"

	"cudalab/grader/proof/lessontest"
	"cudalab/grader/suites/asyncpipeline"
	solution "cudalab/solutions/asyncpipeline"
)

func TestLesson(t *testing.T) { lessontest.Run(t, "async-pipeline") }

func TestPaces(t *testing.T) {
	of := asyncpipeline.Of(solution.Run, solution.Sums)
	lessontest.Paces(t, asyncpipeline.Suite(of, of))
}
