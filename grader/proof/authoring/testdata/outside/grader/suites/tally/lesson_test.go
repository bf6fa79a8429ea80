package tally_test

import (
	"testing"

	"cudalab/grader/proof/lessontest"

	"example.com/outside/grader/suites"
)

func TestLesson(t *testing.T) { lessontest.Of(t, suites.Course(), "tally") }
