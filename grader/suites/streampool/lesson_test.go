package streampool_test

import (
	"testing"

	"cudalab/grader/proof/lessontest"
)

func TestLesson(t *testing.T) { lessontest.Run(t, "stream-pool") }
