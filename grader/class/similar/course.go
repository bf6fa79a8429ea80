package similar

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cudalab/grader/class/intake"
	"cudalab/grader/suites/course"
)

// given is what a course gives everybody for an exercise.
type given struct {
	Files    []File   // the skeleton and the solution's
	Markdown []string // the chapter, the hints and the walk-through
}

// GivenFor is what the course at root gives for an exercise.
func GivenFor(root string, e course.Exercise) (g given, err error) {
	skeleton, err := e.Skeleton()
	if err != nil {
		return given{}, err
	}
	g.Files = []File{{"skeleton.go", string(skeleton)}}
	solution, err := goFiles(filepath.Join(root, e.SolutionFolder()))
	if err != nil {
		return given{}, err
	}
	for _, f := range solution {
		if !strings.HasSuffix(f.Name, "_test.go") {
			g.Files = append(g.Files, File{"solution-" + f.Name, f.Text})
		}
	}
	for _, read := range []func() (string, error){e.Chapter, e.Walkthrough} {
		text, err := read()
		if err != nil {
			return given{}, err
		}
		g.Markdown = append(g.Markdown, text)
	}
	hints, err := e.Hints()
	for _, h := range hints {
		g.Markdown = append(g.Markdown, h.Text...)
	}
	return g, err
}

// Base is the code in all of that.
func (g given) Base() *Base {
	var files []string
	for _, f := range g.Files {
		files = append(files, f.Text)
	}
	return NewBase(files, g.Markdown)
}

// HandedIn are the submissions' programs for one exercise, named by its package.
func HandedIn(submissions []intake.Submission, pkg string) ([]Program, error) {
	var programs []Program
	for _, s := range submissions {
		if !slices.Contains(s.Packages, pkg) {
			continue
		}
		files, err := goFiles(filepath.Join(s.Dir, pkg))
		if err != nil {
			return nil, err
		}
		programs = append(programs, Program{ID: s.ID, Files: files})
	}
	return programs, nil
}

// goFiles are the Go files of a folder, by name.
func goFiles(dir string) ([]File, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, e := range entries {
		if !e.Type().IsRegular() || filepath.Ext(e.Name()) != ".go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, File{e.Name(), string(text)})
	}
	return files, nil
}
