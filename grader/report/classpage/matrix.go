package classpage

import (
	"slices"

	"cudalab/grader/class"
	"cudalab/grader/report/gradebook"
	"cudalab/grader/report/look"
	"cudalab/grader/suite"
)

// matrix has a row for each student and a column for each check.
type matrix struct {
	Legend []mark
	Rows   []matrixRow
}

type matrixRow struct {
	ID, Link string
	Total    string
	Cells    []cell
}

// cell is an exercise's points, or one check.
type cell struct{ Class, Text string }

// mark is what a status looks like: a sign that needs no colour, and a class of the style sheet.
type mark struct {
	Status            suite.Status
	Class, Sign, Name string
}

// marks in the order in which the signs sort, which the script knows too.
var marks = []mark{
	{suite.Passed, "p", "✓", "passed"},
	{suite.Failed, "f", "✗", "failed"},
	{suite.Skipped, "s", "–", "not asked, because of another check"},
	{suite.Crashed, "f", "C", "not asked: the code crashed"},
	{suite.Timeout, "f", "T", "not asked: the time was up"},
	{suite.BuildFailed, "b", "B", "does not compile"},
	{suite.Refused, "b", "R", "refused: uses what exercises may not use"},
	{suite.NotStarted, "o", "·", "not handed in, or not started"},
	{suite.Unread, "e", "?", "could not be read; a person has to look"},
	{suite.Errored, "e", "!", "could not be graded, by no fault of the student's"},
}

func markOf(s suite.Status) mark {
	i := slices.IndexFunc(marks, func(m mark) bool { return m.Status == s })
	return marks[max(i, 0)]
}

// statusOf is how a check ended, or where the report has no such check, the exercise.
func statusOf(r suite.Report, check string) suite.Status {
	for _, c := range r.Checks {
		if c.ID != check {
			continue
		}
		if c.Status == suite.Skipped && r.Status == suite.NotStarted {
			return suite.NotStarted
		}
		return c.Status
	}
	return r.Status
}

func newMatrix(c *class.Class) matrix {
	m := matrix{Legend: marks}
	for _, s := range c.Students {
		row := matrixRow{ID: gradebook.Clean(s.ID), Link: link(c, &s), Total: "none"}
		if points, _, ok := s.Final(); ok {
			row.Total = look.Points(points)
		}
		for i, e := range c.Exercises {
			r, decided := s.Report(i)
			points := cell{"x", ""}
			if decided {
				points.Text = look.Points(r.Score)
			}
			row.Cells = append(row.Cells, points)
			for _, k := range e.Checks {
				sign := markOf(statusOf(r, k.ID))
				row.Cells = append(row.Cells, cell{sign.Class, sign.Sign})
			}
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}
