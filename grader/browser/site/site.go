// Package site is the page of the browser edition: the chapter, an editor, the verdict. It writes the page and what it
// shows of a course, beside the engine that checks the code there, and prepares all of it for being served by any host.
package site

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"cudalab/grader/report/look"
	"cudalab/grader/report/page"
	"cudalab/grader/suites/course"
)

//go:embed *.html *.js *.css *.svg *.webmanifest codemirror/codemirror.js codemirror/LICENSES.txt
var own embed.FS

//go:embed engine/*.js
var engine embed.FS

// Engine is the scripts of the engine's workers, by name, which are put beside what they run.
func Engine() map[string]string {
	scripts := map[string]string{}
	names, err := fs.Glob(engine, "engine/*.js")
	if err != nil {
		panic(err) // the pattern is one
	}
	for _, name := range names {
		text, err := engine.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		scripts[strings.TrimSuffix(path.Base(name), ".js")] = string(text)
	}
	return scripts
}

// lesson is an entry of course.json: what the page shows of a lesson before it is opened.
type lesson struct {
	Name    string            `json:"name"`
	Package string            `json:"package"`
	Title   string            `json:"title"`
	About   string            `json:"about"`
	Number  int               `json:"number"`
	Points  int               `json:"points"`
	Files   map[string]string `json:"files"` // the skeleton's
}

// texts is a file of the folder lessons: what one reads of a lesson, in HTML.
type texts struct {
	Chapter  string `json:"chapter"`
	Hints    []hint `json:"hints"`
	Solution string `json:"solution,omitempty"` // "" in a handout
}

type hint struct {
	TODO  string   `json:"todo"`
	Rules []string `json:"rules"`
	Text  []string `json:"text"`
}

// Write writes the page, and the texts of a course, into a folder. Seal finishes what lies there.
func Write(c *course.Course, dir string) error {
	err := fs.WalkDir(own, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := own.ReadFile(name)
		if err != nil {
			return err
		}
		if name == "index.html" {
			text = []byte(strings.Replace(string(text), "POLICY", allowed(string(page.Script()))+" "+allowed(inside()), 1))
		}
		return put(dir, name, text)
	})
	if err != nil {
		return err
	}
	if err := put(dir, "colors.css", []byte(look.Colors)); err != nil {
		return err
	}
	listed := struct {
		Lessons []lesson `json:"lessons"`
	}{}
	for i, e := range c.Exercises {
		skeleton, err := e.Skeleton()
		if err != nil {
			return err
		}
		points := 0
		for _, p := range e.Points {
			points += p
		}
		listed.Lessons = append(listed.Lessons, lesson{Name: e.Name, Package: e.Package, Title: e.Title, About: e.About,
			Number: i + 1,
			Points: points, Files: map[string]string{e.Package + ".go": string(skeleton)}})
		t, err := read(c, e)
		if err != nil {
			return err
		}
		if err := putJSON(dir, "lessons/"+e.Name+".json", t); err != nil {
			return err
		}
	}
	return putJSON(dir, "course.json", listed)
}

// read makes the texts of an exercise.
func read(c *course.Course, e course.Exercise) (texts, error) {
	m := newRenderer(c)
	chapter, err := e.Chapter()
	if err != nil {
		return texts{}, err
	}
	t := texts{Hints: []hint{}}
	if t.Chapter, err = m.html(chapter); err != nil {
		return t, err
	}
	hints, err := e.Hints()
	if err != nil {
		return t, err
	}
	for _, h := range hints {
		made := hint{TODO: h.TODO, Rules: append([]string{}, h.Rules...)}
		for _, text := range h.Text {
			html, err := m.html(text)
			if err != nil {
				return t, err
			}
			made.Text = append(made.Text, html)
		}
		t.Hints = append(t.Hints, made)
	}
	if !e.HasSolution(c.Root) {
		return t, nil
	}
	solution, err := e.Solved(c.Root)
	if err != nil {
		return t, err
	}
	t.Solution, err = m.html(solution)
	return t, err
}

// allowed is a script as a Content-Security-Policy allows it where it stands within a page.
func allowed(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// inside is the script that the page puts into the frames of films.
func inside() string {
	text, err := own.ReadFile("inside.js")
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

func putJSON(dir, name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return put(dir, name, text)
}

func put(dir, name string, text []byte) error {
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
