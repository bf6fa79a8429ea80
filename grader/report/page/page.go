// Package page shows a check as one HTML file that needs nothing else: the verdict, the findings beside the source, and
// pictures of what the code did with streams and memory, with the faults marked in them.
//
// Everything can be read without scripts, without colour and without seeing it: each picture has a description and a
// table with the same data. Scripts only add a line of detail under the pointer, zooming and moving by arrow keys.
package page

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"

	"cudalab/grader/judge/prove"
	"cudalab/grader/report"
	"cudalab/grader/report/look"
	"cudalab/grader/report/timeline"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// Input is what a page is made of.
type Input struct {
	Title  string // the exercise's
	Report verdict.Report
	Orders []prove.Fault                              // in which it goes wrong
	Drawn  []*verdict.CaseNotes                       // the cases that pictures are made of
	Timed  []*verdict.CaseNotes                       // those with samples
	Races  []*verdict.CaseNotes                       // those in which each contender ran once to be drawn
	Place  func(trace.Site) []verdict.Place           // as in suite.Evidence; nil where nothing was run
	Read   func(file string) (text []byte, err error) // reads the student's files, by the names in the report
}

//go:embed *.html.tmpl style.css draw.css film.css script.js film.js
var assets embed.FS

var layout = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page.html.tmpl").Funcs(template.FuncMap{
		"points":  look.Points,
		"figure":  look.Figure,
		"inc":     func(i int) int { return i + 1 },
		"last":    func(frames []drawnFrame) int { return len(frames) - 1 },
		"percent": func(share float64) px { return look.Round(100 * share) },
		"style":   Style,
		"script":  Script,
	}).ParseFS(assets, "*.tmpl"))
})

// Write writes the page of one exercise.
func Write(w io.Writer, in Input) error { return layout().Execute(w, newContent(in, "")) }

// Part is what stands on the page of one exercise below its verdict, for a page of several. No anchor of it is another
// part's that has another prefix, and its headings lie one level deeper. Such a page needs Style and Script.
func Part(in Input, prefix string) (template.HTML, error) {
	var b strings.Builder
	err := layout().ExecuteTemplate(&b, "exercise", newContent(in, prefix))
	return template.HTML(b.String()), err
}

// Style is the style sheet of a page, and Script what makes it more convenient. A site that shows pages within its own
// allows Script by its hash.
func Style() template.CSS {
	return template.CSS(look.CSS + asset("style.css") + asset("draw.css") + rungs() + asset("film.css"))
}
func Script() template.JS { return template.JS(asset("script.js") + asset("film.js")) }

func asset(name string) string {
	text, err := assets.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

func newContent(in Input, prefix string) *content {
	in.Report = harmless(in.Report)
	p := &content{Input: in, prefix: prefix, sources: sources{read: in.Read, prefix: prefix, known: map[string]int{}}}
	for _, n := range in.Races {
		p.races = append(p.races, timeline.OfRace(n, in.Place))
	}
	p.checks()
	p.fast()
	p.excerpts()
	p.scenes()
	p.samples()
	return p
}

// content is what the template is given.
type content struct {
	Input
	prefix   string // of all anchors
	sources  sources
	Checks   []checkCard
	Findings []findingCard
	Scenes   []*sceneFigure // open
	Others   []*sceneFigure // folded
	Runs     []*runFigure
	Spaces   []*spaceFigure
	Mappings []*mappingFigure // of what went well
	Fast     []*raceFigure
	Samples  []*samplesFigure
	races    []*timeline.Timeline
	films    int // how many findings have one
}

type checkCard struct {
	verdict.Check
	Sign   string
	Badges []badge
	Limits []limitFigure
}

// At is an anchor of the page.
func (p *content) At(name string) string { return p.prefix + name }

// Under and Deeper are how deep the headings of sections lie, and those of what is in them, where that is not as it
// seems.
func (p *content) Under() template.HTMLAttr  { return p.level(3) }
func (p *content) Deeper() template.HTMLAttr { return p.level(4) }

func (p *content) level(n int) template.HTMLAttr {
	if p.prefix == "" {
		return ""
	}
	return template.HTMLAttr(fmt.Sprintf(` aria-level="%d"`, n))
}

// anchor is that of the n-th finding.
func (p *content) anchor(n int) string { return p.At(fmt.Sprintf("finding%d", n)) }

// Files are the sources that are shown.
func (p *content) Files() []*sourceFile { return p.sources.files }

// Verdict is a status with a sign that needs no colour, and a class of the style sheet.
type Verdict struct{ Class, Sign, Name string }

// Passed is the verdict of what has passed.
var Passed = Verdict{"good", "✓", string(verdict.Passed)}

// VerdictOf is what a page calls how an exercise stands.
func VerdictOf(r verdict.Report) Verdict {
	name := strings.ReplaceAll(string(r.Status), "-", " ")
	switch {
	case r.Status == verdict.Passed:
		return Passed
	case r.Unfinished():
		return Verdict{"odd", "–", "unfinished"}
	case r.Status == verdict.NotStarted, r.Status == verdict.Errored, r.Status == verdict.Unread:
		return Verdict{"odd", "–", name}
	}
	return Verdict{"bad", "✗", name}
}

// Verdict is the exercise's.
func (p *content) Verdict() Verdict { return VerdictOf(p.Report) }

func (p *content) checks() {
	for _, c := range p.Report.Checks {
		card := checkCard{Check: c, Sign: "✗", Limits: newLimitFigures(c)}
		switch c.Status {
		case verdict.Passed:
			card.Sign = "✓"
		case verdict.Skipped:
			card.Sign = "–"
		}
		for _, f := range c.Findings {
			if f.Follows == nil {
				p.finding(f)
				card.Badges = append(card.Badges, p.badge(len(p.Findings), f))
			}
		}
		if c.Run != nil && len(c.Run.Steps) > 0 {
			p.Runs = append(p.Runs, newRunFigure(p.At(fmt.Sprintf("run%d", len(p.Runs)+1)), c.Run))
		}
		p.Checks = append(p.Checks, card)
	}
	for i := range p.Checks {
		for _, f := range p.Checks[i].Check.Findings {
			if f.Follows != nil {
				p.consequence(&p.Checks[i], f)
			}
		}
	}
}

// Next is what to do next. On the page the first error is a link.
func (p *content) Next() (next struct {
	Before, Link, Name, After string
}) {
	next.Before = p.Report.Next
	const first = "the first error above"
	i := slices.IndexFunc(p.Findings, func(f findingCard) bool { return f.Severity == verdict.Error })
	before, after, found := strings.Cut(p.Report.Next, first)
	if !found || i < 0 {
		return next
	}
	f := p.Findings[i]
	next.Before, next.After = before, after
	next.Link, next.Name = "#"+f.Anchor, "the first error"
	if f.Place != "" {
		next.Name += ", at " + f.Place
	}
	return next
}

// Likely is where one change is enough, where that was asked for and found.
func (p *content) Likely() *relatedLine {
	l := p.Report.Likely
	if l == nil {
		return nil
	}
	return &relatedLine{report.Harmless(l.Text()), p.sources.link(l.File, l.Line), place(l.File, l.Line)}
}

func place(file string, line int) string {
	if file == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", report.Harmless(file[strings.LastIndexAny(file, `/\`)+1:]), line)
}

// Bounds on the pictures of one page, so that it stays quick to open.
const (
	mostScenes = 6
	mostOthers = 6
	mostSpaces = 3
	mostDrawn  = 500 // boxes of all scenes together, from which on no more cases are folded below
)

// scenes draws for each error that has no picture yet the scene that it is in. One scene of each other case is folded
// below, those that look alike once; where nothing else is drawn the one in which the most ran at the same time is
// open.
func (p *content) scenes() {
	lines := p.timelines()
	p.addFindings(lines)
	p.mappings(lines)
	type place struct {
		t     *timeline.Timeline
		scene int
	}
	drawn := map[place]*findingCard{}
	shown := map[*timeline.Timeline]bool{}
	for i := range p.Findings {
		card := &p.Findings[i]
		if card.Severity != verdict.Error || card.hasPicture() || len(drawn) == mostScenes {
			continue
		}
		for _, t := range lines {
			n := slices.IndexFunc(t.Scenes, func(s timeline.Scene) bool {
				return slices.ContainsFunc(s.Faults, func(n int) bool { return card.is(t.Faults[n], t) })
			})
			if n < 0 {
				continue
			}
			at := place{t, n}
			if same := drawn[at]; same != nil {
				card.Alike = same.Anchor
			} else {
				card.Scene = p.drawScene(p.At(fmt.Sprintf("scene%d", card.N)), t, t.Scenes[n])
				drawn[at], shown[t] = card, true
			}
			break
		}
	}
	if !p.Answered() {
		if t, s, ok := busiest(lines); ok {
			p.Scenes = append(p.Scenes, p.drawScene(p.At("scene0"), t, s))
			shown[t] = true
		}
	}
	boxes := 0
	for _, s := range p.Scenes {
		boxes += s.boxes()
	}
	alike := map[string]*sceneFigure{}
	for _, t := range lines {
		if _, s, ok := busiest([]*timeline.Timeline{t}); ok && !shown[t] && len(p.Others) < mostOthers && boxes < mostDrawn {
			fig := p.drawScene(p.At(fmt.Sprintf("case%d", len(p.Others)+1)), t, s)
			drawn := fig.drawn()
			if same := alike[drawn]; same != nil {
				same.Left += fmt.Sprintf(" %s: %s looks like this one.", t.Case, s.Label)
				continue
			}
			alike[drawn] = fig
			p.Others = append(p.Others, fig)
			boxes += fig.boxes()
		}
	}
	p.spaces(lines)
}

// Shown reports whether a picture shows what to mend, and Answered whether one does or tells why the code is fast:
// others are folded then.
func (p *content) Shown() bool    { return slices.ContainsFunc(p.Findings, findingCard.hasPicture) }
func (p *content) Answered() bool { return len(p.Fast) > 0 || p.Shown() }

// spaces draws the address spaces in which the most happened.
func (p *content) spaces(lines []*timeline.Timeline) {
	type found struct {
		t *timeline.Timeline
		s timeline.Space
	}
	var all []found
	for _, t := range lines {
		for _, s := range t.Spaces() {
			if len(s.Mapped) > 0 {
				p.reserved(t, s)
				continue
			}
			if len(p.Runs) == 0 && len(s.Parts) <= mostParts {
				all = append(all, found{t, s})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return len(b.s.Parts) - len(a.s.Parts) })
	for _, f := range all {
		fig := newSpaceFigure(p.At(fmt.Sprintf("space%d", len(p.Spaces)+1)), f.t, f.s)
		if len(p.Spaces) < mostSpaces && !slices.ContainsFunc(p.Spaces, fig.looksLike) {
			p.Spaces = append(p.Spaces, fig)
		}
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

// addFindings gives the findings that are not the order checker's their places: a call that was made on their line, in
// the scene that the message names if it names one.
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
				fit := 2
				if strings.Contains(f.Message, s.Label) {
					fit = 2 + 2*len(s.Label)
				}
				same := func(c timeline.Call) bool { return c.Record == f.Record && f.on(c) }
				if k := slices.IndexFunc(t.Calls[s.From:s.To], same); k >= 0 { // it may be the very call
					c, fit = k, fit+1
				}
				if c >= 0 && fit > best {
					at, scene, call, best = t, n, s.From+c, fit
				}
			}
		}
		if at != nil {
			at.Scenes[scene].Faults = append(at.Scenes[scene].Faults, len(at.Faults))
			at.Faults = append(at.Faults, timeline.Fault{Rule: f.Rule, Remark: f.Severity == verdict.Remark, Message: f.Message,
				At: call, Other: -1})
		}
	}
}

// on reports whether a call was made on the finding's line.
func (f *findingCard) on(c timeline.Call) bool {
	return f.File != "" && slices.ContainsFunc(c.Places, func(at verdict.Place) bool {
		return at.File == f.File &&
			at.Line == f.Line
	})
}

// is reports whether a fault in a timeline is the finding.
func (f *findingCard) is(fault timeline.Fault, t *timeline.Timeline) bool {
	if f.Rule != fault.Rule {
		return false
	}
	if f.on(t.Calls[fault.At]) || fault.Other >= 0 && f.on(t.Calls[fault.Other]) {
		return true
	}
	shows := *f // of what is known to come of another line it is the line where it shows that has the call
	shows.Line = f.Effect
	return f.Effect > 0 && shows.on(t.Calls[fault.At])
}

// card is the finding that a fault is.
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

func (p *content) samples() {
	for i, n := range p.Timed {
		p.Samples = append(p.Samples, newSamplesFigures(p.At(fmt.Sprintf("times%d-", i+1)), n, p.Report.Checks)...)
	}
}
