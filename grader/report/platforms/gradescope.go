package platforms

import (
	"io"

	"cudalab/grader/class"
	"cudalab/grader/judge/visible"
	"cudalab/grader/report/gradebook"
	"cudalab/grader/suite/verdict"
)

// gradescopeResult is the document. Gradescope measures the time itself, so there is no execution_time.
type gradescopeResult struct {
	Score            *float64         `json:"score,omitempty"`
	Output           string           `json:"output"`
	OutputFormat     string           `json:"output_format"`
	Visibility       string           `json:"visibility"`
	StdoutVisibility string           `json:"stdout_visibility"`
	ExtraData        gradescopeExtra  `json:"extra_data"`
	Tests            []gradescopeTest `json:"tests,omitempty"`
}

// gradescopeExtra is kept by Gradescope for later.
type gradescopeExtra struct {
	Student  string         `json:"student"`
	Seed     uint64         `json:"seed"`
	Device   verdict.Device `json:"device"`
	Versions class.Versions `json:"versions"`
	Page     string         `json:"page,omitempty"` // in the folder of results
}

type gradescopeTest struct {
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
	gradescopeText    = "text"
	gradescopeVisible = "visible"
	gradescopeHidden  = "hidden"
	gradescopePassed  = "passed"
	gradescopeFailed  = "failed"
)

// Gradescope writes one student's results as the results.json of a Gradescope autograder, as Gradescope's specification
// has it: https://gradescope-autograders.readthedocs.io/en/latest/specs/. Of a student without a grade they have no
// score and no tests, which Gradescope takes for an autograder that failed rather than for a zero.
func Gradescope(w io.Writer, c *class.Class, s *class.Student) error {
	r := gradescopeResult{
		Output: gradebook.Cut(gradebook.Summary(c, s), maxOutput), OutputFormat: gradescopeText,
		Visibility: gradescopeVisible,
		// What the program prints is for the instructor.
		StdoutVisibility: gradescopeHidden,
		ExtraData:        gradescopeExtra{s.ID, c.Seed, c.Device, c.Versions, s.Page},
	}
	if points, _, ok := s.Final(); ok {
		r.Score = &points
	}
	for _, t := range gradebook.Tests(c, s) {
		status := gradescopeFailed
		if t.Status == verdict.Passed {
			status = gradescopePassed
		}
		r.Tests = append(r.Tests, gradescopeTest{Score: t.Points, MaxScore: t.MaxPoints, Status: status, Name: t.Exercise +
			": " + t.Name,
			Number: t.Number, Output: gradebook.Cut(t.Text, maxOutput), OutputFormat: gradescopeText,
			Tags: []string{t.Exercise, t.ID}, Visibility: gradescopeVisible})
	}
	return visible.WriteJSON(w, r)
}
