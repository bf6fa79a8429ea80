// Package codegrade writes a student's grade as the structured output of a Custom Test in CodeGrade's AutoTest V2: JSON messages, one
// a line, for the file descriptor 3. Sources: "AutoTest V2 Blocks", https://help.codegrade.com/automatic-grading-guides/autotest-v2-blocks,
// and CodeGrade's own reporter, which writes the same messages, https://pypi.org/project/cg-pytest-reporter.
package codegrade

import (
	"fmt"
	"io"

	"cudalab/grader/class"
	"cudalab/grader/report/gradebook"
	"cudalab/grader/report/look"
	"cudalab/grader/suite/jsontext"
	"cudalab/grader/suite/verdict"
)

// MaxMessage bounds a message, in bytes: CodeGrade drops what is larger.
const MaxMessage = 250_000

// maxReason bounds what is said about one check, in bytes; less where a message would be too large.
const maxReason = 8 << 10

type unitTest struct {
	Tag     string   `json:"tag"` // "unit-test"
	Results []result `json:"results"`
}

// result is a suite of tests: an exercise.
type result struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Weight    float64    `json:"weight"`
	TestCases []testCase `json:"testCases"`
}

type testCase struct {
	Name   string  `json:"name"`
	Status string  `json:"status"`
	Weight float64 `json:"weight"`
	Reason string  `json:"reason,omitempty"`
}

// points are what was reached of 1, as a fraction.
type points struct {
	Tag    string `json:"tag"` // "points"
	Points string `json:"points"`
}

// Write writes one student's results: a message for each exercise, and the points. Of a student without a grade there are no
// points, which CodeGrade takes for a test that failed to run.
func Write(w io.Writer, c *class.Class, s *class.Student) error {
	if s.Status != class.Graded {
		_, err := fmt.Fprintln(w, gradebook.Cut(gradebook.Clean(s.Problem), maxReason))
		return err
	}
	tests := gradebook.Tests(c, s)
	for _, e := range c.Exercises {
		if err := message(w, e, tests); err != nil {
			return err
		}
	}
	reached, most, _ := s.Final()
	if most <= 0 {
		return nil
	}
	return line(w, points{"points", look.Points(reached) + "/" + look.Points(most)})
}

func message(w io.Writer, e class.Exercise, tests []gradebook.Test) error {
	for limit := maxReason; ; limit /= 2 {
		r := result{ID: e.Name, Name: e.Title, Weight: e.MaxScore, TestCases: []testCase{}}
		for _, t := range tests {
			if t.Exercise == e.Name {
				r.TestCases = append(r.TestCases, testCase{t.Name, status(t.Status), t.MaxPoints, gradebook.Cut(t.Text, limit)})
			}
		}
		text, err := jsontext.Marshal(unitTest{"unit-test", []result{r}})
		if err != nil {
			return err
		}
		if len(text) < MaxMessage || limit == 0 {
			_, err = fmt.Fprintf(w, "%s\n", text)
			return err
		}
	}
}

// status is what CodeGrade calls ours. It leaves out of the points what it calls skipped; a check that could not be asked has none,
// and so it failed.
func status(s verdict.Status) string {
	if s == verdict.Passed {
		return "success"
	}
	return "failure"
}

func line(w io.Writer, v any) error {
	text, err := jsontext.Marshal(v)
	if err == nil {
		_, err = fmt.Fprintf(w, "%s\n", text)
	}
	return err
}
