// Package classroom writes a student's grade for GitHub Classroom's autograding reporter,
// https://github.com/classroom-resources/autograding-grading-reporter, which reads the results of what it calls runners from
// environment variables.
//
// The reporter counts points twice: the notice that Classroom reads is the sum of the tests' scores, the table in the log is
// the passed part of a runner's tests times its maximum. Both agree where all tests of a runner are worth the same. So every
// check is a runner with one test; points for a part of a check, if ever there are any, make it several equal tests.
package classroom

import (
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"strings"

	"cudalab/grader/class"
	"cudalab/grader/report/gradebook"
	"cudalab/grader/suite/jsontext"
	"cudalab/grader/suite/verdict"
)

// maxMessage bounds what is said about one check, in bytes. All of it is in the environment of one process, of which Linux
// allows 128 KiB for a variable and some MiB in all.
const maxMessage = 2 << 10

// maxName bounds a file's name, in bytes; no system has longer ones.
const maxName = 255

// RunnersVariable names the environment variable with the names of the runners, for the reporter's input `runners`.
const RunnersVariable = "CUDALAB_RUNNERS"

// Result is what the reporter takes for one runner.
type Result struct {
	Version  int     `json:"version"`
	Status   string  `json:"status"` // "pass", "fail" or "error"
	MaxScore float64 `json:"max_score"`
	Tests    []Test  `json:"tests"`
}

// Test is one test of a runner.
type Test struct {
	Name     string  `json:"name"`
	Status   string  `json:"status"`
	Score    float64 `json:"score"`
	Message  string  `json:"message"`
	TestCode string  `json:"test_code"`
	Filename string  `json:"filename"`
	LineNo   int     `json:"line_no"`
	Duration int     `json:"duration"` // in milliseconds; not measured
}

// What the reporter calls outcomes.
const (
	pass    = "pass"
	fail    = "fail"
	errored = "error"
)

// version is the only one that there is.
const version = 1

// Write writes one student's results as a JSON object of environment variables: the names of the runners, and for each
// runner its result as JSON in base64. A line NAME=VALUE for each belongs into the file that $GITHUB_ENV names.
func Write(w io.Writer, c *class.Class, s *class.Student) error {
	environment := map[string]string{}
	var names []string
	add := func(name string, r Result) error {
		text, err := jsontext.Marshal(r)
		names = append(names, name)
		environment[strings.ToUpper(name)+"_RESULTS"] = base64.StdEncoding.EncodeToString(text)
		return err
	}
	if s.Status != class.Graded {
		failed := Test{Name: "grading", Status: errored, Message: gradebook.Cut(gradebook.Clean(s.Problem), maxMessage)}
		if err := add("grading", Result{version, errored, s.MaxScore, []Test{failed}}); err != nil {
			return err
		}
	}
	for _, t := range gradebook.Tests(c, s) {
		if err := add(t.Exercise+"-"+t.ID, runner(t)); err != nil {
			return err
		}
	}
	environment[RunnersVariable] = strings.Join(names, ",")
	return jsontext.Write(w, environment)
}

// runner is the result of one check.
func runner(t gradebook.Test) Result {
	r := Result{Version: version, Status: fail, MaxScore: t.MaxPoints}
	if t.Status == verdict.Passed {
		r.Status = pass
	}
	parts, reached := equalParts(t.Points, t.MaxPoints)
	for i := range parts {
		test := Test{Name: t.Name, Status: fail, Message: gradebook.Cut(t.Text, maxMessage), Filename: gradebook.Cut(t.File, maxName), LineNo: t.Line}
		if parts > 1 {
			test.Name = fmt.Sprintf("%s (part %d of %d)", t.Name, i+1, parts)
		}
		if i < reached || parts == 1 && r.Status == pass {
			test.Status, test.Score = pass, t.MaxPoints/float64(parts)
		}
		r.Tests = append(r.Tests, test)
	}
	return r
}

// equalParts is the least number of equal parts of most of which some make points, and how many; to a hundredth of a point.
func equalParts(points, most float64) (parts, reached int) {
	p, m := int(math.Round(points*100)), int(math.Round(most*100))
	size, rest := m, p
	for rest > 0 {
		size, rest = rest, size%rest
	}
	if size == 0 {
		return 1, 0
	}
	return m / size, p / size
}
