// Package runner calls the student's code and prints what it answers.
package runner

import (
	"fmt"

	suite "cudalab/grader/suites/sample"
)

func Main(s *suite.Suite) { fmt.Println(s.Student(nil, 1)) }
