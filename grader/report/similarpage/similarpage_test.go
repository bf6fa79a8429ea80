package similarpage_test

import (
	"bytes"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"cudalab/grader/class/similar"
	"cudalab/grader/proof/browsertest"
	"cudalab/grader/proof/corpus"
	"cudalab/grader/report/similarpage"
	"cudalab/grader/suites/course"
)

var screenshots = flag.String("screenshots", "",
	"write pictures of the page, as a browser shows it, to the folder `DIR`")

const root = "../../.."

// found is a class with copies in two exercises, and with names and code that are made to break a page.
func found(t *testing.T) []similarpage.Exercise {
	t.Helper()
	c, err := course.Open(root)
	require.NoError(t, err)
	var all []similarpage.Exercise
	for _, pkg := range []string{"slab", "tracker"} {
		e, err := c.Find(pkg)
		require.NoError(t, err)
		given, err := similar.GivenFor(root, e)
		require.NoError(t, err)
		programs, err := corpus.Programs(root, pkg)
		require.NoError(t, err)
		var class []similar.Program
		for _, p := range programs {
			if p.Kind == corpus.Right || p.Kind == corpus.Solution {
				class = append(class, similar.Program{ID: p.String(), Files: []similar.File{{Name: pkg + ".go", Text: p.Text}}})
			}
		}
		nasty := class[len(class)-1]
		nasty.ID = `<script>alert("x")</script> ` + "\u202Egnp"
		nasty.Files = []similar.File{{Name: "\u202Eog.go", Text: strings.Replace(nasty.Files[0].Text, "package",
			"// </pre><script>\u202E\x1b[2J\npackage", 1)}}
		nasty.Files[0].Text = strings.ReplaceAll(nasty.Files[0].Text, "return", "/* \u2066</pre><b> */ return")
		result, err := similar.Compare(t.Context(), append(class, nasty), given.Base(), similar.Options{})
		require.NoError(t, err)
		all = append(all, similarpage.Exercise{Name: e.Name, Title: e.Title, Result: result})
	}
	return all
}

func write(t *testing.T, exercises []similarpage.Exercise) []byte {
	t.Helper()
	var out, again bytes.Buffer
	require.NoError(t, similarpage.Write(&out, exercises, []string{"Left aside: <b>\u202E"}))
	require.NoError(t, similarpage.Write(&again, exercises, []string{"Left aside: <b>\u202E"}))
	require.Equal(t, out.String(), again.String())
	return out.Bytes()
}

func TestThePageNeedsNothingAndObeysNobody(t *testing.T) {
	text := write(t, found(t))
	node, err := html.Parse(bytes.NewReader(text))
	require.NoError(t, err)
	ids, links, named := map[string]bool{}, []string{}, []string{}
	for n := range node.Descendants() {
		require.NotContains(t, []string{"script", "img", "link", "iframe", "b"}, n.Data)
		for _, a := range n.Attr {
			require.NotContains(t, []string{"src", "style"}, a.Key)
			require.False(t, strings.HasPrefix(a.Key, "on"))
			switch a.Key {
			case "id":
				require.False(t, ids[a.Val], a.Val)
				ids[a.Val] = true
			case "href":
				links = append(links, a.Val)
			case "aria-labelledby":
				named = append(named, a.Val)
			}
		}
	}
	require.Greater(t, len(links), 3)
	for _, to := range links {
		require.True(t, ids[strings.TrimPrefix(to, "#")], to)
	}
	for _, name := range named {
		require.True(t, ids[name], name)
	}
	require.Equal(t, -1, strings.IndexFunc(string(text), func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }),
		"nothing on it steers a browser")
	require.Contains(t, string(text), "What this does not prove")
	require.Contains(t, string(text), "Alike in more than one exercise")
}

func TestNothingFound(t *testing.T) {
	result, err := similar.Compare(t.Context(), []similar.Program{{ID: "ada"}, {ID: "bob"}}, nil, similar.Options{})
	require.NoError(t, err)
	text := string(write(t, []similarpage.Exercise{{Name: "slab", Title: "T", Result: result}}))
	require.Contains(t, text, "0 pairs among 2 students")
	require.Contains(t, text, "No two programs are so alike.")
	require.Contains(t, text, "2 programs left too little to compare")
	require.Empty(t, similarpage.List(nil).Pairs)
}

func TestPairsBeyondWhatAPersonReadsHaveNoPassages(t *testing.T) {
	c, err := corpus.Find(root, "slab", "right/bitmap")
	require.NoError(t, err)
	var class []similar.Program
	other, err := corpus.Find(root, "slab", "right/linked-list")
	require.NoError(t, err)
	for i := range 9 { // 36 pairs of each
		for j, text := range []string{c.Text, other.Text} {
			class = append(class, similar.Program{ID: fmt.Sprint(i, j), Files: []similar.File{{Name: "slab.go", Text: text}}})
		}
	}
	course, err := course.Open(root)
	require.NoError(t, err)
	e, err := course.Find("slab")
	require.NoError(t, err)
	given, err := similar.GivenFor(root, e)
	require.NoError(t, err)
	result, err := similar.Compare(t.Context(), class, given.Base(), similar.Options{})
	require.NoError(t, err)
	exercises := []similarpage.Exercise{{Name: "slab", Result: result}}
	text := string(write(t, exercises))
	require.Equal(t, 40, strings.Count(text, `class="pair"`))
	require.Contains(t, text, "The passages of the last 32 pairs are not shown.")
	require.Len(t, similarpage.List(exercises).Pairs, 72)
}

// A whole course in which everybody has copied has a page that can be mailed, with every text of many on it.
func TestThePageIsBounded(t *testing.T) {
	c, err := course.Open(root)
	require.NoError(t, err)
	var exercises []similarpage.Exercise
	for _, e := range c.Exercises {
		programs, err := corpus.Programs(root, e.Package)
		require.NoError(t, err)
		var class []similar.Program
		for i := range 400 {
			p := programs[i%20%len(programs)]
			id := strings.Repeat("A student with a long name ", 2) + fmt.Sprint(i)
			class = append(class, similar.Program{ID: id, Files: []similar.File{{Name: "a.go", Text: p.Text}}})
		}
		result, err := similar.Compare(t.Context(), class, nil, similar.Options{})
		require.NoError(t, err)
		exercises = append(exercises, similarpage.Exercise{Name: e.Name, Result: result})
	}
	text := write(t, exercises)
	require.Less(t, len(text), 1_000_000)
	require.Greater(t, strings.Count(string(text), "This text stands in"), len(exercises)/2)
}

// A browser shows the page from 420 px on without a need to scroll sideways, and opens the pair that a link leads to.
func TestInABrowser(t *testing.T) {
	text := write(t, found(t))
	for _, width := range []int{420, 1000, 1600} {
		tab := browsertest.Open(t, text, width, 1000)
		require.Equal(t, "true", tab.Eval(`String(document.documentElement.scrollWidth <= innerWidth)`), "at %d px", width)
		require.Equal(t, "false true", tab.Eval(`(() => {
			const link = document.querySelector('td a'), pair = document.querySelector(link.getAttribute('href')).closest('details');
			const before = pair.open; link.click(); return before + ' ' + pair.open })()`))
		require.Equal(t, "true", tab.Eval(`String(document.documentElement.scrollWidth <= innerWidth)`),
			"at %d px, a pair open", width)
	}
	if *screenshots == "" {
		return
	}
	opened := bytes.ReplaceAll(text, []byte(`<details class="pair">`), []byte(`<details class="pair" open>`))
	for name, more := range map[string][]string{
		"wide": {"--window-size=1600,2600"}, "narrow": {"--window-size=500,2600"},
		"dark": {"--window-size=1600,2600", "--blink-settings=preferredColorScheme=0"},
	} {
		browsertest.Run(t, opened, append(more, "--screenshot="+filepath.Join(*screenshots, name+".png"))...)
		require.FileExists(t, filepath.Join(*screenshots, name+".png"))
	}
}
