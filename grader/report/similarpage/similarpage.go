// Package similarpage shows which submissions are alike as one HTML file that needs nothing else: the pairs, the most alike
// first, with the passages that they share side by side, the groups that pairs connect, and what all of this does not prove.
package similarpage

import (
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

// mostShown is of how many pairs of an exercise the page shows passages: a person reads fewer.
const mostShown = 40

// mostListed is how many pairs of an exercise the page lists.
const mostListed = 500

// Write writes the page. Notes are what was left aside, one sentence each.
func Write(w io.Writer, exercises []Exercise, notes []string) error {
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
		s := newSection(e)
		c.Pairs += len(e.Result.Pairs)
		c.Groups += len(e.Result.Groups)
		c.Exercises = append(c.Exercises, s)
	}
	c.People = len(people)
	c.Repeated = repeated(exercises)
	return page.Execute(w, c)
}

// content is what the template is given.
type content struct {
	People    int
	Pairs     int
	Groups    int
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
	Short       []string // whose programs leave too little to compare
	Cut         []string // whose programs are too long to be compared whole
	Pairs       []pair
	Hidden      int // listed pairs without passages on the page
	Unlisted    int
	Unread      int
	Groups      [][]string
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

func newSection(e Exercise) section {
	s := section{Name: e.Name, Title: e.Title, Common: e.Common}
	for _, p := range e.Programs {
		switch {
		case p.TooLittle():
			s.Short = append(s.Short, name(p))
		case p.Cut:
			s.Cut = append(s.Cut, name(p))
		}
	}
	s.Compared = len(e.Programs) - len(s.Short)
	s.Unread, s.Unlisted = e.Unread, max(0, len(e.Result.Pairs)-mostListed)
	for i, p := range e.Result.Pairs[:len(e.Result.Pairs)-s.Unlisted] {
		a, b := e.Programs[p.A], e.Programs[p.B]
		shown := pair{Anchor: fmt.Sprintf("%s-%d", e.Name, i+1), A: name(a), B: name(b), ShareA: percent(p.ShareA), ShareB: percent(p.ShareB), Tokens: p.Tokens}
		if i < mostShown {
			for n, m := range inOrder(p.Passages) {
				shown.Passages = append(shown.Passages, passage{n + 1, m.Tokens, newExcerpt(a, m.A), newExcerpt(b, m.B)})
			}
		} else {
			s.Hidden++
		}
		s.Pairs = append(s.Pairs, shown)
	}
	for _, g := range e.Result.Groups {
		var names []string
		for _, i := range g {
			names = append(names, name(e.Programs[i]))
		}
		s.Groups = append(s.Groups, names)
	}
	return s
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
