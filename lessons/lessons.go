// Package lessons holds what students read, chapters, hints and walk-throughs, the skeletons as they were handed out,
// and the course: which exercises there are, in which order, and what their checks are worth. It reads those of any
// other course that is laid out like this one.
package lessons

//go:generate go run cudalab/grader/proof/authoring/author generate

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// Texts are this folder's, as they were when the program was built.
//
//go:embed *.md *.skeleton.go.txt course.toml
var Texts embed.FS

// Exercise is one entry of course.toml.
type Exercise struct {
	Name     string         `toml:"name"`     // as on the command line, "async-pipeline"
	Title    string         `toml:"title"`    // as in lists and as the chapter's heading
	About    string         `toml:"about"`    // what the chapter is about, in a sentence
	Package  string         `toml:"package"`  // the name of its folder and Go package, "asyncpipeline"
	Points   map[string]int `toml:"points"`   // what each check is worth, by the check's id
	Requires []string       `toml:"requires"` // names of exercises to do before
	Formerly []string       `toml:"formerly"` // names that it once had: who has begun it under one of them goes on

	// Why is how many steps cudalab why may give, 0 to 4: the course's "why", which is AllSteps where it says nothing.
	Why int `toml:"-"`

	texts fs.FS
	place place
}

// AllSteps are those of cudalab why: the place, a question, a run, and the change.
const AllSteps = 4

// Course is every exercise of this course, in its order.
func Course() ([]Exercise, error) { return Read(Texts) }

// Read is every exercise of the course whose folder lessons is given, in the order of the course. An error is a fault
// of course.toml, in one sentence.
func Read(texts fs.FS) ([]Exercise, error) {
	text, err := fs.ReadFile(texts, "course.toml")
	if err != nil {
		return nil, err
	}
	exercises, err := parseCourse(string(text))
	for i := range exercises {
		e := &exercises[i]
		e.texts, e.place = texts, place{number: i + 1, of: len(exercises)}
		if i > 0 {
			e.place.before, exercises[i-1].place.next = &exercises[i-1], e
		}
	}
	return exercises, err
}

func parseCourse(text string) ([]Exercise, error) {
	course := struct {
		Why      int        `toml:"why"`
		Exercise []Exercise `toml:"exercise"`
	}{Why: AllSteps}
	read, err := toml.Decode(text, &course)
	if err != nil {
		said := strings.TrimPrefix(err.Error(), "toml: ") // which names the line, and may quote it
		return nil, faultf("%s", strings.Join(strings.Fields(said), " "))
	}
	if unknown := read.Undecoded(); len(unknown) > 0 {
		return nil, faultf("nothing is called %q", unknown[0].String())
	}
	if course.Why < 0 || course.Why > AllSteps {
		return nil, faultf("why is %d, and should be from 0, for never, to %d, for all steps", course.Why, AllSteps)
	}
	before := map[string]bool{}
	for i, e := range course.Exercise {
		course.Exercise[i].Why = course.Why
		if e.Name == "" || e.Title == "" || e.Package == "" || len(e.Points) == 0 {
			return nil, faultf("exercise %d (%q) needs a name, a title, a package and points", i+1, e.Name)
		}
		for _, check := range slices.Sorted(maps.Keys(e.Points)) {
			if e.Points[check] < 1 {
				return nil, faultf("check %q of %q is worth %d points, and should be worth at least 1", check, e.Name,
					e.Points[check])
			}
		}
		for _, required := range e.Requires {
			if !before[required] {
				return nil, faultf("%q requires %q, which should come before it", e.Name, required)
			}
		}
		if before[e.Name] {
			return nil, faultf("there are two exercises %q, and each needs a name of its own", e.Name)
		}
		before[e.Name] = true
	}
	return course.Exercise, nil
}

// Version is the course's, and cudalab's with it: the newest that CHANGELOG.md has a heading of. It is "" without one.
func Version(texts fs.FS) string {
	text, _ := fs.ReadFile(texts, "CHANGELOG.md")
	_, text, _ = bytes.Cut(append([]byte("\n"), text...), []byte("\n## "))
	version, _, _ := strings.Cut(string(text), "\n")
	version, _, _ = strings.Cut(version, " ")
	return version
}

func faultf(format string, a ...any) error { return fmt.Errorf("course.toml: "+format, a...) }

// Chapter is the text of the exercise's lesson, in Markdown, with links to the lessons before and after it.
func (e Exercise) Chapter() (string, error) {
	text, err := e.text("chapter", ".md")
	if err != nil {
		return "", err
	}
	return e.place.in(text), nil
}

// Walkthrough says why the solution of the exercise is written as it is, in Markdown.
func (e Exercise) Walkthrough() (string, error) { return e.text("walk-through", ".solution.md") }

// Skeleton is the one file of the exercise as it was handed out. It is a copy beside the exercise's own: a cudalab that
// is built again when students have begun to write would hold what they wrote.
func (e Exercise) Skeleton() ([]byte, error) {
	text, err := e.text("skeleton", ".skeleton.go.txt")
	return []byte(text), err
}

// text is what of the exercise is in the file with an ending.
func (e Exercise) text(what, ending string) (string, error) {
	text, err := fs.ReadFile(e.texts, e.Name+ending)
	if err != nil {
		return "", fmt.Errorf("there is no %s of %q: lessons should have a file %s", what, e.Name, e.Name+ending)
	}
	return string(text), nil
}

// Hint is the help with one gap of a skeleton.
type Hint struct {
	TODO  string   // the gap's number, "1a"
	Rules []string // of the findings that a mistake in this gap leads to
	Text  []string // in Markdown, from a nudge to nearly the code
}

// Hints is the help with the exercise's gaps, in the order in which they are to be filled. In the hints' file a heading
// "## 1a" begins a gap, a line "Findings: `leak`, `host-wait`" below it names the rules, if there are any, and "###
// Hint 1" and so on begins each of its hints.
func (e Exercise) Hints() ([]Hint, error) {
	text, err := e.text("hints", ".hints.md")
	if err != nil {
		return nil, err
	}
	var hints []Hint
	for _, section := range strings.Split(text, "\n## ")[1:] {
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
