package platforms

import (
	"bytes"
	"io"

	"cudalab/grader/class"
	"cudalab/grader/judge/visible"
	"cudalab/grader/report/gradebook"
	"cudalab/grader/suite/verdict"
)

// MaxPrairieLearnSize is the largest document that PrairieLearn takes, in bytes; its manual says 1 MB.
const MaxPrairieLearnSize = 1_000_000

type prairieLearnResult struct {
	Gradable     bool               `json:"gradable"`
	Score        float64            `json:"score"` // from 0 to 1
	Message      string             `json:"message"`
	FormatErrors []string           `json:"format_errors,omitempty"`
	Tests        []prairieLearnTest `json:"tests"`
}

type prairieLearnTest struct {
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Points      float64 `json:"points"`
	MaxPoints   float64 `json:"max_points"`
	Message     string  `json:"message"`
	Output      string  `json:"output"`
}

// PrairieLearn writes one student's results as the results.json of a PrairieLearn external grader, as its manual has
// it: https://prairielearn.readthedocs.io/en/latest/externalGrading/. What could not be graded at all, because it does
// not compile, is refused, cannot be read, or because cudalab or the machine failed, is not gradable: it costs the
// student no attempt.
func PrairieLearn(w io.Writer, c *class.Class, s *class.Student) error {
	for limit := maxOutput; ; limit /= 2 {
		var text bytes.Buffer
		if err := visible.WriteJSON(&text, prairieLearnDocument(c, s, limit)); err != nil {
			return err
		}
		if text.Len() <= MaxPrairieLearnSize || limit == 0 {
			_, err := w.Write(text.Bytes())
			return err
		}
	}
}

// prairieLearnDocument says at most limit bytes about each test.
func prairieLearnDocument(c *class.Class, s *class.Student, limit int) prairieLearnResult {
	r := prairieLearnResult{Gradable: true, Message: gradebook.Cut(gradebook.Summary(c, s), maxOutput),
		Tests: []prairieLearnTest{}}
	if points, most, ok := s.Final(); ok && most > 0 {
		r.Score = min(1, points/most) // PrairieLearn takes no more
	}
	for _, t := range gradebook.Tests(c, s) {
		r.Tests = append(r.Tests, prairieLearnTest{Name: t.Number + " " + t.Exercise + ": " + t.ID, Description: t.Name,
			Points:    t.Points,
			MaxPoints: t.MaxPoints, Message: gradebook.Word(t.Status), Output: gradebook.Cut(t.Text, limit)})
	}
	if errors := unusable(s, limit); len(errors) > 0 {
		r.Gradable, r.FormatErrors = false, errors
	}
	return r
}

// unusable says why nothing of a submission could be graded; of one of which something could be it says nothing.
func unusable(s *class.Student, limit int) []string {
	if s.Status != class.Graded || s.Problem != "" {
		return []string{gradebook.Cut(gradebook.Clean(s.Problem), limit)}
	}
	var errors []string
	for _, r := range s.Exercises {
		switch r.Status {
		case verdict.NotStarted:
		case verdict.BuildFailed, verdict.Refused:
			text := r.Exercise + ": " + gradebook.Word(r.Status)
			for _, check := range r.Checks {
				text += "\n" + gradebook.Text(check)
			}
			errors = append(errors, gradebook.Cut(text, limit))
		default:
			return nil
		}
	}
	return errors
}
