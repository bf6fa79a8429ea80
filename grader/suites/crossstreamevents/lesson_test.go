package crossstreamevents_test

import (
	"testing"

	"cudalab/grader/proof/lessontest"
	"cudalab/grader/suites/crossstreamevents"
	solution "cudalab/solutions/crossstreamevents"
)

func TestLesson(t *testing.T) { lessontest.Run(t, "cross-stream-events") }

func TestPaces(t *testing.T) {
	code := crossstreamevents.Of(solution.Share, solution.FanOut, solution.NewBuffer)
	lessontest.Paces(t, crossstreamevents.Suite(code, code))
}
