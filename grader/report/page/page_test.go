package page_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/prove"
	"cudalab/grader/judge/run"
	"cudalab/grader/proof/browsertest"
	"cudalab/grader/proof/corpus"
	"cudalab/grader/report/page"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

// render checks a program of a lesson's corpus, or with "" its solution, and returns the page and the report.
func render(t *testing.T, exercise, program string) ([]byte, verdict.Report) {
	t.Helper()
	c, err := course.Open("../../..")
	require.NoError(t, err)
	e, err := c.Find(exercise)
	require.NoError(t, err)
	dir := filepath.Join(c.Root, e.SolutionFolder())
	if program != "" {
		p, err := corpus.Find(c.Root, e.Package, program)
		require.NoError(t, err)
		dir = t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, e.Package+".go"), []byte(p.Text), 0o644))
	}
	r := check.Exercise(context.Background(), check.Request{
		Course: compile.Course{Root: c.Root}, Options: run.Options{Device: "sim", Seed: 42, Pictures: true},
		Code: []check.Code{{Exercise: e, Dir: dir}},
	})
	require.NoError(t, r.Err)
	var out bytes.Buffer
	require.NoError(t, page.Write(&out, page.Input{
		Title: e.Title, Report: r.Report, Orders: prove.Faults(r), Drawn: r.Drawn(), Timed: r.Timed(), Races: r.Races(),
		Place: r.Place, Read: os.ReadFile,
	}))
	return out.Bytes(), r.Report
}

// document is a parsed page.
type document struct {
	t    *testing.T
	root *html.Node
}

func parse(t *testing.T, text []byte) document {
	t.Helper()
	require.Less(t, len(text), 400_000, "a page is sent around")
	root, err := html.Parse(bytes.NewReader(text))
	require.NoError(t, err)
	return document{t, root}
}

func (d document) all(match func(*html.Node) bool) []*html.Node {
	var found []*html.Node
	for n := range d.root.Descendants() {
		if n.Type == html.ElementNode && match(n) {
			found = append(found, n)
		}
	}
	return found
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func hasClass(n *html.Node, class string) bool {
	for _, c := range strings.Fields(attr(n, "class")) {
		if c == class {
			return true
		}
	}
	return false
}

func (d document) class(name string) []*html.Node {
	return d.all(func(n *html.Node) bool { return hasClass(n, name) })
}

func (d document) tag(name string) []*html.Node {
	return d.all(func(n *html.Node) bool { return n.Data == name })
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// holdsTogether checks what every page promises: it needs nothing from elsewhere, its links lead somewhere, its
// drawings have names and descriptions, and its numbers are numbers.
func (d document) holdsTogether() {
	ids := map[string]bool{}
	for _, n := range d.all(func(n *html.Node) bool { return attr(n, "id") != "" }) {
		require.Falsef(d.t, ids[attr(n, "id")], "the id %s is there twice", attr(n, "id"))
		ids[attr(n, "id")] = true
	}
	for _, n := range d.all(func(*html.Node) bool { return true }) {
		require.Empty(d.t, attr(n, "src"))
		require.NotEqual(d.t, "link", n.Data)
		if href := attr(n, "href"); href != "" {
			require.Truef(d.t, strings.HasPrefix(href, "#") && ids[href[1:]], "%s leads nowhere", href)
		}
		for _, a := range n.Attr {
			require.NotContains(d.t, a.Val, "NaN")
			require.NotContains(d.t, a.Val, "ZgotmplZ")
			require.NotContains(d.t, a.Val, "%!")
		}
		for _, id := range strings.Fields(attr(n, "aria-labelledby")) {
			require.Truef(d.t, ids[id], "nothing is called %s", id)
		}
	}
	for _, svg := range d.tag("svg") {
		if d.hidden(svg) {
			continue
		}
		var names []string
		for c := range svg.ChildNodes() {
			if c.Data == "title" || c.Data == "desc" {
				require.NotEmpty(d.t, textOf(c))
				names = append(names, c.Data)
			}
		}
		require.Equal(d.t, []string{"title", "desc"}, names, "each drawing has a title and a description")
	}
}

// hidden reports whether a node is for eyes only.
func (d document) hidden(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if attr(n, "aria-hidden") == "true" {
			return true
		}
	}
	return false
}

func number(t *testing.T, n *html.Node, name string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(attr(n, name), 64)
	require.NoError(t, err)
	return v
}

func TestAPageOfAPass(t *testing.T) {
	text, r := render(t, "pool-config", "")
	require.Equal(t, verdict.Passed, r.Status)
	d := parse(t, text)
	d.holdsTogether()
	require.Contains(t, textOf(d.class("verdict")[0]), "passed 100 of 100 points")
	require.Len(t, d.class("check"), len(r.Checks))
	require.Empty(t, d.class("finding"))
	cases := document{t, d.class("more")[0]}
	require.NotEmpty(t, cases.class("piece"), "the blocks are drawn")
	require.Contains(t, textOf(d.class("answer")[0]), "as fast as threshold 0: of ")
	require.NotContains(t, textOf(d.class("figures")[0]), "streams with work", "streams are not what makes it fast")
	require.NotEmpty(t, cases.class("at-once"), "and the pool's size")
	require.Empty(t, cases.class("fault"))
	samples := document{t, d.class("samples")[0]}
	require.Len(t, samples.class("lane"), 3, "the student's, the solution's and the baseline's times")
	require.Len(t, d.class("most"), 1, "the limit stands beside the check")
}

func TestPagesOfFailures(t *testing.T) {
	for _, c := range []struct{ exercise, program, rule, picture string }{
		{"async-pipeline", "wrong/freed-on-another-stream", "free-before-use", "film"},
		{"cross-stream-events", "wrong/recorded-before-fill", "data-race", "film"},
		{"pool-config", "wrong/block-never-freed", "leak", "scene"},
		{"ring", "wrong/free-of-the-next-slot", "overlap-lost", "scene"},
	} {
		t.Run(c.exercise, func(t *testing.T) {
			text, r := render(t, c.exercise, c.program)
			require.NotEqual(t, verdict.Passed, r.Status)
			d := parse(t, text)
			d.holdsTogether()
			found := 0
			for _, ch := range r.Checks {
				for _, f := range ch.Findings {
					if f.Follows == nil { // what follows from another is on that one's card
						found++
					}
				}
			}
			require.Len(t, d.class("finding"), found)
			var card *html.Node
			for _, n := range d.class("finding") {
				if strings.Contains(textOf(n), c.rule) {
					card = n
				}
			}
			require.NotNil(t, card, "no finding %s", c.rule)
			id := attr(card, "id")

			var lines []string
			for _, n := range d.class("mark") {
				if attr(n, "href") == "#"+id {
					lines = append(lines, attr(n.Parent, "id"))
				}
			}
			require.NotEmpty(t, lines, "the source marks its line")
			back := document{t, card}.all(func(n *html.Node) bool { return attr(n, "href") == "#"+lines[0] })
			require.NotEmpty(t, back, "and the finding leads there")
			require.Len(t, (document{t, card}).class(c.picture), 1, "one card has one picture")
			if c.picture != "scene" {
				require.Empty(t, (document{t, card}).class("scene"), "nothing is drawn twice")
				return
			}
			fig := document{t, (document{t, card}).class("scene")[0]}
			require.NotEmpty(t, fig.class("fault"), "the call is marked")
			require.NotEmpty(t, fig.class("pins"))
			tab := browsertest.Open(t, text, 1400, 900)
			byKeyboard(t, tab, ".scene")
			looks(t, tab, twoWays)
		})
	}
}

func TestAPageWithoutARun(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, page.Write(&out, page.Input{Title: "Slabs", Read: os.ReadFile, Report: verdict.Report{
		Exercise: "slab", Status: verdict.BuildFailed, Seed: 1,
		Checks: []verdict.Check{{ID: "build", Name: "compiles", Status: verdict.Failed, Findings: []verdict.Finding{
			{Rule: "compile", Severity: verdict.Error, Message: "undefined: <x>", Fix: "Declare it.", File: "gone.go",
				Line: 3}}}},
	}}))
	d := parse(t, out.Bytes())
	d.holdsTogether()
	require.Contains(t, textOf(d.class("verdict")[0]), "build failed")
	require.Contains(t, textOf(d.class("finding")[0]), "undefined: <x>")
	require.Empty(t, d.class("scene"))
}

// A fault in the order comes with a film of an order in which it goes wrong, beside the one that happened.
func TestAFaultHasAFilm(t *testing.T) {
	text, _ := render(t, "cross-stream-events", "wrong/recorded-before-fill")
	d := parse(t, text)
	d.holdsTogether()
	films := d.class("film")
	require.NotEmpty(t, films)
	require.NotEmpty(t, d.class("own"), "the program's own event is there, which covers too little")
	for _, n := range films {
		in := document{t, n}
		takes := in.class("take")
		require.Len(t, takes, 2, "what happened, and what may happen")
		require.Contains(t, textOf(n), "Nothing makes step ")
		var ends [2][]string
		for k, take := range takes {
			frames := (document{t, take}).class("frame")
			require.NotEmpty(t, frames)
			for i, frame := range frames {
				in := document{t, frame}
				chips := in.tag("i")
				require.Len(t, chips, len(frames)-1, "every step is in every frame")
				require.Len(t, in.class("todo"), len(chips)-i, "one more is done in each")
				seen := map[string]bool{}
				for _, c := range chips {
					require.False(t, seen[attr(c, "style")], "two steps are at one place")
					seen[attr(c, "style")] = true
				}
				if i > 0 {
					ends[k] = append(ends[k], attr(in.class("now")[0], "data-s"))
				}
			}
			require.Len(t, (document{t, take}).all(func(n *html.Node) bool {
				return hasClass(n, "frame") &&
					hasClass(n, "wrong")
			}), k,
				"it is the second in which it goes wrong, and there once")
			require.NotEmpty(t, (document{t, take}).class("held"))
		}
		require.NotEqual(t, ends[0], ends[1], "another order")
		require.ElementsMatch(t, ends[0], ends[1], "of the same steps")
		require.NotEmpty(t, in.class("bad"), "one memory holds what it should not")
		tables := in.tag("table")
		require.Len(t, tables, 2, "the same is there as tables")
		for _, table := range tables {
			require.Len(t, (document{t, table}).tag("tr"), len(ends[0])+2)
		}
		for _, a := range in.tag("a") {
			require.True(t, strings.HasPrefix(attr(a, "href"), "#"), "the source is on the page")
		}
	}
	text, _ = render(t, "cross-stream-events", "")
	require.Empty(t, parse(t, text).class("film"))
}

// What is told of a wrong stream is no fault in the order; the film of the one that comes of it stands with it.
func TestACauseHasTheFilmOfWhatComesOfIt(t *testing.T) {
	text, r := render(t, "async-pipeline", "wrong/freed-on-another-stream")
	for _, c := range r.Checks {
		for _, f := range c.Findings {
			require.True(t, f.Follows != nil || f.Rule == "wrong-stream", "%s heads what it should follow", f.Rule)
		}
	}
	cards := parse(t, text).class("finding")
	require.Len(t, cards, 1)
	require.Contains(t, textOf(cards[0]), "wrong-stream")
	require.Len(t, (document{t, cards[0]}).class("film"), 1)
}
