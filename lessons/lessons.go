// Package lessons holds what students read, chapters and hints, and the course: which exercises there are, in which
// order, and what their checks are worth.
package lessons

import (
	"embed"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

//go:embed *.md course.toml
var files embed.FS

// Exercise is one entry of course.toml.
type Exercise struct {
	Name     string         `toml:"name"`     // as on the command line, "async-pipeline"
	Title    string         `toml:"title"`    // as in lists and as the chapter's heading
	Package  string         `toml:"package"`  // the name of its folder and Go package, "asyncpipeline"
	Points   map[string]int `toml:"points"`   // what each check is worth, by the check's id
	Requires []string       `toml:"requires"` // names of exercises to do before
}

// Course is every exercise in the order of the course. An error is a fault of course.toml.
func Course() ([]Exercise, error) {
	var course struct {
		Exercise []Exercise `toml:"exercise"`
	}
	read, err := toml.DecodeFS(files, "course.toml", &course)
	if err != nil {
		return nil, fmt.Errorf("course.toml: %w", err)
	}
	if unknown := read.Undecoded(); len(unknown) > 0 {
		return nil, fmt.Errorf("course.toml: nothing is called %s", unknown[0])
	}
	return course.Exercise, nil
}

// Chapter is the text of an exercise's lesson, in Markdown.
func Chapter(name string) (string, error) {
	text, err := files.ReadFile(name + ".md")
	if err != nil {
		return "", fmt.Errorf("there is no lesson %q", name)
	}
	return string(text), nil
}

// Hint is the help with one gap of a skeleton.
type Hint struct {
	TODO string   // the gap's number, "1a"
	Text []string // in Markdown, from a nudge to nearly the code
}

// Hints is the help with an exercise's gaps, in the order in which they are to be filled. In the hints' file a heading
// "## 1a" begins a gap, and "### Hint 1" and so on each of its hints.
func Hints(name string) ([]Hint, error) {
	text, err := files.ReadFile(name + ".hints.md")
	if err != nil {
		return nil, fmt.Errorf("there are no hints for %q", name)
	}
	var hints []Hint
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		todo, rest, _ := strings.Cut(section, "\n")
		hint := Hint{TODO: todo}
		for _, part := range strings.Split(rest, "\n### Hint ")[1:] {
			_, body, _ := strings.Cut(part, "\n")
			hint.Text = append(hint.Text, strings.TrimSpace(body))
		}
		hints = append(hints, hint)
	}
	return hints, nil
}
