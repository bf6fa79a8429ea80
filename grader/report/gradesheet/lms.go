package gradesheet

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
	text = bytes.TrimPrefix(text, []byte(bom))
	first, _, _ := bytes.Cut(text, []byte("\n"))
	s := &Sheet{comma: ','}
	for _, other := range ";\t" {
		if bytes.ContainsRune(first, other) && bytes.Count(first, []byte(string(other))) > bytes.Count(first,
			[]byte(string(s.comma))) {
			s.comma = other
		}
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma, r.FieldsPerRecord = s.comma, -1
	all, err := r.ReadAll()
	if err != nil {
		return nil,
			&class.UsageError{Message: fmt.Sprintf("The gradebook %s is no CSV: %v. Export it once more, and leave it as it "+
				"comes.", name, err)}
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
		return nil,
			&class.UsageError{Message: fmt.Sprintf("The gradebook %s is neither Canvas's nor Moodle's: its first row is %q. "+
				"Canvas's begins with Student, ID, …, Section; Moodle's has Email address or ID number, and the worksheet of an "+
				"assignment Identifier and Grade. Export it with English as the language.", name, strings.Join(s.head, ", "))}
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
