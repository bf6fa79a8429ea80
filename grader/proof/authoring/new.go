package authoring

import (
	"embed"
	"errors"
	"fmt"
	"go/format"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"cudalab/grader/judge/compile"
	"cudalab/grader/suite"
	"cudalab/lessons"
)

//go:embed template
var templates embed.FS

// begun are the files that a new lesson begins with, by their templates. What is not among them no program can write.
var begun = map[string]string{
	"exercise.go.txt":    "exercises/%[2]s/%[2]s.go",
	"solution.go.txt":    "solutions/%[2]s/%[2]s.go",
	"suite.go.txt":       "grader/suites/%[2]s/suite.go",
	"lesson_test.go.txt": "grader/suites/%[2]s/lesson_test.go",
	"hints.md":           "lessons/%[1]s.hints.md",
}

// newLesson is what the templates are filled with.
type newLesson struct {
	Name, Package, Title string
	Module               string // the course's
}

var goodName = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// New makes the folders of a lesson in the course at root, with a first part that passes, and enters it in course.toml
// and in the registry. It answers the files that it wrote. Its errors say what is wrong with the name, or which file
// cannot be written; nothing has changed then.
func New(root, name string) ([]string, error) {
	l := newLesson{Name: name, Package: suite.PackageOf(name), Module: compile.Module(root)}
	switch {
	case name == "":
		return nil, errors.New("the lesson needs a name, lower-case words joined by hyphens: make lesson NAME=ring-buffer")
	case !goodName.MatchString(name):
		return nil, fmt.Errorf("%q is no name for a lesson: it should be lower-case words joined by hyphens, such as ring "+
			"or ring-buffer", name)
	case token.IsKeyword(l.Package) || l.Package == "contract" || l.Package == "course" || l.Package == "suite":
		return nil, fmt.Errorf("%q is no name for a lesson, since its package could not be called %s: choose another", name,
			l.Package)
	}
	l.Title = strings.ToUpper(name[:1]) + strings.ReplaceAll(name[1:], "-", " ")
	exercises, err := lessons.Read(os.DirFS(filepath.Join(root, "lessons")))
	if err != nil {
		return nil, err
	}
	for _, e := range exercises {
		if e.Name == name || e.Package == l.Package {
			return nil, fmt.Errorf("there is a lesson %s already, in the package %s: choose another name", e.Name, e.Package)
		}
	}
	files := map[string]string{}
	for from, to := range begun {
		text, err := filled(from, l)
		if err != nil {
			return nil, err
		}
		files[fmt.Sprintf(to, l.Name, l.Package)] = text
	}
	for file := range files {
		if _, err := os.Stat(filepath.Join(root, file)); !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is there already: choose another name, or take the file away", file)
		}
	}
	if files["lessons/course.toml"], err = listed(root, l); err != nil {
		return nil, err
	}
	if files[registry], err = registered(root, l); err != nil {
		return nil, err
	}
	for file, text := range files {
		at := filepath.Join(root, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(files)), nil
}

func filled(from string, l newLesson) (string, error) {
	t, err := template.ParseFS(templates, "template/"+from)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, l)
	return b.String(), err
}

// listed is course.toml with the lesson at its end.
func listed(root string, l newLesson) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "lessons", "course.toml"))
	if err != nil {
		return "", err
	}
	entry, err := filled("course.toml", l)
	return strings.TrimRight(string(text), "\n") + "\n\n" + entry, err
}

var registryList = regexp.MustCompile(`(?s)(var all = \[\]\*suite\.Suite\{\n.*?)(\n\})`)

// registered is suites.go with the lesson's line.
func registered(root string, l newLesson) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, registry))
	if err != nil {
		return "", err
	}
	if !registryList.Match(text) || !strings.Contains(string(text), "import (\n") {
		return "", fmt.Errorf("%s should have `import (` and `var all = []*suite.Suite{`, with a line for each lesson, to "+
			"add one to", registry)
	}
	now := registryList.ReplaceAllString(string(text), "${1}\n\t"+l.Package+".Lesson.Judging(),${2}")
	// Beside the other suites, for gofmt to sort.
	beside := "\t\"cudalab/grader/suite\"\n"
	now = strings.Replace(now, beside, beside+fmt.Sprintf("\t%q\n", l.Module+"/grader/suites/"+l.Package), 1)
	formatted, err := format.Source([]byte(now))
	return string(formatted), err
}
