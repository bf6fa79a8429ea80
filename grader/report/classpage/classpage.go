// Package classpage shows a class's results as one HTML file that needs nothing else: who passed what, how the scores
// are distributed, and what the commonest mistakes are. A second page, beside the timings, shows what was measured: it
// differs from one grading to the next, which the first never does.
//
// As on the page of one check everything can be read without scripts, without colour and without seeing it; scripts
// only sort the table of students.
package classpage

import (
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"slices"
	"sync"
	"time"

	"cudalab/grader/class"
	"cudalab/grader/class/policy"
	"cudalab/grader/report/gradebook"
	"cudalab/grader/report/look"
	"cudalab/grader/suite/verdict"
)

//go:embed page.html.tmpl timings.html.tmpl style.css script.js
var assets embed.FS

var layouts = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
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
})

// Write writes the page of a class.
func Write(w io.Writer, c *class.Class) error {
	return layouts().ExecuteTemplate(w, "page.html.tmpl", newContent(c))
}

// content is what the template is given.
type content struct {
	*class.Class
	Graded     int        // students
	NoGrade    int        // students: Graded and these are all
	Ungraded   []sentence // those that could not be graded, by no fault of theirs
	Stuck      []stuck
	Passed     int     // everything
	Median     float64 // of the graded students' scores
	Mean       float64
	MaxScore   float64
	Histograms []histogram
	Exercises  []exerciseRow
	Findings   []commonFinding
	Rest       int // kinds of findings that are not shown
	Builds     []buildProblem
	Unusable   []sentence
	Attention  []sentence
	Absent     []string
	Notes      []sentence
	Matrix     matrix
	Grades     []grade // as the instructor's policy makes them; none where there is no policy
}

// grade is a grade and how it came about.
type grade struct {
	ID, Link string
	*policy.Grade
}

// sentence is something said about one student.
type sentence struct{ ID, Link, Text string }

func newContent(c *class.Class) *content {
	p := &content{Class: c, Histograms: histograms(c), Exercises: exerciseRows(c), Builds: buildProblems(c),
		Matrix: newMatrix(c), Stuck: stuckAt(c)}
	p.Findings, p.Rest = commonFindings(c)
	for _, a := range c.Attention {
		said := sentence{ID: gradebook.Clean(a.ID), Text: gradebook.Clean(a.Text)}
		if i := slices.IndexFunc(c.Students, func(s class.Student) bool { return s.ID == a.ID }); i >= 0 {
			said.Link = link(c, &c.Students[i])
		}
		p.Attention = append(p.Attention, said)
	}
	for _, who := range c.Absent {
		p.Absent = append(p.Absent, gradebook.Clean(cmp.Or(who.Name, who.Login, who.Email, who.SID, who.Platform)))
	}
	var scores []float64
	best := 0.0 // that a policy's grade can be
	for _, e := range c.Exercises {
		p.MaxScore += e.MaxScore
	}
	for i := range c.Students {
		s := &c.Students[i]
		say := func(text string) sentence { return sentence{gradebook.Clean(s.ID), link(c, s), gradebook.Clean(text)} }
		for _, note := range s.Notes {
			p.Notes = append(p.Notes, say(note))
		}
		if s.Status == class.Unread {
			continue // Attention has it
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
		points, most, _ := s.Final()
		scores = append(scores, points)
		p.Mean += points
		if s.Grade != nil {
			best = max(best, most)
			p.Grades = append(p.Grades, grade{gradebook.Clean(s.ID), link(c, s), s.Grade})
		}
	}
	if best > 0 {
		p.MaxScore = best
	}
	p.Graded, p.NoGrade = len(scores), len(c.Students)-len(scores)
	if p.Graded > 0 {
		p.Mean /= float64(p.Graded)
		p.Median = median(scores)
	}
	return p
}

// link leads from the page to a student's own one, or where there is none to the result, which is not for others to
// see.
func link(c *class.Class, s *class.Student) string {
	switch {
	case s.Page != "":
		return s.Page
	case c.Pseudonyms:
		return ""
	}
	return "students/" + url.PathEscape(s.ID) + ".json"
}

// Head is how the page begins.
func (p *content) Head() head {
	h := head{Title: "Class report"}
	if p.Live != nil && !p.Live.Stopped {
		h.Title, h.Refresh = fmt.Sprintf("%d of %d", p.Live.Done, p.Live.Total), renewed
	}
	return h
}

// head is how a page begins.
type head struct {
	Title   string
	Refresh int // seconds; 0: never
}

// renewed is after how many seconds a browser reads the page of a running grading again.
const renewed = 10

// Now says how far a running grading has come.
func (p *content) Now() string {
	l := p.Live
	what := "graded"
	if l.Pages {
		what = "students' pages are drawn"
	}
	text := fmt.Sprintf("%d of %d %s", l.Done, l.Total, what)
	switch {
	case l.Done == 0 || l.Done == l.Total || l.Stopped:
	case l.Left < 90*time.Second:
		text += fmt.Sprintf(", about %d s left", max(1, int(l.Left.Round(time.Second)/time.Second)))
	default:
		text += fmt.Sprintf(", about %d min left", int(l.Left.Round(time.Minute)/time.Minute))
	}
	return text
}

// exerciseRow is how the class did in one exercise.
type exerciseRow struct {
	class.Exercise
	// Each student is in one of these.
	Passed, Failed, Crashed, Unbuilt, Refused, Missing, Undecided int

	Median   float64 // of those who handed it in
	HandedIn int
	Checks   []checkRow
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
				row.Undecided++
				continue
			}
			r := s.Exercises[i]
			row.count(r.Status)
			if r.Status == verdict.NotStarted {
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

func (row *exerciseRow) count(s verdict.Status) {
	switch s {
	case verdict.Passed:
		row.Passed++
	case verdict.NotStarted:
		row.Missing++
	case verdict.BuildFailed:
		row.Unbuilt++
	case verdict.Refused:
		row.Refused++
	case verdict.Crashed, verdict.Timeout:
		row.Crashed++
	default:
		row.Failed++
	}
}

func (k *checkRow) count(r verdict.Report) {
	switch statusOf(r, k.ID) {
	case verdict.Passed:
		k.Passed++
	case verdict.Failed:
		k.Failed++
	default:
		k.NotAsked++
	}
}
