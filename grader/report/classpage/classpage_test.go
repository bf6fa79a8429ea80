package classpage

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"cudalab/grader/class"
	"cudalab/grader/proof/browsertest"
	"cudalab/grader/proof/reporttest"
	"cudalab/grader/report/gradebook"
	"cudalab/grader/suite/verdict"
)

var screenshots = flag.String("screenshots", "",
	"write pictures of the pages, as a browser shows them, to the folder `DIR`")

func write(t *testing.T, c *class.Class) []byte {
	t.Helper()
	var out, again bytes.Buffer
	require.NoError(t, Write(&out, c))
	require.NoError(t, Write(&again, c))
	require.Equal(t, out.String(), again.String(), "the same class gives the same bytes")
	return out.Bytes()
}

func parse(t *testing.T, text []byte) *html.Node {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(text))
	require.NoError(t, err)
	return root
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// find are the elements with a tag, and a class or id if one is given.
func find(n *html.Node, tag, class string) []*html.Node {
	var found []*html.Node
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && d.Data == tag &&
			(class == "" || attr(d, "id") == class || slices.Contains(strings.Fields(attr(d, "class")), class)) {
			found = append(found, d)
		}
	}
	return found
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// holdsTogether checks what every page promises: it needs nothing from elsewhere, runs no script but its own, its links
// lead to what lies beside it, and its drawings have names and descriptions.
func holdsTogether(t *testing.T, root *html.Node, scripts int, links []string) {
	t.Helper()
	ids := map[string]bool{}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		require.NotContains(t, []string{"img", "link", "iframe", "object", "base", "form"}, n.Data)
		if id := attr(n, "id"); id != "" {
			require.Falsef(t, ids[id], "the id %s is there twice", id)
			ids[id] = true
		}
		for _, a := range n.Attr {
			require.False(t, strings.HasPrefix(a.Key, "on") || a.Key == "src", "%s", a.Key)
			require.NotContains(t, a.Val, "NaN")
			require.NotContains(t, a.Val, "ZgotmplZ")
		}
	}
	require.Len(t, find(root, "script", ""), scripts)
	for _, a := range find(root, "a", "") {
		if to, inside := strings.CutPrefix(attr(a, "href"), "#"); inside {
			require.True(t, ids[to], "%s leads nowhere", to)
		} else {
			require.Contains(t, links, attr(a, "href"))
		}
	}
	for _, svg := range find(root, "svg", "") {
		require.NotEmpty(t, textOf(find(svg, "title", "")[0]))
		require.NotEmpty(t, textOf(find(svg, "desc", "")[0]))
	}
}

// results are the links that a class's page may have, by the files they lead to.
func results(t *testing.T, c *class.Class) []string {
	t.Helper()
	links := []string{"timings/index.html"}
	for i := range c.Students {
		s := &c.Students[i]
		to, err := url.PathUnescape(link(c, s))
		require.NoError(t, err)
		if s.Page == "" {
			require.Equal(t, "students/"+s.ID+".json", to)
		}
		require.Empty(t, func() string { u, _ := url.Parse(link(c, s)); return u.Fragment + u.RawQuery }())
		links = append(links, link(c, s))
	}
	return links
}

func TestAClass(t *testing.T) {
	c := reporttest.Sample()
	root := parse(t, write(t, c))
	holdsTogether(t, root, 1, results(t, c))

	require.Equal(t, "lost: Not graded, by no fault of the submission's: the GPU is lost.",
		textOf(find(find(root, "section", "alarm")[0], "li", "")[0]))
	require.Equal(t, "1 passed everything 0 median, of 100 points 23.57 mean 1 not graded",
		textOf(find(root, "ul", "tiles")[0]))
	for _, fact := range []string{"NVIDIA H200", "CUDA 13.0", "seed 42", "v1.2.3", "0123456789abcdef", "go1.26.8"} {
		require.Contains(t, textOf(find(root, "p", "facts")[0]), fact)
	}
	text := textOf(find(root, "main", "")[0])
	require.Contains(t, text, "torn: The archive is damaged.")
	require.Contains(t, text, "torn: Left aside: notes.txt.")
	require.Contains(t, text, "carlasync-pipelinedoes not compileasyncpipeline/asyncpipeline.go:3declared and not used: y")
	require.Contains(t, text, "carlslabrefusedslab/slab.go:3The import of")

	histogram := find(find(root, "figure", "histogram")[0], "desc", "")[0]
	require.Equal(t, "7 submissions; median 0 %, 1 reached 100 %.", textOf(histogram))
}

func TestWhereTheClassIsStuckHasTheLikelyLines(t *testing.T) {
	c := reporttest.Sample()
	root := parse(t, write(t, c))
	require.NotContains(t, textOf(root), "likely line", "nobody has asked")
	lines := 0
	for i := range c.Students {
		for j := range c.Students[i].Exercises {
			if r := &c.Students[i].Exercises[j]; r.Status == verdict.Failed {
				lines++
				r.Likely = &verdict.Likely{Line: 40 + lines, Function: "Free", Check: r.Checks[0].ID}
			}
		}
	}
	require.Positive(t, lines)
	text := textOf(find(parse(t, write(t, c)), "main", "")[0])
	require.Contains(t, text, "likely line")
	require.Contains(t, text, "Free 41")
}

func TestRatesCountThoseWhoHandedIn(t *testing.T) {
	c := reporttest.Sample()
	rates := find(parse(t, write(t, c)), "table", "rates")
	require.Equal(t, "async-pipeline A pipeline that never waits: 5 handed in", textOf(find(rates[0], "caption", "")[0]))
	var rows []string
	for _, tr := range find(find(rates[0], "tbody", "")[0], "tr", "") {
		row := []string{textOf(find(tr, "th", "")[0])}
		for _, td := range find(tr, "td", "n") {
			row = append(row, textOf(td))
		}
		rows = append(rows, strings.Join(row, " "))
	}
	// Of those who handed it in, ada and bob passed the first, carl's and dora's does not compile, emil's did not end.
	require.Equal(t, []string{
		"arguments refuses bad arguments before any CUDA call 2 1 2 40 %",
		"order every use is ordered after its allocation 1 1 3 20 %",
		"speed as fast as overlapping batches allow 1 0 4 20 %",
	}, rows)
}

func TestTheMatrixSaysWithoutColourWhatBecameOfEachCheck(t *testing.T) {
	c := reporttest.Sample()
	table := find(parse(t, write(t, c)), "table", "matrix")[0]
	got := map[string]string{}
	for _, tr := range find(find(table, "tbody", "")[0], "tr", "") {
		var cells []string
		for _, td := range find(tr, "td", "") {
			cells = append(cells, textOf(td))
		}
		got[textOf(find(tr, "th", "")[0])] = strings.Join(cells, " ")
	}
	require.Equal(t, map[string]string{
		"ada":  "100 45 ✓ ✓ ✓ 55 ✓ ✓",
		"bob":  "10 10 ✓ ✗ – 0 · ·",
		"carl": "0 0 B B B 0 R R",
		"dora": "55 0 B B B 55 ✓ ✓",
		"emil": "0 0 ✗ – – 0 ✗ –",
		"zoë":  "0 0 · · · 0 · ·",
		"lost": "none  ! ! !  ! !",
		"torn": "0 0 · · · 0 · ·",
	}, got)
}

// An example must not point at whoever made the mistake.
func TestFindingsAreCountedByStudentAndNameNoOne(t *testing.T) {
	c := reporttest.Large(60)
	for i := range c.Students {
		c.Students[i].ID = fmt.Sprintf("Nobody%03d", i)
	}
	root := parse(t, write(t, c))
	cards := find(root, "li", "finding")
	require.Len(t, cards, mostFindings)
	for _, card := range cards {
		require.NotContains(t, textOf(card), "Nobody")
		require.Empty(t, find(card, "a", ""))
	}
	found, rest := commonFindings(c)
	require.Positive(t, rest)
	for i, f := range found {
		n := 0
		for _, s := range c.Students {
			for _, r := range s.Exercises {
				has := false
				for _, k := range r.Checks {
					for _, x := range k.Findings {
						has = has || k.ID != "build" && r.Exercise == f.Exercise && x.Rule == f.Rule && x.Severity == f.Severity
					}
				}
				if has {
					n++
				}
			}
		}
		require.Equal(t, n, f.Students)
		if i > 0 {
			require.LessOrEqual(t, n, found[i-1].Students)
		}
	}
}

func TestHostileTextsStayText(t *testing.T) {
	c := reporttest.Hostile()
	root := parse(t, write(t, c))
	holdsTogether(t, root, 1, results(t, c))
	for i, row := range find(find(find(root, "table", "matrix")[0], "tbody", "")[0], "tr", "") {
		if id := c.Students[i].ID; utf8.ValidString(id) && !strings.ContainsAny(id, "\x00\r") { // which HTML does not have
			require.Equal(t, strings.Join(strings.Fields(gradebook.Clean(id)), " "), textOf(find(row, "th", "")[0]))
		}
	}
}

func TestALargeClassStaysReadable(t *testing.T) {
	c := reporttest.Large(300)
	text := write(t, c)
	require.Less(t, len(text), 2<<20)
	root := parse(t, text)
	holdsTogether(t, root, 1, results(t, c))
	table := find(root, "table", "matrix")[0]
	require.Len(t, find(find(table, "tbody", "")[0], "td", ""), 300*(1+6*9))
}

// While grading runs the page says how far it is and reads itself again; what was stopped does not.
func TestALivePage(t *testing.T) {
	c := reporttest.Large(5)
	at := time.Date(2026, 3, 1, 14, 3, 5, 0, time.UTC)
	refresh := func(root *html.Node) (content string) {
		for _, m := range find(root, "meta", "") {
			if attr(m, "http-equiv") == "refresh" {
				content = attr(m, "content")
			}
		}
		return content
	}
	for _, l := range []struct {
		live class.Live
		says string
		goes string
	}{
		{class.Live{Progress: class.Progress{Total: 40}, At: at}, "Grading: 0 of 40 graded. 0 of 40 As of 14:03:05", "10"},
		{class.Live{Progress: class.Progress{Done: 5, Total: 40, Left: 7 * time.Minute}, At: at},
			"Grading: 5 of 40 graded, about 7 min left. 5 of 40 As of 14:03:05", "10"},
		{class.Live{Progress: class.Progress{Done: 5, Total: 6, Left: 9 * time.Second}, At: at},
			"5 of 6 graded, about 9 s left.", "10"},
		{class.Live{Progress: class.Progress{Pages: true, Done: 1, Total: 6, Left: 9 * time.Second}, At: at},
			"1 of 6 students' pages are drawn, about 9 s left.", "10"},
		{class.Live{Progress: class.Progress{Done: 5, Total: 40}, At: at, Stopped: true},
			"Stopped: 5 of 40 graded. 5 of 40 cudalab grade --resume goes on", ""},
	} {
		c.Live = &l.live
		root := parse(t, write(t, c))
		holdsTogether(t, root, 1, results(t, c))
		require.Contains(t, strings.Join(strings.Fields(textOf(find(root, "div", "live")[0])), " "), l.says)
		require.Equal(t, l.goes, refresh(root))
	}
	c.Live = nil
	root := parse(t, write(t, c))
	require.Empty(t, find(root, "div", "live"))
	require.Empty(t, refresh(root))
}

func TestWhoeverHasAPageIsLinkedToIt(t *testing.T) {
	c := reporttest.Sample()
	c.Students[0].Page = "students/ada.html"
	root := parse(t, write(t, c))
	links := results(t, c)
	require.Contains(t, links, "students/ada.html")
	holdsTogether(t, root, 1, links)
	c.Pseudonyms = true
	root = parse(t, write(t, c))
	holdsTogether(t, root, 1, []string{"students/ada.html"})
	require.Contains(t, textOf(root), "Names are pseudonyms.")
}

func TestAnEmptyClass(t *testing.T) {
	c := reporttest.Class()
	root := parse(t, write(t, c))
	holdsTogether(t, root, 1, results(t, c))
	require.Contains(t, textOf(root), "No check has found anything.")
}

// The script sorts by the column that was clicked, and says so to those who cannot see it.
func TestABrowserSorts(t *testing.T) {
	text := write(t, reporttest.Large(20))
	click := []byte(`<script>document.querySelectorAll("#matrix .heads button")[1].click()</script></body>`)
	root := parse(t, browsertest.Run(t, bytes.Replace(text, []byte("</body>"), click, 1), "--dump-dom"))
	table := find(root, "table", "matrix")[0]
	last := -1.0
	for _, tr := range find(find(table, "tbody", "")[0], "tr", "") {
		var total float64
		_, err := fmt.Sscan(textOf(find(tr, "td", "")[0]), &total)
		require.NoError(t, err)
		require.GreaterOrEqual(t, total, last)
		last = total
	}
	heads := find(find(table, "tr", "heads")[0], "th", "")
	require.Equal(t, "ascending", attr(heads[1], "aria-sort"))
}

// TestScreenshots writes what the pages look like, for people to look at: go test ./grader/report/classpage
// -screenshots DIR.
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("No folder is given with -screenshots.")
	}
	require.NoError(t, os.MkdirAll(*screenshots, 0o755))
	c := reporttest.Large(300)
	c.Students = append(c.Students, reporttest.Sample().Students[6])
	var times bytes.Buffer
	require.NoError(t, writeTimings(&times, c, measuredClass(c)))
	for name, text := range map[string][]byte{"class": write(t, c), "times": times.Bytes()} {
		for _, size := range []string{"1400,4200", "420,5000"} {
			for scheme, setting := range map[string]string{"light": "1", "dark": "0"} {
				file, err := filepath.Abs(filepath.Join(*screenshots, fmt.Sprintf("%s-%s-%s.png", name, size[:4], scheme)))
				require.NoError(t, err)
				browsertest.Run(t, text, "--window-size="+size, "--blink-settings=preferredColorScheme="+setting, "--screenshot="+
					file)
				info, err := os.Stat(file)
				require.NoError(t, err)
				require.Positive(t, info.Size())
			}
		}
	}
}

func TestTimingsComeFromTheirFiles(t *testing.T) {
	c := reporttest.Large(12)
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "timings"), 0o755))
	for i, timing := range measuredClass(c) {
		text, err := json.Marshal(timing)
		require.NoError(t, err)
		if i == 0 {
			text = text[:len(text)/2] // torn
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, "timings", timing.ID+".json"), text, 0o644))
	}
	require.NoError(t, WriteTimings(dir, c))
	text, err := os.ReadFile(filepath.Join(dir, "timings", "index.html"))
	require.NoError(t, err)
	root := parse(t, text)
	holdsTogether(t, root, 0, []string{"../report.html"})
	require.Contains(t, textOf(find(find(root, "figure", "strip")[0], "desc", "")[0]), "11 students")
}
