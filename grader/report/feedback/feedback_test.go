package feedback_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"cudalab/grader/class"
	"cudalab/grader/proof/browsertest"
	"cudalab/grader/proof/corpus"
	"cudalab/grader/proof/reporttest"
	"cudalab/grader/report/classpage"
	"cudalab/grader/report/feedback"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

var screenshots = flag.String("screenshots", "",
	"write pictures of the pages, as a browser shows them, to the folder `DIR`")

// handIn lays a class down: who passes, who fails with and without pictures, and whose code is never run.
func handIn(t *testing.T, dir string) {
	t.Helper()
	c, err := course.Open("../../..")
	require.NoError(t, err)
	for file, program := range map[string]string{
		"Ada Lovelace/asyncpipeline": "solution", "Ada Lovelace/slab": "solution",
		"bob/asyncpipeline": "wrong/freed-on-another-stream", "bob/slab": "wrong/spills-one-class",
		"Grace Hopper/asyncpipeline": "broken", "Grace Hopper/slab": "solution",
	} {
		pkg := filepath.Base(file)
		text, err := os.ReadFile(filepath.Join(c.Root, "solutions", pkg, pkg+".go"))
		require.NoError(t, err)
		switch program {
		case "solution":
		case "broken":
			text = append(text, "\nfunc broken( {\n"...)
		default:
			p, err := corpus.Find(c.Root, pkg, program)
			require.NoError(t, err)
			text = []byte(p.Text)
		}
		path := filepath.Join(dir, file)
		require.NoError(t, os.MkdirAll(path, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(path, pkg+".go"), text, 0o644))
	}
}

func options(t *testing.T, submissions, results string) class.Options {
	t.Helper()
	c, err := course.Open("../../..")
	require.NoError(t, err)
	o := class.Options{Root: c.Root, Submissions: submissions, Results: results, Device: "sim", Seed: 42,
		Say: func(sentence string) { t.Log(sentence) }}
	for _, e := range c.Exercises {
		if e.Name == "async-pipeline" || e.Name == "slab" {
			o.Exercises = append(o.Exercises, e)
		}
	}
	return o
}

func read(t *testing.T, parts ...string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	require.NoError(t, err)
	return text
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func withClass(root *html.Node, name string) (found []*html.Node) {
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && slices.Contains(strings.Fields(attr(n, "class")), name) {
			found = append(found, n)
		}
	}
	return found
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

// holdsTogether checks what every page promises: it needs nothing from elsewhere, its links and labels lead somewhere
// on it, it is not too large, and nothing in it is invisible.
func holdsTogether(t *testing.T, text []byte) *html.Node {
	t.Helper()
	require.LessOrEqual(t, len(text), feedback.MaxSize)
	strange := bytes.IndexFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) })
	require.Negative(t, strange, "%q", text[max(strange-20, 0):max(strange+20, 0)])
	root, err := html.Parse(bytes.NewReader(text))
	require.NoError(t, err)
	ids := map[string]bool{}
	for n := range root.Descendants() {
		if id := attr(n, "id"); n.Type == html.ElementNode && id != "" {
			require.Falsef(t, ids[id], "the id %s is there twice", id)
			ids[id] = true
		}
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		require.NotContains(t, []string{"img", "link", "iframe", "object", "base", "form"}, n.Data)
		require.Empty(t, attr(n, "src"))
		if href := attr(n, "href"); href != "" {
			require.Truef(t, strings.HasPrefix(href, "#") && ids[href[1:]], "%s leads nowhere", href)
		}
		for _, id := range strings.Fields(attr(n, "aria-labelledby")) {
			require.Truef(t, ids[id], "nothing is called %s", id)
		}
		for _, a := range n.Attr {
			require.False(t, strings.HasPrefix(a.Key, "on"), a.Key)
			for _, wrong := range []string{"NaN", "ZgotmplZ", "%!"} {
				require.NotContains(t, a.Val, wrong)
			}
		}
	}
	return root
}

func TestAClassHasPages(t *testing.T) {
	submissions, dir := t.TempDir(), t.TempDir()
	handIn(t, submissions)
	plain := options(t, submissions, filepath.Join(dir, "plain"))
	_, err := class.Grade(context.Background(), plain)
	require.NoError(t, err)

	o := options(t, submissions, filepath.Join(dir, "with pages"))
	o.Pages = []class.Page{feedback.Page(true)}
	var last class.Progress
	o.Progress = func(p class.Progress) { last = p }
	c, err := class.Grade(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, class.Progress{Pages: true, Done: 3, Total: 3}, last)
	pages := map[string][]byte{}
	for _, s := range c.Students {
		require.Equal(t, read(t, plain.Results, "students", s.ID+".json"), read(t, o.Results, "students", s.ID+".json"),
			"no grade depends on the pages")
		pages[s.ID] = read(t, o.Results, "students", s.ID+".html")
		root := holdsTogether(t, pages[s.ID])
		require.True(t, strings.Contains(textOf(root), s.ID))
		require.Contains(t, textOf(withClass(root, "verdict")[0]), fmt.Sprintf("%v of 200 points", s.Score))
		require.Len(t, withClass(root, "exercise"), 2)
		found := 0
		for _, r := range s.Exercises {
			for _, k := range r.Checks {
				for _, f := range k.Findings {
					if f.Follows == nil {
						found++
					}
					require.True(t, strings.Contains(textOf(root), strings.Join(strings.Fields(f.Message), " ")), f.Message)
				}
			}
		}
		require.Len(t, withClass(root, "finding"), found)
		for _, other := range c.Students {
			if other.ID != s.ID {
				require.False(t, strings.Contains(strings.ToLower(textOf(root)), strings.ToLower(other.ID)),
					"%s is on the page of %s", other.ID, s.ID)
			}
		}
		require.False(t, strings.Contains(string(pages[s.ID]), submissions), "no path of this machine")
		require.Equal(t, "students/"+strings.ReplaceAll(s.ID, " ", "%20")+".html", s.Page)
	}
	bob, err := html.Parse(bytes.NewReader(pages["bob"]))
	require.NoError(t, err)
	require.NotEmpty(t, withClass(bob, "take"), "the race is shown as a film")
	require.NotEmpty(t, withClass(bob, "drawing"), "the blocks step by step")
	require.NotEmpty(t, withClass(bob, "excerpt"))
	ada, err := html.Parse(bytes.NewReader(pages["Ada Lovelace"]))
	require.NoError(t, err)
	require.Empty(t, withClass(ada, "scene"), "what passed is not drawn")
	require.NotEmpty(t, withClass(ada, "limit"), "but its speed is told")

	// Gone on with, nothing is drawn twice; a page of another result is drawn again, and one that is missing.
	o.Resume = true
	o.Progress = func(p class.Progress) { require.Fail(t, "there is nothing to do") }
	_, err = class.Grade(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, pages["bob"], read(t, o.Results, "students", "bob.html"))
	require.NoError(t, os.WriteFile(filepath.Join(o.Results, "students", "bob.html"), pages["bob"][:len(pages["bob"])-9],
		0o644))
	require.NoError(t, os.Remove(filepath.Join(o.Results, "students", "Grace Hopper.html")))
	o.Pages = []class.Page{feedback.Page(false)}
	o.Progress = nil
	_, err = class.Grade(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, pages["bob"], read(t, o.Results, "students", "bob.html"))
	require.NoFileExists(t, filepath.Join(o.Results, "students", "Grace Hopper.html"), "nobody asked for it again")

	// Of what is no longer there the page says what it can, and is made whole when it comes back.
	require.NoError(t, os.Rename(filepath.Join(submissions, "bob"), filepath.Join(dir, "bob")))
	require.NoError(t, os.Remove(filepath.Join(o.Results, "students", "bob.html")))
	o.Pages = []class.Page{feedback.Page(true)}
	c, err = class.Grade(context.Background(), o)
	require.NoError(t, err)
	less := holdsTogether(t, read(t, o.Results, "students", "bob.html"))
	require.Contains(t, textOf(less), "no longer among the submissions")
	require.Contains(t, textOf(less), "free-before-use")
	require.Empty(t, withClass(less, "scene"))
	require.NoError(t, os.Rename(filepath.Join(dir, "bob"), filepath.Join(submissions, "bob")))
	_, err = class.Grade(context.Background(), o)
	require.NoError(t, err)
	require.NotEmpty(t, withClass(holdsTogether(t, read(t, o.Results, "students", "bob.html")), "take"))

	inABrowser(t, pages["bob"])
	if *screenshots != "" {
		var report bytes.Buffer
		require.NoError(t, classpage.Write(&report, c))
		shoot(t, map[string][]byte{"student": pages["bob"], "student-passed": pages["Ada Lovelace"], "class": report.Bytes()})
	}
}

// inABrowser opens a page narrow and wide.
func inABrowser(t *testing.T, text []byte) {
	for _, width := range []int{1400, 420} {
		tab := browsertest.Open(t, text, width, 900)
		require.Equal(t, "0", tab.Eval(`Math.max(0, document.documentElement.scrollWidth - innerWidth)`),
			"the page is as wide as the window")
	}
}

func shoot(t *testing.T, pages map[string][]byte) {
	dir, err := filepath.Abs(*screenshots)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for name, text := range pages {
		for _, size := range []string{"1400,3600", "420,4200"} {
			for scheme, setting := range map[string]string{"light": "1", "dark": "0"} {
				file := filepath.Join(dir, fmt.Sprintf("%s-%s-%s.png", name, size[:4], scheme))
				browsertest.Run(t, text, "--window-size="+size, "--blink-settings=preferredColorScheme="+setting, "--screenshot="+
					file)
			}
		}
	}
}

func write(t *testing.T, f *class.Feedback) []byte {
	t.Helper()
	var out bytes.Buffer
	if f.Read == nil {
		f.Read = func(string) ([]byte, error) { return nil, fs.ErrNotExist }
	}
	require.NoError(t, feedback.Write(&out, f))
	return out.Bytes()
}

func TestEveryEndOfASubmissionHasItsPage(t *testing.T) {
	for _, c := range []*class.Class{reporttest.Sample(), reporttest.Partial(), reporttest.Hostile(),
		reporttest.Large(10)} {
		for _, s := range c.Students {
			text := write(t, &class.Feedback{Class: c, Student: s})
			root := holdsTogether(t, text)
			if s.Status != class.Graded {
				require.Contains(t, textOf(withClass(root, "verdict")[0]), "no grade")
				require.NotContains(t, textOf(withClass(root, "verdict")[0]), "points")
			}
		}
	}
}

// However much there is to say, a page is not larger than it may be, and says what it leaves out.
func TestAPageIsBounded(t *testing.T) {
	c := reporttest.Large(1)
	long := strings.Repeat("<&>ä ", 800)
	for _, n := range []int{1, 10, 300} {
		s := c.Students[0]
		s.Problem, s.Notes = long, slices.Repeat([]string{long}, n)
		s.Exercises = slices.Clone(s.Exercises)
		for i := range s.Exercises {
			f := reporttest.Race
			f.Message, f.Why, f.Fix, f.Picture = long, long, long, long
			s.Exercises[i].Status = verdict.Failed
			s.Exercises[i].Output, s.Exercises[i].Message = long, long
			s.Exercises[i].Checks = []verdict.Check{{ID: "order", Name: "order", Status: verdict.Failed,
				Findings: slices.Repeat([]verdict.Finding{f}, n)}}
		}
		read := func(string) ([]byte, error) { return []byte(strings.Repeat(long+"\n", 10*n)), nil }
		text := write(t, &class.Feedback{Class: c, Student: s, Read: read})
		root := holdsTogether(t, text)
		if n > 1 {
			require.Contains(t, textOf(root), "left out")
		}
	}
}
