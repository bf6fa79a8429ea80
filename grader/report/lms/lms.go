// Package lms fills in the gradebooks of Canvas and Moodle: what was exported there goes in, and what is to be imported there
// comes out, with the same people named in the same way.
//
// Canvas takes a CSV whose first columns are Student, ID, SIS User ID, SIS Login ID and Section, in this order, the two of SIS being
// optional, then a column for each assignment; a row "Points Possible" may follow the head. It finds people by ID, then by the SIS
// columns. Source: lib/gradebook_importer.rb of Canvas, https://github.com/instructure/canvas-lms.
//
// Moodle takes a CSV with any columns and asks what each means; people are found by e-mail address or ID number. Feedback without
// the grade in the same file would delete that. Source: "Grade import", https://docs.moodle.org/en/Grade_import. The worksheet of
// an assignment has an Identifier, "Participant 123", and comes back with all its columns as they were but the grade and the
// feedback. Source: mod/assign/feedback/offline of Moodle, https://github.com/moodle/moodle.
package lms

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/class"
)

// Kind is what a gradebook is from.
type Kind string

// The gradebooks that are known. The name is the file's that is to be imported, without its ending.
const (
	Canvas    Kind = "canvas"
	Moodle    Kind = "moodle"
	Worksheet Kind = "moodle-worksheet" // of one assignment
)

// Sheet is a gradebook as it was exported.
type Sheet struct {
	Kind  Kind
	head  []string
	most  []string // Canvas's row of what each column is worth; nil without
	rows  [][]string
	comma rune
}

// Read reads what Canvas or Moodle exported.
func Read(name string, text []byte) (*Sheet, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	first, _, _ := bytes.Cut(text, []byte("\n"))
	s := &Sheet{comma: ','}
	for _, other := range ";\t" {
		if bytes.ContainsRune(first, other) && bytes.Count(first, []byte(string(other))) > bytes.Count(first, []byte(string(s.comma))) {
			s.comma = other
		}
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma, r.FieldsPerRecord = s.comma, -1
	all, err := r.ReadAll()
	if err != nil {
		return nil, &class.UsageError{Message: fmt.Sprintf("The gradebook %s is no CSV: %v. Export it once more, and leave it as it comes.", name, err)}
	}
	if len(all) == 0 {
		return nil, &class.UsageError{Message: fmt.Sprintf("The gradebook %s is empty. Export it once more.", name)}
	}
	s.head = all[0]
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return s.column(n) < 0 })
	}
	switch {
	case has("Student", "ID", "Section") && s.column("Student") == 0 && s.column("ID") == 1:
		s.Kind = Canvas
	case has("Identifier", "Grade"):
		s.Kind = Worksheet
	case has("Email address"), has("ID number"):
		s.Kind = Moodle
	default:
		return nil, &class.UsageError{Message: fmt.Sprintf("The gradebook %s is neither Canvas's nor Moodle's: its first row is %q. Canvas's begins with "+
			"Student, ID, …, Section; Moodle's has Email address or ID number, and the worksheet of an assignment Identifier and Grade. "+
			"Export it with English as the language.", name, strings.Join(s.head, ", "))}
	}
	for _, row := range all[1:] {
		for len(row) < len(s.head) {
			row = append(row, "")
		}
		switch {
		case s.Kind == Canvas && strings.Contains(row[0], "Points Possible"):
			s.most = row
		case s.Kind == Canvas && row[1] == "" && strings.TrimSpace(row[0]) == "": // which columns are posted by hand
		default:
			s.rows = append(s.rows, row)
		}
	}
	return s, nil
}

// Of is a gradebook made from what is known of a class, for want of an exported one.
func Of(c *class.Class, kind Kind) *Sheet {
	s := &Sheet{Kind: kind, comma: ',', head: []string{"Student", "ID", "SIS User ID", "SIS Login ID", "Section"}}
	if kind == Moodle {
		s.head = []string{"Full name", "ID number", "Email address"}
	}
	for _, st := range c.Students {
		people := st.People
		if len(people) == 0 {
			people = []class.Person{{}}
		}
		for _, p := range people {
			name := firstOf(p.Name, st.ID)
			if kind == Moodle {
				s.rows = append(s.rows, []string{name, p.SID, p.Email})
			} else {
				s.rows = append(s.rows, []string{name, p.Platform, p.SID, firstOf(p.Login, p.Email), p.Section})
			}
		}
	}
	return s
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// column is where a column stands; -1 where there is none.
func (s *Sheet) column(name string) int {
	return slices.IndexFunc(s.head, func(h string) bool { return strings.EqualFold(strings.TrimSpace(h), name) })
}

// assignment is the column of an assignment, which Canvas heads "name (id)".
func (s *Sheet) assignment(name string) int {
	return slices.IndexFunc(s.head, func(h string) bool {
		title, id, ok := strings.Cut(strings.TrimSuffix(h, ")"), " (")
		return strings.EqualFold(h, name) || ok && strings.EqualFold(title, name) && strings.Trim(id, "0123456789") == ""
	})
}

// cell is what a row has in a column; "" where there is no such column.
func (s *Sheet) cell(row []string, name string) string {
	if i := s.column(name); i >= 0 {
		return strings.TrimSpace(row[i])
	}
	return ""
}
