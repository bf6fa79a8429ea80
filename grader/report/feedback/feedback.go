// Package feedback shows a student's results as one HTML file that needs nothing else: every exercise with its verdict,
// its findings beside the student's lines, and the films and pictures that `check --html` draws of them. It tells of
// nobody else, and can be given to the student as it is.
package feedback

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"slices"
	"sync"

	"cudalab/grader/class"
	"cudalab/grader/judge/prove"
	"cudalab/grader/report/gradebook"
	"cudalab/grader/report/look"
	"cudalab/grader/report/page"
	"cudalab/grader/suite/verdict"
)

// MaxSize bounds a page, in bytes: it is sent around and opened on telephones. What does not fit is left out where it
// takes the most, and the page says so.
const MaxSize = 4 << 20

// Bounds on what a page says besides the exercises.
const (
	mostNotes = 20
	longest   = 2 << 10 // bytes of one text
	headSize  = 256 << 10
)

//go:embed page.html.tmpl style.css
var assets embed.FS

var layout = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page.html.tmpl").Funcs(template.FuncMap{
		"points": look.Points,
		"script": page.Script,
		"style": func() (template.CSS, error) {
			own, err := assets.ReadFile("style.css")
			return page.Style() + template.CSS(own), err
		},
	}).ParseFS(assets, "page.html.tmpl"))
})

// content is what the template is given.
type content struct {
	Class     *class.Class
	ID        string
	Student   *class.Student
	Total     page.Verdict
	Points    float64
	Most      float64
	HandedIn  string
	Problem   string
	Lacks     string
	Notes     []string
	Exercises []part
}

// part is an exercise.
type part struct {
	Anchor, Name, Title string
	Verdict             page.Verdict
	Score, MaxScore     float64
	Decided             bool
	Message             string
	Body                template.HTML
	Left                string // what is left out, in a sentence
}

// Open has what can be mended unfolded.
func (p part) Open() bool { return p.Verdict.Class == "bad" }

// Write writes the page of a student.
func Write(w io.Writer, f *class.Feedback) error {
	s := &f.Student
	p := &content{Class: f.Class, ID: gradebook.Clean(s.ID), Student: s, Problem: short(s.Problem), Lacks: f.Lacks,
		HandedIn: handedIn(s)}
	for _, note := range s.Notes[:min(len(s.Notes), mostNotes)] {
		p.Notes = append(p.Notes, short(note))
	}
	p.Total = page.Verdict{Class: "odd", Sign: "–", Name: "no grade"}
	if s.Status == class.Graded {
		p.Points, p.Most, _ = s.Final()
		p.Total = page.Verdict{Class: "bad", Sign: "✗", Name: "not all passed"}
		if s.Passed() {
			p.Total = page.Passed
		}
	}
	room := MaxSize - headSize - len(page.Style()) - len(page.Script())
	for i, e := range f.Class.Exercises {
		if i >= len(s.Exercises) {
			break
		}
		share := room / (len(f.Class.Exercises) - i)
		x, err := newPart(f, i, e, share)
		if err != nil {
			return err
		}
		room -= len(x.Body)
		p.Exercises = append(p.Exercises, x)
	}
	return layout().Execute(w, p)
}

func short(text string) string { return gradebook.Cut(gradebook.Clean(text), longest) }

func handedIn(s *class.Student) string {
	text := gradebook.Clean(s.HandedIn.Time)
	if text != "" {
		text = "handed in " + text
	}
	if s.HandedIn.Late {
		text += ", late"
	}
	if s.HandedIn.Of > 1 {
		text += fmt.Sprintf(", attempt %d of %d", s.HandedIn.Attempt, s.HandedIn.Of)
	}
	return text
}

// newPart shows an exercise in so many bytes at most.
func newPart(f *class.Feedback, i int, e class.Exercise, room int) (part, error) {
	r, decided := f.Student.Report(i)
	r = f.Class.Shown(r)
	x := part{Anchor: fmt.Sprintf("e%d", i+1), Name: e.Name, Title: e.Title, Verdict: page.VerdictOf(r), Score: r.Score,
		MaxScore: e.MaxScore,
		Decided:  decided, Message: short(r.Message)}
	drawn := f.Drawn[e.Name]
	if slices.ContainsFunc(r.Checks, func(c verdict.Check) bool { return c.ID == class.HiddenID }) {
		drawn = class.Drawn{} // it would show what a hidden check has found
	}
	in := page.Input{Title: e.Title, Report: withDrawings(withFigures(r, f.Timings), drawn.Report), Read: f.Read}
	if drawn.Place != nil {
		in.Orders, in.Drawn, in.Place = prove.Faults(drawn), drawn.Drawn(), drawn.Place
	}
	for _, less := range []func(*page.Input) string{
		func(*page.Input) string { return "" },
		withoutTimelines, withoutPictures, onlyWords,
	} {
		if x.Left = less(&in); told(in.Report) > room {
			continue // it need not be tried
		}
		body, err := page.Part(in, x.Anchor+"-")
		if err != nil {
			return part{}, err
		}
		if len(body) <= room {
			x.Body = body
			return x, nil
		}
	}
	x.Left = "What was found is too long for this page: the student's JSON has it."
	return x, nil
}

// told is how long the texts of a report are, in bytes.
func told(r verdict.Report) int {
	n := len(r.Output)
	for _, c := range r.Checks {
		n += len(c.Message)
		for _, f := range c.Findings {
			n += len(f.Message) + len(f.Why) + len(f.Fix) + len(f.Picture)
			for _, o := range f.Related {
				n += len(o.Message)
			}
		}
	}
	return n
}

func withoutTimelines(in *page.Input) string {
	in.Drawn = nil
	return "The pictures of streams and memory are left out: with them this page would be too large. `cudalab check " +
		"--html` draws them."
}

func withoutPictures(in *page.Input) string {
	in.Orders, in.Report.Checks = nil, slices.Clone(in.Report.Checks)
	for i := range in.Report.Checks {
		c := &in.Report.Checks[i]
		c.Run, c.Findings = nil, slices.Clone(c.Findings)
		for j := range c.Findings {
			c.Findings[j].Drawing = nil
		}
	}
	return "All pictures are left out: with them this page would be too large. `cudalab check --html` draws them."
}

// onlyWords leaves little of long texts, and of many findings the first.
func onlyWords(in *page.Input) string {
	const few = 20
	in.Read = func(string) ([]byte, error) { return nil, fs.ErrNotExist }
	in.Report.Output = short(in.Report.Output)
	for i := range in.Report.Checks {
		c := &in.Report.Checks[i]
		c.Message = short(c.Message)
		c.Findings = slices.Clone(c.Findings[:min(len(c.Findings), few)])
		for j := range c.Findings {
			f := &c.Findings[j]
			f.File, f.Message, f.Why, f.Fix, f.Picture = short(f.File), short(f.Message), short(f.Why), short(f.Fix),
				short(f.Picture)
			f.Related = slices.Clone(f.Related[:min(len(f.Related), few)])
			for k := range f.Related {
				f.Related[k].Message, f.Related[k].File = short(f.Related[k].Message), short(f.Related[k].File)
			}
		}
	}
	return "Pictures, sources and long texts are left out: with them this page would be too large. `cudalab check " +
		"--html` shows them."
}

// withFigures is a report with what was measured when it was made.
func withFigures(r verdict.Report, t class.Timings) verdict.Report {
	at := slices.IndexFunc(t.Exercises, func(o verdict.Report) bool {
		return o.Exercise == r.Exercise &&
			o.Status == r.Status
	})
	if at < 0 {
		return r
	}
	r.Checks = slices.Clone(r.Checks)
	for i := range r.Checks {
		c := &r.Checks[i]
		k := slices.IndexFunc(t.Exercises[at].Checks, func(o verdict.Check) bool {
			return o.ID == c.ID &&
				o.Status == c.Status
		})
		if k >= 0 {
			c.Measurements = t.Exercises[at].Checks[k].Measurements
		}
	}
	return r
}

// withDrawings is a report with what another run has drawn of the same findings.
func withDrawings(r, drawn verdict.Report) verdict.Report {
	r.Checks = slices.Clone(r.Checks)
	for i := range r.Checks {
		c := &r.Checks[i]
		k := slices.IndexFunc(drawn.Checks, func(o verdict.Check) bool { return o.ID == c.ID })
		if k < 0 {
			continue
		}
		again := drawn.Checks[k]
		c.Run, c.Findings = again.Run, slices.Clone(c.Findings)
		for j := range c.Findings {
			f := &c.Findings[j]
			same := func(o verdict.Finding) bool {
				return o.Rule == f.Rule && o.File == f.File && o.Line == f.Line && o.Message == f.Message
			}
			if n := slices.IndexFunc(again.Findings, same); n >= 0 {
				f.Drawing = again.Findings[n].Drawing
			}
		}
	}
	return r
}

// Page has everybody's, or keeps up to date what there is.
func Page(all bool) class.Page {
	return class.Page{Folder: "students", All: all, Name: func(id string) (string, error) { return id, nil }, Write: Write}
}
