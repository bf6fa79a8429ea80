package poolconfig_test

import (
	"testing"

	"cudalab/grader/proof/lessontest"
	"cudalab/grader/suites/poolconfig"
	solution "cudalab/solutions/poolconfig"
)

func TestLesson(t *testing.T) { lessontest.Run(t, "pool-config") }

func TestPaces(t *testing.T) {
	lessontest.Paces(t, poolconfig.Suite(solution.Run, solution.Run))
}
