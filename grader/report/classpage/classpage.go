// Package classpage shows a class's results as one HTML file that needs nothing else: who passed what, how the scores are
// distributed, and what the commonest mistakes are. A second page, beside the timings, shows what was measured: it differs
// from one grading to the next, which the first never does.
//
// As on the page of one check everything can be read without scripts, without colour and without seeing it; scripts only sort
// the table of students.
package classpage

import (
	"embed"
	"html/template"
	"io"
	"net/url"

	"cudalab/grader/class"
	"cudalab/grader/report/gradebook"
	"cudalab/grader/report/look"
	"cudalab/grader/suite"
)

//go:embed page.html.tmpl timings.html.tmpl style.css script.js
var assets embed.FS

var layouts = template.Must(template.New("").Funcs(template.FuncMap{
	"points": look.Points,
	"inc":    func(i int) int { return i + 1 },
	"plural": look.Plural,
	"css": func() (template.CSS, error) {
		own, err := assets.ReadFile("style.css")
		return template.CSS(look.CSS + string(own)), err
	},
	"js": func() (template.JS, error) {
		text, err := assets.ReadFile("script.js")
		return template.JS(text), err
	},
}).ParseFS(assets, "*.tmpl"))

// Write writes the page of a class.
func Write(w io.Writer, c *class.Class) error {
	return layouts.ExecuteTemplate(w, "page.html.tmpl", newContent(c))
}

// content is what the template is given.
type content struct {
	*class.Class
	Graded     int        // students
	Ungraded   []sentence // those that could not be graded, by no fault of theirs
	Passed     int        // everything
	Median     float64    // of the graded students' scores
	Mean       float64
	MaxScore   float64
	Histograms []histogram
	Exercises  []exerciseRow
	Findings   []commonFinding
	Rest       int // kinds of findings that are not shown
	Builds     []buildProblem
	Unusable   []sentence
	Notes      []sentence
	Matrix     matrix
}

// sentence is something said about one student.
type sentence struct{ ID, Link, Text string }

func newContent(c *class.Class) *content {
	p := &content{Class: c, Histograms: histograms(c), Exercises: exerciseRows(c), Builds: buildProblems(c), Matrix: newMatrix(c)}
	p.Findings, p.Rest = commonFindings(c)
	var scores []float64
	for _, e := range c.Exercises {
		p.MaxScore += e.MaxScore
	}
	for i := range c.Students {
		s := &c.Students[i]
		say := func(text string) sentence { return sentence{s.ID, link(s.ID), gradebook.Clean(text)} }
		for _, note := range s.Notes {
			p.Notes = append(p.Notes, say(note))
		}
		if s.Status != class.Graded {
			p.Ungraded = append(p.Ungraded, say(s.Problem))
			continue
		}
		if s.Problem != "" {
			p.Unusable = append(p.Unusable, say(s.Problem))
		}
		if s.Passed() {
			p.Passed++
		}
		scores = append(scores, s.Score)
		p.Mean += s.Score
	}
	p.Graded = len(scores)
	if p.Graded > 0 {
		p.Mean /= float64(p.Graded)
		p.Median = median(scores)
	}
	return p
}

// link leads from the page to a student's result.
func link(id string) string { return "students/" + url.PathEscape(id) + ".json" }

// exerciseRow is how the class did in one exercise.
type exerciseRow struct {
	class.Exercise
	Passed, Failed, Crashed, Unbuilt, Refused, Missing int
	Median                                             float64 // of those who handed it in
	HandedIn                                           int
	Checks                                             []checkRow
}

// checkRow is how those did in one check who handed the exercise in.
type checkRow struct {
	class.Check
	Passed, Failed, NotAsked int
	Percent                  int // that passed, of those who handed in
}

func exerciseRows(c *class.Class) []exerciseRow {
	var rows []exerciseRow
	for i, e := range c.Exercises {
		row := exerciseRow{Exercise: e}
		for _, k := range e.Checks {
			row.Checks = append(row.Checks, checkRow{Check: k})
		}
		var scores []float64
		for _, s := range c.Students {
			if s.Status != class.Graded {
				continue
			}
			r := s.Exercises[i]
			row.count(r.Status)
			if r.Status == suite.NotStarted {
				continue
			}
			scores = append(scores, r.Score)
			for j := range row.Checks {
				row.Checks[j].count(r)
			}
		}
		row.HandedIn, row.Median = len(scores), median(scores)
		for j := range row.Checks {
			if k := &row.Checks[j]; row.HandedIn > 0 {
				k.Percent = (100*k.Passed + row.HandedIn/2) / row.HandedIn
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func (row *exerciseRow) count(s suite.Status) {
	switch s {
	case suite.Passed:
		row.Passed++
	case suite.NotStarted:
		row.Missing++
	case suite.BuildFailed:
		row.Unbuilt++
	case suite.Refused:
		row.Refused++
	case suite.Crashed, suite.Timeout:
		row.Crashed++
	default:
		row.Failed++
	}
}

func (k *checkRow) count(r suite.Report) {
	switch statusOf(r, k.ID) {
	case suite.Passed:
		k.Passed++
	case suite.Failed:
		k.Failed++
	default:
		k.NotAsked++
	}
}
