// Package page shows a check as one HTML file that needs nothing else: the verdict, the findings beside the source, and
// pictures of what the code did with streams and memory, with the faults marked in them.
//
// Everything can be read without scripts, without colour and without seeing it: each picture has a description and a table with
// the same data. Scripts only add a line of detail under the pointer, zooming and moving by arrow keys.
package page

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"cudalab/grader/judge/prove"
	"cudalab/grader/report/look"
	"cudalab/grader/report/timeline"
	"cudalab/grader/suite"
	"cudalab/native/trace"
)

// Input is what a page is made of.
type Input struct {
	Title  string // the exercise's
	Report suite.Report
	Orders []prove.Fault                              // in which it goes wrong
	Drawn  []*suite.CaseNotes                         // the cases that pictures are made of
	Timed  []*suite.CaseNotes                         // those with samples
	Place  func(trace.Site) []suite.Place             // as in suite.Evidence; nil where nothing was run
	Read   func(file string) (text []byte, err error) // reads the student's files, by the names in the report
}

//go:embed page.html.tmpl style.css film.css script.js film.js
var assets embed.FS

var layout = template.Must(template.New("page.html.tmpl").Funcs(template.FuncMap{
	"points":  look.Points,
	"figure":  look.Figure,
	"inc":     func(i int) int { return i + 1 },
	"last":    func(frames []drawnFrame) int { return len(frames) - 1 },
	"percent": func(share float64) px { return look.Round(100 * share) },
	"asset": func(name string) string {
		text, err := assets.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		return string(text)
	},
	"look": func() string { return look.CSS },
	"css":  func(text string) template.CSS { return template.CSS(text) },
	"js":   func(text string) template.JS { return template.JS(text) },
}).ParseFS(assets, "page.html.tmpl"))

// Write writes the page of one exercise.
func Write(w io.Writer, in Input) error {
	p := &content{Input: in, sources: sources{read: in.Read, known: map[string]int{}}}
	p.checks()
	p.excerpts()
	p.scenes()
	p.samples()
	return layout.Execute(w, p)
}

// content is what the template is given.
type content struct {
	Input
	sources  sources
	Checks   []checkCard
	Findings []findingCard
	Scenes   []*sceneFigure // open
	Others   []*sceneFigure // folded
	Runs     []*runFigure
	Spaces   []*spaceFigure
	Samples  []*samplesFigure
	films    int // how many findings have one
}

type checkCard struct {
	suite.Check
	Sign     string
	Findings []findingCard
	Limits   []limitFigure
}

type findingCard struct {
	suite.Finding
	N       int
	Check   string
	Link    string
	Place   string
	Related []relatedLine
	Scene   string       // the anchor of the picture that it is drawn in
	Excerpt []sourceLine // the lines that it is about; one without a number stands for those between
	Film    *filmFigure
	Drawing *drawing
}

type relatedLine struct{ Message, Link, Place string }

// Elsewhere is what is related and not in the excerpt.
func (f *findingCard) Elsewhere() []relatedLine {
	return slices.DeleteFunc(slices.Clone(f.Related), func(r relatedLine) bool {
		return slices.ContainsFunc(f.Excerpt, func(l sourceLine) bool { return l.N > 0 && "#"+l.Anchor == r.Link })
	})
}

// Files are the sources that are shown.
func (p *content) Files() []*sourceFile { return p.sources.files }

// Verdict is the status in capitals, with a sign that needs no colour.
func (p *content) Verdict() (v struct{ Class, Sign, Name string }) {
	switch p.Report.Status {
	case suite.Passed:
		v.Class, v.Sign = "good", "✓"
	case suite.NotStarted:
		v.Class, v.Sign = "odd", "–"
	default:
		v.Class, v.Sign = "bad", "✗"
	}
	v.Name = strings.ReplaceAll(string(p.Report.Status), "-", " ")
	return v
}

func (p *content) checks() {
	for _, c := range p.Report.Checks {
		card := checkCard{Check: c, Sign: "✗", Limits: newLimitFigures(c)}
		switch c.Status {
		case suite.Passed:
			card.Sign = "✓"
		case suite.Skipped:
			card.Sign = "–"
		}
		for _, f := range c.Findings {
			n := len(p.Findings) + 1
			fc := findingCard{Finding: f, N: n, Check: c.Name, Link: p.sources.link(f.File, f.Line), Place: place(f.File, f.Line)}
			for _, r := range f.Related {
				fc.Related = append(fc.Related, relatedLine{r.Message, p.sources.link(r.File, r.Line), place(r.File, r.Line)})
			}
			fc.Film, fc.Drawing = p.film(n, f), newDrawing(f.Drawing)
			p.sources.mark(n, f)
			p.Findings = append(p.Findings, fc)
			card.Findings = append(card.Findings, fc)
		}
		if c.Run != nil && len(c.Run.Steps) > 0 {
			p.Runs = append(p.Runs, newRunFigure(fmt.Sprintf("run%d", len(p.Runs)+1), c.Run))
		}
		p.Checks = append(p.Checks, card)
	}
}

// excerpts gives each finding the lines of the source that it is about.
func (p *content) excerpts() {
	for i := range p.Findings {
		f := &p.Findings[i]
		f.Excerpt = p.sources.excerpt(f.N, f.File, f.Line)
	}
	n := 0
	for i := range p.Checks {
		n += copy(p.Checks[i].Findings, p.Findings[n:])
	}
}

// Next is what to do next. On the page the first error is a link.
func (p *content) Next() (next struct {
	Before, Link, Name, After string
}) {
	next.Before = p.Report.Next
	const first = "the first error above"
	i := slices.IndexFunc(p.Findings, func(f findingCard) bool { return f.Severity == suite.Error })
	before, after, found := strings.Cut(p.Report.Next, first)
	if !found || i < 0 {
		return next
	}
	f := p.Findings[i]
	next.Before, next.After = before, after
	next.Link, next.Name = fmt.Sprintf("#finding%d", f.N), "the first error"
	if f.Place != "" {
		next.Name += ", at " + f.Place
	}
	return next
}

func place(file string, line int) string {
	if file == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", file[strings.LastIndexAny(file, `/\`)+1:], line)
}

// Bounds on the pictures of one page, so that it stays quick to open.
const (
	mostScenes = 6
	mostOthers = 6
	mostSpaces = 3
	mostBars   = 200 // calls of all scenes together, from which on no more cases are folded below
)

// scenes chooses what is drawn: of each fault the first scene it is in, and where there is none the scene in which the most
// ran at the same time. One scene of each other case is folded below.
func (p *content) scenes() {
	drawn := map[string]bool{}
	lines := p.timelines()
	p.addFindings(lines)
	for _, t := range lines {
		seen := map[string]bool{}
		for _, s := range t.Scenes {
			fresh := false
			for _, n := range s.Faults {
				f := t.Faults[n]
				k := f.Rule + t.Calls[f.At].Line()
				if !f.Remark && !seen[k] && !p.shown(f, t) {
					fresh, seen[k] = true, true
				}
			}
			if fresh && len(p.Scenes) < mostScenes {
				p.Scenes = append(p.Scenes, p.draw(t, s))
				drawn[t.Case] = true
			}
		}
	}
	if len(p.Scenes) == 0 {
		if t, s, ok := busiest(lines); ok {
			p.Scenes = append(p.Scenes, p.draw(t, s))
			drawn[t.Case] = true
		}
	}
	bars := 0
	for _, s := range p.Scenes {
		bars += s.to - s.from
	}
	for _, t := range lines {
		if _, s, ok := busiest([]*timeline.Timeline{t}); ok && !drawn[t.Case] && len(p.Others) < mostOthers && bars < mostBars {
			f := p.draw(t, s)
			p.Others = append(p.Others, f)
			bars += f.to - f.from
		}
	}
	p.spaces(lines)
}

// spaces draws the address spaces in which the most happened.
func (p *content) spaces(lines []*timeline.Timeline) {
	type found struct {
		t *timeline.Timeline
		s timeline.Space
	}
	var all []found
	for _, t := range lines {
		for _, s := range t.Spaces() {
			if len(p.Runs) == 0 || len(s.Parts) <= mostParts {
				all = append(all, found{t, s})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return len(b.s.Parts) - len(a.s.Parts) })
	for i, f := range all[:min(len(all), mostSpaces)] {
		p.Spaces = append(p.Spaces, newSpaceFigure(fmt.Sprintf("space%d", i+1), f.t, f.s))
	}
}

// timelines are the cases that have something to show.
func (p *content) timelines() []*timeline.Timeline {
	var all []*timeline.Timeline
	for _, n := range p.Drawn {
		all = append(all, timeline.New(n, p.Place))
	}
	return all
}

// addFindings gives the findings that are not the order checker's their places: a call that was made on their line, in the
// scene that the message names if it names one.
func (p *content) addFindings(lines []*timeline.Timeline) {
	for i := range p.Findings {
		f := &p.Findings[i]
		var at *timeline.Timeline
		var scene, call, best int
		for _, t := range lines {
			if slices.ContainsFunc(t.Faults, func(o timeline.Fault) bool { return f.is(o, t) }) {
				at = nil
				break
			}
			for n, s := range t.Scenes {
				c := slices.IndexFunc(t.Calls[s.From:s.To], f.on)
				fit := 1
				if strings.Contains(f.Message, s.Label) {
					fit = 1 + len(s.Label)
				}
				if c >= 0 && fit > best {
					at, scene, call, best = t, n, s.From+c, fit
				}
			}
		}
		if at != nil {
			at.Scenes[scene].Faults = append(at.Scenes[scene].Faults, len(at.Faults))
			at.Faults = append(at.Faults, timeline.Fault{Rule: f.Rule, Remark: f.Severity == suite.Remark, Message: f.Message,
				At: call, Other: -1})
		}
	}
}

// on reports whether a call was made on the finding's line.
func (f *findingCard) on(c timeline.Call) bool {
	return f.File != "" && slices.ContainsFunc(c.Places, func(at suite.Place) bool { return at.File == f.File && at.Line == f.Line })
}

// is reports whether a fault in a timeline is the finding.
func (f *findingCard) is(fault timeline.Fault, t *timeline.Timeline) bool {
	if f.Rule != fault.Rule {
		return false
	}
	return f.on(t.Calls[fault.At]) || fault.Other >= 0 && f.on(t.Calls[fault.Other])
}

// shown reports whether a fault's finding already has its picture.
func (p *content) shown(f timeline.Fault, t *timeline.Timeline) bool {
	card := p.card(f, t)
	return card != nil && card.Scene != ""
}

func (p *content) card(f timeline.Fault, t *timeline.Timeline) *findingCard {
	for i := range p.Findings {
		if p.Findings[i].is(f, t) {
			return &p.Findings[i]
		}
	}
	return nil
}

// busiest is the scene in which streams worked together the longest; where none did, the one with the most calls.
func busiest(lines []*timeline.Timeline) (best *timeline.Timeline, scene timeline.Scene, ok bool) {
	for _, t := range lines {
		for _, s := range t.Scenes {
			more := s.Overlap > scene.Overlap || s.Overlap == scene.Overlap && s.To-s.From > scene.To-scene.From
			if s.To > s.From && (!ok || more) {
				best, scene, ok = t, s, true
			}
		}
	}
	return best, scene, ok
}

func (p *content) draw(t *timeline.Timeline, s timeline.Scene) *sceneFigure {
	id := fmt.Sprintf("scene%d", len(p.Scenes)+len(p.Others)+1)
	link := func(c *timeline.Call) string {
		if len(c.Places) == 0 {
			return ""
		}
		return p.sources.link(c.Places[0].File, c.Places[0].Line)
	}
	card := func(f timeline.Fault) (number int, link string) {
		c := p.card(f, t)
		if c == nil {
			return 0, ""
		}
		if c.Scene == "" {
			c.Scene = id
		}
		return c.N, fmt.Sprintf("#finding%d", c.N)
	}
	return newSceneFigure(id, t, s, link, card)
}

func (p *content) samples() {
	for i, n := range p.Timed {
		p.Samples = append(p.Samples, newSamplesFigures(fmt.Sprintf("times%d-", i+1), n, p.Report.Checks)...)
	}
}
