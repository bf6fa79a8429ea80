// Package gradebook takes a student's grade apart into tests, as autograders and gradebooks of other makers show them:
// one for every check of every exercise, the same ones in the same order whatever became of the submission.
package gradebook

import (
	"fmt"
	"slices"

	"cudalab/grader/class"
	"cudalab/grader/suite/verdict"
)

// Test is one check as a gradebook shows it.
type Test struct {
	Number    string // "2.3": the third check of the class's second exercise
	Exercise  string // its name, "async-pipeline"
	Package   string // "asyncpipeline"
	ID        string // the check's, "results"
	Name      string // what is asked, in words
	Status    verdict.Status
	Points    float64
	MaxPoints float64
	Text      string // what is said about it, in lines without control characters; "" if there is nothing to say
	File      string // where its first error is, as in the submission; "" where no line is at fault
	Line      int
}

// Tests are those of one student, as the student may see them: of hidden checks there are only the points. Their points
// add up to the student's score, and what they are worth to the most that can be reached. A student without a grade has
// none.
func Tests(c *class.Class, s *class.Student) []Test {
	if s.Status != class.Graded {
		return nil
	}
	var tests []Test
	for i, e := range c.Exercises {
		r := s.Exercises[i]
		said := false
		for j, asked := range e.Checks {
			t := Test{Number: fmt.Sprintf("%d.%d", i+1, j+1), Exercise: e.Name, Package: e.Package, ID: asked.ID,
				Name:      asked.Name,
				MaxPoints: asked.MaxPoints}
			at := slices.IndexFunc(r.Checks, func(k verdict.Check) bool { return k.ID == asked.ID })
			if at >= 0 {
				t.answer(r.Checks[at])
			} else {
				t.explain(r, e, said)
				said = true
			}
			if r.Likely != nil && r.Likely.Check == asked.ID {
				t.Text += "\n\n" + Clean(r.Likely.Text())
			}
			if c.IsHidden(e.Name, asked.ID) {
				t.ID, t.Name, t.Text, t.File, t.Line = class.HiddenID, class.HiddenName, "", "", 0
			}
			tests = append(tests, t)
		}
	}
	return tests
}

func (t *Test) answer(c verdict.Check) {
	t.Status, t.Points, t.Text = c.Status, c.Points, Text(c)
	t.at(c)
}

// at is where the check's first error is.
func (t *Test) at(c verdict.Check) {
	i := slices.IndexFunc(c.Findings, func(f verdict.Finding) bool { return f.Severity == verdict.Error && f.File != "" })
	if i >= 0 {
		t.File, t.Line = Clean(c.Findings[i].File), c.Findings[i].Line
	}
}

// explain says why a check was never asked: at an exercise's first all there is to say, at the others where that is.
func (t *Test) explain(r verdict.Report, e class.Exercise, said bool) {
	t.Status = r.Status
	if said {
		t.Text = fmt.Sprintf("Not asked: %s. The first check of %s says more.", meanings[r.Status], e.Name)
		return
	}
	t.Text = "Not asked: " + meanings[r.Status] + "."
	if r.Message != "" {
		t.Text += "\n" + Clean(r.Message)
	}
	for _, c := range r.Checks {
		if slices.ContainsFunc(e.Checks, func(k class.Check) bool { return k.ID == c.ID }) {
			continue
		}
		t.at(c)
		if text := Text(c); text != "" {
			t.Text += "\n\n" + text
		}
	}
}

// meanings complete "Not asked: ".
var meanings = map[verdict.Status]string{
	verdict.Failed:      "the check before it ended the exercise",
	verdict.NotStarted:  "nothing was handed in, or the skeleton as it was",
	verdict.BuildFailed: "the code does not compile",
	verdict.Refused:     "the code uses what exercises may not use, so that it was not run",
	verdict.Timeout:     "the time was up",
	verdict.Crashed:     "the code ended before it was done",
	verdict.Unread:      "what was handed in could not be read; a person has to look",
	verdict.Errored:     "cudalab or the machine failed, which is not the code's fault",
}

// words are what a status is called.
var words = map[verdict.Status]string{
	verdict.Passed: "passed", verdict.Failed: "failed", verdict.Skipped: "not asked", verdict.NotStarted: "not started",
	verdict.BuildFailed: "does not compile", verdict.Refused: "refused", verdict.Timeout: "stopped, the time was up",
	verdict.Crashed: "crashed", verdict.Unread: "could not be read", verdict.Errored: "could not be checked",
}

// Word is what people call a status.
func Word(s verdict.Status) string { return words[s] }
