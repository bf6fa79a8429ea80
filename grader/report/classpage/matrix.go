package classpage

import (
	"slices"

	"cudalab/grader/class"
	"cudalab/grader/report/gradebook"
	"cudalab/grader/report/look"
	"cudalab/grader/suite/verdict"
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
	Status            verdict.Status
	Class, Sign, Name string
}

// marks in the order in which the signs sort, which the script knows too.
var marks = []mark{
	{verdict.Passed, "p", "✓", "passed"},
	{verdict.Failed, "f", "✗", "failed"},
	{verdict.Skipped, "s", "–", "not asked, because of another check"},
	{verdict.Crashed, "f", "C", "not asked: the code crashed"},
	{verdict.Timeout, "f", "T", "not asked: the time was up"},
	{verdict.BuildFailed, "b", "B", "does not compile"},
	{verdict.Refused, "b", "R", "refused: uses what exercises may not use"},
	{verdict.NotStarted, "o", "·", "not handed in, or not started"},
	{verdict.Unread, "e", "?", "could not be read; a person has to look"},
	{verdict.Errored, "e", "!", "could not be graded, by no fault of the student's"},
}

func markOf(s verdict.Status) mark {
	i := slices.IndexFunc(marks, func(m mark) bool { return m.Status == s })
	return marks[max(i, 0)]
}

// statusOf is how a check ended, or where the report has no such check, the exercise.
func statusOf(r verdict.Report, check string) verdict.Status {
	for _, c := range r.Checks {
		if c.ID != check {
			continue
		}
		if c.Status == verdict.Skipped && r.Status == verdict.NotStarted {
			return verdict.NotStarted
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
