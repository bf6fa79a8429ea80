// Package gradescope writes a student's grade as the results.json of a Gradescope autograder, as Gradescope's
// specification has it: https://gradescope-autograders.readthedocs.io/en/latest/specs/.
package gradescope

import (
	"io"

	"cudalab/grader/class"
	"cudalab/grader/report/gradebook"
	"cudalab/grader/suite/jsontext"
	"cudalab/grader/suite/verdict"
)

// maxOutput bounds what is said about one test, in bytes: what a student reads on one page.
const maxOutput = 8 << 10

// result is the document. Gradescope measures the time itself, so there is no execution_time.
type result struct {
	Score            *float64 `json:"score,omitempty"`
	Output           string   `json:"output"`
	OutputFormat     string   `json:"output_format"`
	Visibility       string   `json:"visibility"`
	StdoutVisibility string   `json:"stdout_visibility"`
	ExtraData        extra    `json:"extra_data"`
	Tests            []test   `json:"tests,omitempty"`
}

// extra is kept by Gradescope for later.
type extra struct {
	Student  string         `json:"student"`
	Seed     uint64         `json:"seed"`
	Device   verdict.Device `json:"device"`
	Versions class.Versions `json:"versions"`
	Page     string         `json:"page,omitempty"` // in the folder of results
}

type test struct {
	Score        float64  `json:"score"`
	MaxScore     float64  `json:"max_score"`
	Status       string   `json:"status"`
	Name         string   `json:"name"`
	Number       string   `json:"number"`
	Output       string   `json:"output"`
	OutputFormat string   `json:"output_format"`
	Tags         []string `json:"tags"`
	Visibility   string   `json:"visibility"`
}

// What Gradescope calls things.
const (
	formatText = "text"
	visible    = "visible"
	hidden     = "hidden"
	passed     = "passed"
	failed     = "failed"
)

// Write writes one student's results. Of a student without a grade they have no score and no tests, which Gradescope takes
// for an autograder that failed rather than for a zero.
func Write(w io.Writer, c *class.Class, s *class.Student) error {
	r := result{
		Output: gradebook.Cut(gradebook.Summary(c, s), maxOutput), OutputFormat: formatText, Visibility: visible,
		// What the program prints is for the instructor.
		StdoutVisibility: hidden,
		ExtraData:        extra{s.ID, c.Seed, c.Device, c.Versions, s.Page},
	}
	if points, _, ok := s.Final(); ok {
		r.Score = &points
	}
	for _, t := range gradebook.Tests(c, s) {
		status := failed
		if t.Status == verdict.Passed {
			status = passed
		}
		r.Tests = append(r.Tests, test{Score: t.Points, MaxScore: t.MaxPoints, Status: status, Name: t.Exercise + ": " + t.Name,
			Number: t.Number, Output: gradebook.Cut(t.Text, maxOutput), OutputFormat: formatText,
			Tags: []string{t.Exercise, t.ID}, Visibility: visible})
	}
	return jsontext.Write(w, r)
}
