package bugclinic_test

import (
	"testing"

	"cudalab/grader/proof/lessontest"
	"cudalab/grader/suites/bugclinic"
	solution "cudalab/solutions/bugclinic"
)

func TestLesson(t *testing.T) { lessontest.Run(t, "bug-clinic") }

func TestPaces(t *testing.T) {
	code := bugclinic.Of(solution.Upload, solution.Weights, solution.PingPong, solution.Merge, solution.Replace,
		solution.Allocate, solution.Snapshot, solution.Scratch)
	lessontest.Paces(t, bugclinic.Suite(code, code))
}
