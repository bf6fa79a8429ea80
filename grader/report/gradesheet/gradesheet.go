// Package gradesheet writes a class's grades as CSV (RFC 4180), one row for each student, for spreadsheets and
// gradebooks.
//
// It also fills in the gradebooks of Canvas and Moodle: what was exported there goes in, and what is to be imported
// there comes out, with the same people named in the same way.
//
// Canvas takes a CSV whose first columns are Student, ID, SIS User ID, SIS Login ID and Section, in this order, the two
// of SIS being optional, then a column for each assignment; a row "Points Possible" may follow the head. It finds
// people by ID, then by the SIS columns. Source: lib/gradebook_importer.rb of Canvas,
// https://github.com/instructure/canvas-lms.
//
// Moodle takes a CSV with any columns and asks what each means; people are found by e-mail address or ID number.
// Feedback without the grade in the same file would delete that. Source: "Grade import",
// https://docs.moodle.org/en/Grade_import. The worksheet of an assignment has an Identifier, "Participant 123", and
// comes back with all its columns as they were but the grade and the feedback. Source: mod/assign/feedback/offline of
// Moodle, https://github.com/moodle/moodle.
package gradesheet

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"cudalab/grader/class"
	"cudalab/grader/report/gradebook"
)

// bom begins the file: without it spreadsheets take UTF-8 for the system's old encoding and spoil every name with an
// umlaut. Readers in programs that do not expect it have to be told, such as Python's encoding "utf-8-sig".
const bom = "\ufeff"

// Write writes the grades. A cell without a number is no grade: nothing was graded there by no fault of the student's.
func Write(w io.Writer, c *class.Class) error {
	if _, err := io.WriteString(w, bom); err != nil {
		return err
	}
	rows := csv.NewWriter(w)
	rows.UseCRLF = true // as RFC 4180 has it
	head := []string{"student", "status", "total", "maximum"}
	for _, e := range c.Exercises {
		head = append(head, e.Name, e.Name+" maximum", e.Name+" status")
	}
	policy := slices.ContainsFunc(c.Students, func(s class.Student) bool { return s.Grade != nil })
	if policy {
		head = append(head, "grade", "grade maximum", "how it came about")
	}
	if err := rows.Write(append(head, "page", "problem")); err != nil {
		return err
	}
	for i := range c.Students {
		if err := rows.Write(row(c, &c.Students[i], policy)); err != nil {
			return err
		}
	}
	rows.Flush()
	return rows.Error()
}

func row(c *class.Class, s *class.Student, policy bool) []string {
	cells := []string{textCell(s.ID), string(s.Status), "", number(s.MaxScore)}
	if s.Status == class.Graded {
		cells[2] = number(s.Score)
	}
	for i, e := range c.Exercises {
		r, decided := s.Report(i)
		score := ""
		if decided {
			score = number(r.Score)
		}
		cells = append(cells, score, number(e.MaxScore), string(r.Status))
	}
	if policy {
		grade := []string{"", "", ""}
		if g := s.Grade; g != nil {
			grade = []string{number(g.Points), number(g.Max), textCell(strings.Join(g.How, " "))}
		}
		cells = append(cells, grade...)
	}
	return append(cells, textCell(s.Page), textCell(s.Problem))
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// formula are the characters that may make a spreadsheet compute a cell, also the wide forms of East Asian keyboards.
const formula = "=+-@\t\r\n＝＋－＠"

// textCell is a cell that students may have had a hand in: a spreadsheet takes what begins like a formula for one
// unless an apostrophe stands in front. A blank does not protect, it is skipped. A sign alone, which some gradebooks
// write where there is no grade, computes nothing.
func textCell(s string) string {
	s = gradebook.Clean(s)
	if said := strings.TrimSpace(s); utf8.RuneCountInString(said) > 1 && strings.IndexAny(said, formula) == 0 ||
		strings.IndexAny(s, "\t\r\n") == 0 {
		return "'" + s
	}
	return s
}
