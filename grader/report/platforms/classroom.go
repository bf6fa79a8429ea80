package platforms

import (
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"strings"

	"cudalab/grader/class"
	"cudalab/grader/judge/visible"
	"cudalab/grader/report/gradebook"
	"cudalab/grader/suite/verdict"
)

// maxClassroomMessage bounds what is said about one check, in bytes. All of it is in the environment of one process, of
// which Linux allows 128 KiB for a variable and some MiB in all.
const maxClassroomMessage = 2 << 10

// maxName bounds a file's name, in bytes; no system has longer ones.
const maxName = 255

// ClassroomRunners names the environment variable with the names of the runners, for the reporter's input `runners`.
const ClassroomRunners = "CUDALAB_RUNNERS"

// ClassroomResult is what the reporter takes for one runner.
type ClassroomResult struct {
	Version  int             `json:"version"`
	Status   string          `json:"status"` // "pass", "fail" or "error"
	MaxScore float64         `json:"max_score"`
	Tests    []classroomTest `json:"tests"`
}

// classroomTest is one test of a runner.
type classroomTest struct {
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

// classroomVersion is the only one that there is.
const classroomVersion = 1

// Classroom writes one student's results for GitHub Classroom's autograding reporter,
// https://github.com/classroom-resources/autograding-grading-reporter, as a JSON object of environment variables: the
// names of what it calls runners, and for each runner its result as JSON in base64. A line NAME=VALUE for each belongs
// into the file that $GITHUB_ENV names.
//
// The reporter counts points twice: the notice that Classroom reads is the sum of the tests' scores, the table in the
// log is the passed part of a runner's tests times its maximum. Both agree where all tests of a runner are worth the
// same. So every check is a runner with one test; points for a part of a check, if ever there are any, make it several
// equal tests.
func Classroom(w io.Writer, c *class.Class, s *class.Student) error {
	environment := map[string]string{}
	var names []string
	add := func(name string, r ClassroomResult) error {
		text, err := visible.JSON(r)
		names = append(names, name)
		environment[strings.ToUpper(name)+"_RESULTS"] = base64.StdEncoding.EncodeToString(text)
		return err
	}
	if s.Status != class.Graded {
		failed := classroomTest{Name: "grading", Status: errored, Message: gradebook.Cut(gradebook.Clean(s.Problem),
			maxClassroomMessage)}
		if err := add("grading", ClassroomResult{classroomVersion, errored, s.MaxScore,
			[]classroomTest{failed}}); err != nil {
			return err
		}
	}
	for _, t := range gradebook.Tests(c, s) {
		if err := add(t.Exercise+"-"+t.ID, classroomRunner(t)); err != nil {
			return err
		}
	}
	environment[ClassroomRunners] = strings.Join(names, ",")
	return visible.WriteJSON(w, environment)
}

// classroomRunner is the result of one check.
func classroomRunner(t gradebook.Test) ClassroomResult {
	r := ClassroomResult{Version: classroomVersion, Status: fail, MaxScore: t.MaxPoints}
	if t.Status == verdict.Passed {
		r.Status = pass
	}
	parts, reached := equalParts(t.Points, t.MaxPoints)
	for i := range parts {
		test := classroomTest{Name: t.Name, Status: fail, Message: gradebook.Cut(t.Text, maxClassroomMessage),
			Filename: gradebook.Cut(t.File, maxName), LineNo: t.Line}
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

// equalParts is the least number of equal parts of most of which some make points, and how many; to a hundredth of a
// point.
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
