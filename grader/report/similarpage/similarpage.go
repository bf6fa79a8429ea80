// Package similarpage shows which submissions are alike as one HTML file that needs nothing else: the pairs, the most
// alike first, with the passages that they share side by side, the groups that pairs connect, and what all of this does
// not prove.
package similarpage

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"cudalab/grader/class/similar"
	"cudalab/grader/report"
	"cudalab/grader/report/look"
)

//go:embed page.html.tmpl
var layout string

//go:embed style.css
var style string

var page = template.Must(template.New("").Funcs(template.FuncMap{
	"plural": look.Plural,
	"css":    func() template.CSS { return template.CSS(look.CSS + style) },
}).Parse(layout))

// Exercise is one exercise with what was found in it.
type Exercise struct {
	Name, Title string
	*similar.Result
}

// limits are how much of an exercise the page shows.
type limits struct {
	passages int // pairs of which it shows passages: a person reads fewer
	pairs    int // that it lists
	shared   int // texts of many
	names    int // in one list
}

// mostBytes bounds the page, which somebody may want to mail.
const mostBytes = 1_000_000

// Write writes the page, in at most mostBytes. Notes are what was left aside, one sentence each.
func Write(w io.Writer, exercises []Exercise, notes []string) error {
	var text bytes.Buffer
	for part := 1; ; part *= 2 {
		text.Reset()
		few := limits{40 / part, max(1, 500/part), max(1, 20/part), max(10, 1000/part)}
		if err := page.Execute(&text, newContent(exercises, notes, few)); err != nil {
			return err
		}
		if text.Len() <= mostBytes || part > 1000 {
			_, err := text.WriteTo(w)
			return err
		}
	}
}

func newContent(exercises []Exercise, notes []string, few limits) content {
	c := content{Threshold: 100 * similar.DefaultThreshold}
	for _, note := range notes {
		c.Notes = append(c.Notes, report.Harmless(note))
	}
	people := map[string]bool{}
	for _, e := range exercises {
		c.Threshold = 100 * e.Threshold
		for _, p := range e.Programs {
			people[p.ID] = true
		}
		s := newSection(e, few)
		c.Pairs += len(e.Result.Pairs)
		c.Shared += len(e.Shared)
		c.Exercises = append(c.Exercises, s)
	}
	c.People = len(people)
	c.Repeated = repeated(exercises)
	c.Repeated = c.Repeated[:min(len(c.Repeated), few.pairs)]
	return c
}

// content is what the template is given.
type content struct {
	People    int
	Pairs     int
	Shared    int
	Threshold float64 // in percent
	Repeated  []again
	Exercises []section
	Notes     []string
}

// again is two people who are alike in more than one exercise.
type again struct {
	A, B      string
	Exercises string
	count     int
}

// section is one exercise.
type section struct {
	Name, Title string
	Compared    int
	Common      int
	Short       names // whose programs are too short for anything to be said
	Shared      []shared
	AsSolution  []asSolution
	Within      int   // pairs of programs that have a text of many, which are not listed again
	Cut         names // whose programs are too long to be compared whole
	Pairs       []pair
	Hidden      int // listed pairs without passages on the page
	Unlisted    int
	Unread      int
	Groups      []names
}

// names are people, as many as there is room for.
type names struct {
	All   int
	First []string
}

func (n names) More() int { return n.All - len(n.First) }

func (n *names) add(name string, few limits) {
	if n.All++; len(n.First) < few.names {
		n.First = append(n.First, name)
	}
}

// shared is text that many have.
type shared struct {
	In       names
	Tokens   int
	Passages []sharedPassage
	Hidden   int // passages that are not shown
}

type sharedPassage struct {
	N, Tokens, In int
	Text          excerpt
}

// asSolution is a program that is much the solution's text.
type asSolution struct {
	Who         string
	Tokens, Own int
}

type pair struct {
	Anchor         string
	A, B           string
	ShareA, ShareB int // percent
	Tokens         int
	Passages       []passage // nil where they are not shown
}

type passage struct {
	N      int
	Tokens int
	A, B   excerpt
}

// excerpt is whole lines of one file.
type excerpt struct {
	Who, Place string
	Lines      []line
}

type line struct {
	N    int
	Text string
	Own  bool // some of it is the author's own
}

func newSection(e Exercise, few limits) section {
	s := section{Name: e.Name, Title: e.Title, Common: e.Common, Compared: len(e.Programs), Unread: e.Unread}
	for _, p := range e.Programs {
		switch {
		case p.AsSolution():
			s.AsSolution = append(s.AsSolution, asSolution{name(p), p.Solution, p.Own})
		case p.TooLittle():
			s.Short.add(name(p), few)
			s.Compared--
		case p.Cut:
			s.Cut.add(name(p), few)
		}
	}
	slices.SortStableFunc(s.AsSolution, func(a, b asSolution) int {
		return cmp.Compare(b.Tokens*(a.Own+a.Tokens),
			a.Tokens*(b.Own+b.Tokens))
	})
	s.AsSolution = s.AsSolution[:min(len(s.AsSolution), few.names)]
	s.addShared(e, few)
	var between []similar.Pair
	for _, p := range e.Result.Pairs {
		if e.within(p) {
			s.Within++
		} else {
			between = append(between, p)
		}
	}
	s.Unlisted = max(0, len(between)-few.pairs)
	for i, p := range between[:len(between)-s.Unlisted] {
		a, b := e.Programs[p.A], e.Programs[p.B]
		shown := pair{Anchor: fmt.Sprintf("%s-%d", e.Name, i+1), A: name(a), B: name(b), ShareA: percent(p.ShareA),
			ShareB: percent(p.ShareB), Tokens: p.Tokens}
		if i < few.passages {
			for n, m := range inOrder(p.Passages) {
				shown.Passages = append(shown.Passages, passage{n + 1, m.Tokens, newExcerpt(a, m.A), newExcerpt(b, m.B)})
			}
		} else {
			s.Hidden++
		}
		s.Pairs = append(s.Pairs, shown)
	}
	for _, g := range e.Result.Groups {
		var group names
		for _, i := range g {
			group.add(name(e.Programs[i]), few)
		}
		s.Groups = append(s.Groups, group)
	}
	return s
}

// within reports whether both programs of a pair have a text of many.
func (e Exercise) within(p similar.Pair) bool {
	return slices.ContainsFunc(e.Shared, func(s similar.Shared) bool {
		return slices.Contains(s.In, p.A) &&
			slices.Contains(s.In, p.B)
	})
}

// longestShared is how many lines of a text of many are shown.
const longestShared = 200

func (s *section) addShared(e Exercise, few limits) {
	for i, found := range e.Shared {
		if i == few.shared {
			return
		}
		many := shared{Tokens: found.Tokens}
		for _, i := range found.In {
			many.In.add(name(e.Programs[i]), few)
		}
		lines := 0
		for n, p := range found.Passages {
			if lines += p.Last - p.First + 1; lines > longestShared || few.passages == 0 {
				many.Hidden = len(found.Passages) - n
				break
			}
			many.Passages = append(many.Passages, sharedPassage{n + 1, p.Tokens, p.In, newExcerpt(e.Programs[found.Of], p.Span)})
		}
		s.Shared = append(s.Shared, many)
	}
}

// inOrder are passages as they stand in the first program.
func inOrder(passages []similar.Passage) []similar.Passage {
	return slices.SortedStableFunc(slices.Values(passages), func(a, b similar.Passage) int {
		return cmp.Or(cmp.Compare(a.A.File, b.A.File), cmp.Compare(a.A.First, b.A.First))
	})
}

func newExcerpt(p similar.Subject, at similar.Span) excerpt {
	f := p.Files[at.File]
	x := excerpt{Who: name(p), Place: fmt.Sprintf("%s, lines %d to %d", report.Harmless(f.Name), at.First, at.Last)}
	lines := strings.Split(f.Text, "\n")
	for n := at.First; n <= min(at.Last, len(lines)); n++ {
		x.Lines = append(x.Lines, line{n, report.Harmless(strings.TrimSuffix(lines[n-1], "\r")), p.OwnLine(at.File, n)})
	}
	return x
}

func name(p similar.Subject) string { return report.Harmless(p.ID) }

func percent(share float64) int { return int(math.Round(100 * share)) }

// repeated are those who are alike in more than one exercise, the most exercises first.
func repeated(exercises []Exercise) []again {
	in := map[[2]string][]string{}
	for _, e := range exercises {
		for _, p := range e.Result.Pairs {
			who := [2]string{name(e.Programs[p.A]), name(e.Programs[p.B])}
			slices.Sort(who[:])
			in[who] = append(in[who], e.Name)
		}
	}
	var found []again
	for who, names := range in {
		if len(names) > 1 {
			found = append(found, again{who[0], who[1], strings.Join(names, ", "), len(names)})
		}
	}
	slices.SortFunc(found, func(a, b again) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
	})
	return found
}
