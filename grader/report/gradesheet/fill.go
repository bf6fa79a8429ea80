package gradesheet

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"cudalab/grader/class"
	"cudalab/grader/report/gradebook"
	"cudalab/grader/report/look"
)

// maxFeedback bounds what Moodle is told about a student, in bytes.
const maxFeedback = 8 << 10

// Filled is what came of filling in a gradebook.
type Filled struct {
	match
	Column string  // that has the total
	Scaled float64 // what that is worth there, where it is not what the class's total is; 0: the same
	Held   []string
}

// filled is a column of what is written.
type filled struct {
	head  string
	worth float64 // what the column is worth
	score func(s *class.Student) (points, most float64)
}

func (f filled) cell(s *class.Student) string {
	v, most := f.score(s)
	if most > 0 {
		v *= f.worth / most
	}
	return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64)
}

// Write writes the gradebook to import. Only those are in it who have a grade: no cell is empty, which would take away
// what is there, and nobody has a zero who was not graded. Column is the assignment, or grade item, that gets the
// total.
func (s *Sheet) Write(w io.Writer, c *class.Class, column string) (Filled, error) {
	students, m := s.match(c)
	f := Filled{match: m, Column: column}
	most := 0.0
	for i := range c.Students {
		if _, of, ok := c.Students[i].Final(); ok {
			most = max(most, of)
		}
	}
	columns := []filled{{column, most, func(s *class.Student) (points, most float64) {
		points, most, _ = s.Final()
		return points, most
	}}}
	if s.Kind == Canvas {
		columns = s.assignments(c, columns)
		f.Column = columns[0].head
		if columns[0].worth != most {
			f.Scaled = columns[0].worth
		}
	}
	out := csv.NewWriter(w)
	out.Comma = s.comma
	rows := s.begin(columns)
	for i, k := range students {
		if k < 0 {
			continue
		}
		st := &c.Students[k]
		if st.Status != class.Graded {
			f.Held = append(f.Held, s.name(i))
			continue
		}
		rows = append(rows, s.row(s.rows[i], c, st, columns))
	}
	if err := out.WriteAll(rows); err != nil {
		return f, err
	}
	return f, nil
}

// assignments are Canvas's columns: the one for the total, and those that are called as an exercise is.
func (s *Sheet) assignments(c *class.Class, columns []filled) []filled {
	for i, e := range c.Exercises {
		for _, name := range []string{e.Name, e.Title} {
			if s.assignment(name) >= 0 {
				columns = append(columns, filled{name, e.MaxScore, func(s *class.Student) (points, most float64) {
					r, _ := s.Report(i) // whoever has a grade has one for each exercise
					return r.Score, e.MaxScore
				}})
				break
			}
		}
	}
	for k := range columns {
		at := s.assignment(columns[k].head)
		if at < 0 {
			continue
		}
		columns[k].head = s.head[at]
		if s.most != nil {
			if worth, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(s.most[at]), ",", "."), 64); err == nil &&
				worth > 0 {
				columns[k].worth = worth
			}
		}
	}
	return columns
}

// whose are how many of Canvas's columns say who it is.
func (s *Sheet) whose() int { return s.column("Section") + 1 }

// moodles are the columns by which Moodle knows people.
var moodles = []string{"First name", "Last name", "Surname", "Full name", "ID number", "Username", "Email address"}

// begin are the head and what belongs to it.
func (s *Sheet) begin(columns []filled) [][]string {
	switch s.Kind {
	case Canvas:
		head := append([]string{}, s.head[:s.whose()]...)
		most := append([]string{"    Points Possible"}, make([]string, s.whose()-1)...)
		for _, c := range columns {
			head, most = append(head, c.head), append(most, look.Points(c.worth))
		}
		return [][]string{head, most}
	case Worksheet:
		return [][]string{s.head}
	}
	var head []string
	for _, name := range moodles {
		if s.column(name) >= 0 {
			head = append(head, name)
		}
	}
	return [][]string{append(head, columns[0].head, columns[0].head+" (feedback)")}
}

// row is a student's.
func (s *Sheet) row(row []string, c *class.Class, st *class.Student, columns []filled) []string {
	var cells []string
	switch s.Kind {
	case Canvas:
		for _, text := range row[:s.whose()] {
			cells = append(cells, textCell(text))
		}
		for _, col := range columns {
			cells = append(cells, col.cell(st))
		}
		return cells
	case Worksheet:
		for _, text := range row {
			cells = append(cells, textCell(text))
		}
		grade := columns[0]
		if worth, err := strconv.ParseFloat(strings.ReplaceAll(s.cell(row, "Maximum Grade"), ",", "."), 64); err == nil &&
			worth > 0 {
			grade.worth = worth
		}
		cells[s.column("Grade")] = grade.cell(st)
		if i := s.column("Feedback comments"); i >= 0 {
			cells[i] = feedback(c, st)
		}
		return cells
	}
	for _, name := range moodles {
		if s.column(name) >= 0 {
			cells = append(cells, textCell(s.cell(row, name)))
		}
	}
	return append(cells, columns[0].cell(st), feedback(c, st))
}

// feedback is what Moodle tells the student. Notes on what was handed in may name others; they are for the instructor.
func feedback(c *class.Class, st *class.Student) string {
	told := *st
	told.Notes = nil
	text := gradebook.Summary(c, &told)
	if st.Page != "" {
		text += "\nPage: " + st.Page
	}
	return textCell(gradebook.Cut(text, maxFeedback))
}

// Sentences say what came of it, for a person.
func (f *Filled) Sentences(file string) []string {
	n := 0
	var by []string
	for _, way := range ways {
		if k := f.Found[way.name]; k > 0 {
			n += k
			by = append(by, fmt.Sprintf("%d by %s", k, way.name))
		}
	}
	all := []string{fmt.Sprintf("%s has %s of %d in the gradebook, found %s, for the column %q.", file,
		look.Plural(n-len(f.Held), "grade"), n+len(f.Empty)+len(f.Unclear),
		firstOf(strings.Join(by, ", "), "by nothing"), f.Column)}
	if f.Scaled > 0 {
		all = append(all, fmt.Sprintf("The points are scaled to the %s that the column is worth there.",
			look.Points(f.Scaled)))
	}
	for _, list := range []struct {
		what string
		who  []string
	}{
		{"Not in the gradebook, and so in no row", f.Without}, {"In the gradebook, but with no result", f.Empty},
		{"Left out, because it is not clear who it is", f.Unclear}, {"Left out, because they have no grade yet", f.Held},
	} {
		if len(list.who) > 0 {
			const few = 30
			who := list.who
			if more := len(who) - few; more > 0 {
				who = append(append([]string{}, who[:few]...), fmt.Sprintf("%d more", more))
			}
			all = append(all, fmt.Sprintf("%s: %s.", list.what, gradebook.Clean(strings.Join(who, ", "))))
		}
	}
	return all
}
