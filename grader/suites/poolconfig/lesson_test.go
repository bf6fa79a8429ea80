package poolconfig_test

import (
	"testing"

	"cudalab/grader/proof/lessontest"
	"cudalab/grader/suites/poolconfig"
	solution "cudalab/solutions/poolconfig"
)

func TestLesson(t *testing.T) { lessontest.Run(t, "pool-config") }

func TestPaces(t *testing.T) {
	of := poolconfig.Of(solution.Run, solution.Keep, solution.Lend)
	lessontest.Paces(t, poolconfig.Suite(of, of))
}
