package site_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/browser/site"
	"cudalab/grader/report/page"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	require.NoError(t, err)
	return string(text)
}

// The page's policy names what may run, and the scripts within its frames by their hashes.
func TestThePolicyAllowsTheScriptsOfFrames(t *testing.T) {
	index := read(t, written(t), "index.html")
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(index)
	require.NotNil(t, policy)
	var shown bytes.Buffer
	require.NoError(t, page.Write(&shown, page.Input{Title: "x", Read: os.ReadFile,
		Report: verdict.Report{Exercise: "slab", Status: verdict.Passed}}))
	script := regexp.MustCompile(`(?s)<script>(.*)</script>`).FindStringSubmatch(shown.String())
	require.NotNil(t, script)
	for _, text := range []string{script[1], read(t, ".", "inside.js")} {
		sum := sha256.Sum256([]byte(text))
		require.Contains(t, policy[1], "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	for _, lax := range []string{"'unsafe-eval'", "https:", "http:", "*", "'strict-dynamic'"} {
		require.NotContains(t, policy[1], lax)
	}
	require.NotRegexp(t, `script-src[^;]*'unsafe-inline'`, policy[1])
	require.NotRegexp(t, `<script(?: [^>]*)?>[^<]`, index, "no script stands in the page itself")
	require.NotRegexp(t, `\son[a-z]+=`, index)
}

// lessonTexts are what the page reads of a lesson.
type lessonTexts struct {
	Chapter  string
	Hints    []struct{ Text []string }
	Solution string
}

func TestTextsLeadNowhereThatIsNotThere(t *testing.T) {
	c, err := course.Open(root)
	require.NoError(t, err)
	dir := written(t)
	for _, e := range c.Exercises {
		var texts lessonTexts
		require.NoError(t, json.Unmarshal([]byte(read(t, dir, "lessons/"+e.Name+".json")), &texts))
		require.Contains(t, texts.Chapter, "<h1>"+e.Title+"</h1>")
		require.Contains(t, texts.Chapter, "<details>\n<summary>", "the traps are folded")
		require.NotContains(t, texts.Chapter, "```")
		require.NotEmpty(t, texts.Hints)
		require.Contains(t, texts.Solution, "func ")
		all := texts.Chapter + texts.Solution
		for _, h := range texts.Hints {
			for _, text := range h.Text {
				all += text
			}
		}
		for _, link := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(all, -1) {
			if name, lesson := regexp.MustCompile(`^#(.+)`).FindStringSubmatch(link[1]), link[1][0] == '#'; lesson {
				_, err := c.Find(name[1])
				require.NoError(t, err)
				continue
			}
			require.Regexp(t, `^https?://`, link[1], e.Name)
		}
	}
}

// Texts say what is to be done in the page; a command line is named where it can do more.
func TestTextsAreAboutThePage(t *testing.T) {
	c, err := course.Open(root)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, site.Write(c, dir))
	elsewhere := regexp.MustCompile(`(?:On a command line )?<code>cudalab (?:check|prove|solution|hint|reset)|` +
		`<code>(?:exercises|solutions)/`)
	for _, e := range c.Exercises {
		var texts lessonTexts
		require.NoError(t, json.Unmarshal([]byte(read(t, dir, "lessons/"+e.Name+".json")), &texts))
		for _, said := range elsewhere.FindAllString(texts.Chapter, -1) {
			require.Regexp(t, "^On a command line ", said, "%s sends readers elsewhere", e.Name)
		}
		for _, image := range regexp.MustCompile(`<img [^>]*>`).FindAllString(texts.Chapter, -1) {
			require.Regexp(t, `src="data:image/svg\+xml;base64,[^"]+" alt="[^"]+"`, image, e.Name)
		}
	}
}

func TestAHandoutsSiteHasNoSolutions(t *testing.T) {
	c, err := course.Open(root)
	require.NoError(t, err)
	c.Root = t.TempDir() // no solutions lie there
	dir := t.TempDir()
	require.NoError(t, site.Write(c, dir))
	for _, e := range c.Exercises {
		var texts lessonTexts
		require.NoError(t, json.Unmarshal([]byte(read(t, dir, "lessons/"+e.Name+".json")), &texts))
		require.Empty(t, texts.Solution)
	}
}

// The worker lists every file by its content, so that another site is another worker.
func TestTheWorkerKnowsEveryFile(t *testing.T) {
	dir := written(t)
	worker := read(t, dir, "sw.js")
	list := regexp.MustCompile(`(?m)^const files = (\{.*\});`).FindStringSubmatch(worker)
	require.NotNil(t, list)
	var files map[string]string
	require.NoError(t, json.Unmarshal([]byte(list[1]), &files))
	for _, name := range []string{"index.html", "app.js", "colors.css", "codemirror/codemirror.js", "lessons/slab.json",
		"course.json", "inside.js", "engine.js"} {
		require.Contains(t, files, name)
	}
	require.NotContains(t, files, "sw.js")
	require.NotContains(t, files, "app.js.gz")
	require.FileExists(t, filepath.Join(dir, "app.js.gz"))
	require.FileExists(t, filepath.Join(dir, "app.js.br"))

	require.NoError(t, site.Seal(t.Context(), dir))
	require.Equal(t, worker, read(t, dir, "sw.js"), "the same files, the same worker")
	require.NoError(t, site.Whole(dir))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "app.js"), []byte("export {};"), 0o644))
	require.EqualError(t, site.Whole(dir), "app.js is not the one that was built")
	require.NoError(t, site.Seal(t.Context(), dir))
	require.NotEqual(t, worker, read(t, dir, "sw.js"))
	require.NoError(t, site.Whole(dir))
	require.NoError(t, os.Remove(filepath.Join(dir, "course.json")))
	require.EqualError(t, site.Whole(dir), "course.json cannot be read")

	c, err := course.Open(root)
	require.NoError(t, err)
	require.NoError(t, site.Write(c, dir))
	require.EqualError(t, site.Whole(dir), "sw.js lists no files yet", "a build was interrupted")
}
