package platforms

import (
	"fmt"
	"io"

	"cudalab/grader/class"
	"cudalab/grader/judge/visible"
	"cudalab/grader/report/gradebook"
	"cudalab/grader/suite/verdict"
)

// maxHint bounds what is said about one check, in bytes.
const maxHint = 2 << 10

// autolabOutcome is one test of a stage.
type autolabOutcome struct {
	Passed bool   `json:"passed"`
	Hint   string `json:"hint,omitempty"`
}

// Autolab writes one student's results as an autograder of Autolab's ends its output: a line of formatted feedback and,
// as the last line, the scores. The problems are the exercises by name. Of a student without a grade there are no
// scores, which Autolab takes for an autograder that failed rather than for a zero.
//
// Sources: "Guide for Lab Authors", https://docs.autolabproject.com/lab/, and "Formatted Feedback",
// https://docs.autolabproject.com/features/formatted-feedback/.
func Autolab(w io.Writer, c *class.Class, s *class.Student) error {
	if s.Status != class.Graded {
		_, err := fmt.Fprintln(w, gradebook.Cut(gradebook.Clean(s.Problem), maxHint))
		return err
	}
	feedback := map[string]any{"_presentation": "semantic"}
	scores := map[string]float64{}
	stages := []string{}
	for i, e := range c.Exercises {
		stages = append(stages, e.Name)
		scores[e.Name] = s.Exercises[i].Score
		outcomes := map[string]autolabOutcome{}
		for _, t := range gradebook.Tests(c, s) {
			if t.Exercise == e.Name {
				outcomes[t.ID] = autolabOutcome{t.Status == verdict.Passed, gradebook.Cut(t.Text, maxHint)}
			}
		}
		feedback[e.Name] = outcomes
	}
	feedback["stages"] = stages
	for _, line := range []any{feedback, map[string]any{"scores": scores}} {
		text, err := visible.JSON(line)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s\n", text); err != nil {
			return err
		}
	}
	return nil
}
