package devicebump_test

import (
	"testing"

	"cudalab/grader/proof/lessontest"
	"cudalab/grader/suites/devicebump"
	solution "cudalab/solutions/devicebump"
)

func TestLesson(t *testing.T) { lessontest.Run(t, "device-bump") }

func TestPaces(t *testing.T) {
	code := devicebump.Of(solution.Alloc, solution.AllocWarp, solution.New)
	lessontest.Paces(t, devicebump.Suite(code, code))
}
