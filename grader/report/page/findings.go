package page

import (
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/report"
	"cudalab/grader/suite/verdict"
)

// badge leads from a check to a finding that it failed by, or to the one that this comes of.
type badge struct {
	N        int
	Anchor   string
	Severity verdict.Severity
}

type findingCard struct {
	verdict.Finding
	N       int
	Anchor  string
	Link    string
	Place   string
	Related []relatedLine
	Excerpt []sourceLine // the lines that it is about; one without a number stands for those between
	Film    *filmFigure
	Drawing *drawing
	Race    *raceFigure // what its time went to
	Mapping *mappingFigure
	Threads *threadsFigure
	Scene   *sceneFigure
	Alike   string // the anchor of the finding whose picture looks the same
	Follow  []consequence
}

// hasPicture reports whether the card itself shows what happened.
func (f findingCard) hasPicture() bool {
	return f.Race != nil || f.Mapping != nil || f.Threads != nil || f.Film != nil || f.Drawing != nil ||
		f.Scene != nil || f.Picture != ""
}

// consequence is an error that comes of another, of whose card it is a part.
type consequence struct{ Rule, Origin, Message, Link, Place string }

// Consequences are the rules of what comes of it, each with how often it does.
func (f *findingCard) Consequences() string {
	var rules []string
	count := map[string]int{}
	for _, c := range f.Follow {
		if count[c.Rule]++; count[c.Rule] == 1 {
			rules = append(rules, c.Rule)
		}
	}
	for i, r := range rules {
		if count[r] > 1 {
			rules[i] = fmt.Sprintf("%d × %s", count[r], r)
		}
	}
	return strings.Join(rules, ", ")
}

type relatedLine struct{ Message, Link, Place string }

// Elsewhere is what is related and not in the excerpt.
func (f *findingCard) Elsewhere() []relatedLine {
	return slices.DeleteFunc(slices.Clone(f.Related), func(r relatedLine) bool {
		return slices.ContainsFunc(f.Excerpt, func(l sourceLine) bool { return l.N > 0 && "#"+l.Anchor == r.Link })
	})
}

// finding gives a finding a card.
func (p *content) finding(f verdict.Finding) {
	n := len(p.Findings) + 1
	card := findingCard{Finding: f, N: n, Anchor: p.anchor(n), Link: p.sources.link(f.File, f.Line), Place: place(f.File,
		f.Line)}
	for _, r := range f.Related {
		card.Related = append(card.Related, relatedLine{r.Message, p.sources.link(r.File, r.Line), place(r.File, r.Line)})
	}
	card.Film, card.Drawing = p.film(n, f), newDrawing(f.Drawing)
	card.Race, card.Threads = p.slowest(n, f), newThreads(p.At(fmt.Sprintf("threads%d", n)), f.Threads)
	p.sources.mark(n, card.Anchor, f)
	p.Findings = append(p.Findings, card)
}

func (p *content) badge(n int, f verdict.Finding) badge { return badge{n, p.anchor(n), f.Severity} }

// consequence puts an error that comes of another on the other's card, with its film where that has none of its own. A
// cause that is no finding leaves it one of its own.
func (p *content) consequence(card *checkCard, f verdict.Finding) {
	c := f.Follows
	at := slices.IndexFunc(p.Findings, func(o findingCard) bool {
		return o.Severity == verdict.Error && o.Rule == c.Rule && o.File == c.File && o.Line == c.Line
	})
	if at < 0 {
		p.finding(f)
		at = len(p.Findings) - 1
	} else {
		cause := &p.Findings[at]
		cause.Follow = append(cause.Follow, consequence{f.Rule, report.Harmless(f.Origin()), f.Message, p.sources.link(f.File,
			f.Line), place(f.File, f.Line)})
		if cause.Film == nil && cause.Drawing == nil { // what may come of a mistake is how it is best seen
			cause.Film = p.film(at+1, f)
		}
	}
	b := p.badge(at+1, f)
	if !slices.Contains(card.Badges, b) {
		card.Badges = append(card.Badges, b)
	}
}

// excerpts gives each finding the lines of the source that it is about.
func (p *content) excerpts() {
	for i := range p.Findings {
		f := &p.Findings[i]
		at := verdict.Place{File: f.File, Line: f.Line}
		if c := f.Race.line(); c != nil {
			at = *c
		}
		f.Excerpt = p.sources.excerpt(f.N, at.File, at.Line)
	}
}
