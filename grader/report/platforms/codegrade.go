package platforms

import (
	"fmt"
	"io"

	"cudalab/grader/class"
	"cudalab/grader/judge/visible"
	"cudalab/grader/report/gradebook"
	"cudalab/grader/report/look"
	"cudalab/grader/suite/verdict"
)

// MaxCodeGradeMessage bounds a message, in bytes: CodeGrade drops what is larger.
const MaxCodeGradeMessage = 250_000

// maxReason bounds what is said about one check, in bytes; less where a message would be too large.
const maxReason = 8 << 10

type codeGradeTest struct {
	Tag     string           `json:"tag"` // "unit-test"
	Results []codeGradeSuite `json:"results"`
}

// codeGradeSuite is a suite of tests: an exercise.
type codeGradeSuite struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Weight    float64         `json:"weight"`
	TestCases []codeGradeCase `json:"testCases"`
}

type codeGradeCase struct {
	Name   string  `json:"name"`
	Status string  `json:"status"`
	Weight float64 `json:"weight"`
	Reason string  `json:"reason,omitempty"`
}

// codeGradePoints are what was reached of 1, as a fraction.
type codeGradePoints struct {
	Tag    string `json:"tag"` // "points"
	Points string `json:"points"`
}

// CodeGrade writes one student's results as the structured output of a Custom Test in CodeGrade's AutoTest V2: JSON
// messages, one a line, for the file descriptor 3. There is a message for each exercise, and the points. Of a student
// without a grade there are no points, which CodeGrade takes for a test that failed to run.
//
// Sources: "AutoTest V2 Blocks", https://help.codegrade.com/automatic-grading-guides/autotest-v2-blocks, and
// CodeGrade's own reporter, which writes the same messages, https://pypi.org/project/cg-pytest-reporter.
func CodeGrade(w io.Writer, c *class.Class, s *class.Student) error {
	if s.Status != class.Graded {
		_, err := fmt.Fprintln(w, gradebook.Cut(gradebook.Clean(s.Problem), maxReason))
		return err
	}
	tests := gradebook.Tests(c, s)
	for _, e := range c.Exercises {
		if err := codeGradeMessage(w, e, tests); err != nil {
			return err
		}
	}
	reached, most, _ := s.Final()
	if most <= 0 {
		return nil
	}
	return writeLine(w, codeGradePoints{"points", look.Points(reached) + "/" + look.Points(most)})
}

func codeGradeMessage(w io.Writer, e class.Exercise, tests []gradebook.Test) error {
	for limit := maxReason; ; limit /= 2 {
		r := codeGradeSuite{ID: e.Name, Name: e.Title, Weight: e.MaxScore, TestCases: []codeGradeCase{}}
		for _, t := range tests {
			if t.Exercise == e.Name {
				r.TestCases = append(r.TestCases, codeGradeCase{t.Name, codeGradeStatus(t.Status), t.MaxPoints,
					gradebook.Cut(t.Text, limit)})
			}
		}
		text, err := visible.JSON(codeGradeTest{"unit-test", []codeGradeSuite{r}})
		if err != nil {
			return err
		}
		if len(text) < MaxCodeGradeMessage || limit == 0 {
			_, err = fmt.Fprintf(w, "%s\n", text)
			return err
		}
	}
}

// codeGradeStatus is what CodeGrade calls ours. It leaves out of the points what it calls skipped; a check that could
// not be asked has none, and so it failed.
func codeGradeStatus(s verdict.Status) string {
	if s == verdict.Passed {
		return "success"
	}
	return "failure"
}

func writeLine(w io.Writer, v any) error {
	text, err := visible.JSON(v)
	if err == nil {
		_, err = fmt.Fprintf(w, "%s\n", text)
	}
	return err
}
