package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/report"
	"cudalab/grader/suite/verdict"
)

// sourceFile is a file of the student's with the lines that findings are about.
type sourceFile struct {
	Name  string
	Lines []sourceLine
}

type sourceLine struct {
	N      int
	Anchor string
	Text   string
	Marks  []lineMark
}

// lineMark points from a line to a finding.
type lineMark struct {
	Finding int    // its number
	Link    string // its anchor
	Rule    string // of its own line; of a related one what it has to do with it
	Class   string // "error", "remark" or "related"
}

// sources keeps the files of a page.
type sources struct {
	read   func(file string) ([]byte, error)
	prefix string // of all anchors
	files  []*sourceFile
	known  map[string]int // by name: its number from 1; 0 where it cannot be read
}

// file is the number of a file, counted from 1; 0 where it cannot be had.
func (s *sources) file(name string) int {
	if n, ok := s.known[name]; ok {
		return n
	}
	text, err := s.read(name)
	if name == "" || err != nil {
		s.known[name] = 0
		return 0
	}
	f := &sourceFile{Name: report.Harmless(name)}
	n := len(s.files) + 1
	for i, l := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		f.Lines = append(f.Lines, sourceLine{N: i + 1, Anchor: s.anchor(n, i+1), Text: report.Harmless(strings.TrimSuffix(l,
			"\r"))})
	}
	s.files = append(s.files, f)
	s.known[name] = n
	return n
}

func (s *sources) anchor(file, line int) string {
	return fmt.Sprintf("%sf%d-L%d", s.prefix, file, line)
}

// link is the anchor of a line, "#f1-L44"; "" where there is none.
func (s *sources) link(name string, line int) string {
	n := s.file(name)
	if n == 0 || line < 1 || line > len(s.files[n-1].Lines) {
		return ""
	}
	return "#" + s.anchor(n, line)
}

// mark notes a finding at its lines.
func (s *sources) mark(number int, link string, f verdict.Finding) {
	s.at(f.File, f.Line, lineMark{number, link, f.Rule, string(f.Severity)})
	for _, r := range f.Related {
		s.at(r.File, r.Line, lineMark{number, link, r.Message, "related"})
	}
}

func (s *sources) at(name string, line int, m lineMark) {
	if s.link(name, line) == "" {
		return
	}
	l := &s.files[s.known[name]-1].Lines[line-1]
	same := func(o lineMark) bool { return o.Finding == m.Finding }
	if !slices.ContainsFunc(l.Marks, same) {
		l.Marks = append(l.Marks, m)
	}
	slices.SortStableFunc(l.Marks, func(a, b lineMark) int { return cmp.Compare(rankOf(a.Class), rankOf(b.Class)) })
}

// around is how many lines an excerpt shows before and behind the one at fault.
const around = 1

// excerpt is the lines around a finding's, and those that are related. A line without a number stands for what is
// between them.
func (s *sources) excerpt(finding int, name string, line int) (lines []sourceLine) {
	if s.link(name, line) == "" {
		return nil
	}
	last := 0
	for _, l := range s.files[s.known[name]-1].Lines {
		about := slices.IndexFunc(l.Marks, func(m lineMark) bool { return m.Finding == finding })
		if near := l.N >= line-around && l.N <= line+around; about < 0 && !near {
			continue
		}
		if last > 0 && l.N > last+1 {
			lines = append(lines, sourceLine{})
		}
		last = l.N
		if l.Marks = nil; about >= 0 {
			l.Marks = s.files[s.known[name]-1].Lines[l.N-1].Marks[about : about+1]
		}
		lines = append(lines, l)
	}
	return dedented(lines)
}

// dedented takes off the tabs that all lines begin with: they are room that a narrow screen does not have.
func dedented(lines []sourceLine) []sourceLine {
	tabs := -1
	for _, l := range lines {
		if n := len(l.Text) - len(strings.TrimLeft(l.Text, "\t")); strings.TrimSpace(l.Text) != "" && (tabs < 0 || n < tabs) {
			tabs = n
		}
	}
	for i := range lines {
		lines[i].Text = lines[i].Text[min(max(tabs, 0), len(lines[i].Text)):]
	}
	return lines
}

func rankOf(class string) int { return slices.Index([]string{"error", "remark", "related"}, class) }

// Class is the gravest of a line's marks.
func (l sourceLine) Class() string {
	if len(l.Marks) == 0 {
		return ""
	}
	return l.Marks[0].Class
}
