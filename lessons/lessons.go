// Package lessons holds what students read, chapters, hints and walk-throughs, the skeletons as they were handed out, and
// the course: which exercises there are, in which order, and what their checks are worth.
package lessons

import (
	"embed"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

//go:embed *.md *.skeleton.go.txt course.toml
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

// Walkthrough says why the solution of an exercise is written as it is, in Markdown.
func Walkthrough(name string) (string, error) {
	text, err := files.ReadFile(name + ".solution.md")
	if err != nil {
		return "", fmt.Errorf("there is no walk-through of %q", name)
	}
	return string(text), nil
}

// Skeleton is the one file of an exercise as it was handed out. It is a copy beside the exercise's own: a cudalab that is
// built again when students have begun to write would hold what they wrote.
func Skeleton(name string) ([]byte, error) {
	text, err := files.ReadFile(name + ".skeleton.go.txt")
	if err != nil {
		return nil, fmt.Errorf("there is no skeleton of %q", name)
	}
	return text, nil
}

// Hint is the help with one gap of a skeleton.
type Hint struct {
	TODO  string   // the gap's number, "1a"
	Rules []string // of the findings that a mistake in this gap leads to
	Text  []string // in Markdown, from a nudge to nearly the code
}

// Hints is the help with an exercise's gaps, in the order in which they are to be filled. In the hints' file a heading
// "## 1a" begins a gap, a line "Findings: `leak`, `host-wait`" below it names the rules, if there are any, and "### Hint 1"
// and so on begins each of its hints.
func Hints(name string) ([]Hint, error) {
	text, err := files.ReadFile(name + ".hints.md")
	if err != nil {
		return nil, fmt.Errorf("there are no hints for %q", name)
	}
	var hints []Hint
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		todo, rest, _ := strings.Cut(section, "\n")
		parts := strings.Split(rest, "\n### Hint ")
		hint := Hint{TODO: todo, Rules: rules(parts[0])}
		for _, part := range parts[1:] {
			_, body, _ := strings.Cut(part, "\n")
			hint.Text = append(hint.Text, strings.TrimSpace(body))
		}
		hints = append(hints, hint)
	}
	return hints, nil
}

// rules reads what stands in backticks behind "Findings:", which may go on over several lines.
func rules(preface string) []string {
	_, list, found := strings.Cut(preface, "Findings:")
	if !found {
		return nil
	}
	var names []string
	for i, part := range strings.Split(list, "`") {
		if i%2 == 1 {
			names = append(names, part)
		}
	}
	return names
}
