package similar

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cudalab/grader/class/intake"
	"cudalab/grader/suites/course"
)

// material is what a course has on an exercise.
type material struct {
	Files     []File // the skeleton and the solution's
	everybody Source // the skeleton, the chapter and the hints
	solution  Source // the solution and its walk-through
}

// GivenFor is what the course at root has on an exercise.
func GivenFor(root string, e course.Exercise) (m material, err error) {
	skeleton, err := e.Skeleton()
	if err != nil {
		return material{}, err
	}
	m.Files, m.everybody.Files = []File{{"skeleton.go", string(skeleton)}}, []string{string(skeleton)}
	files, err := goFiles(filepath.Join(root, e.SolutionFolder()))
	if err != nil {
		return material{}, err
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name, "_test.go") {
			m.Files, m.solution.Files = append(m.Files, File{"solution-" + f.Name, f.Text}), append(m.solution.Files, f.Text)
		}
	}
	chapter, err := e.Chapter()
	if err != nil {
		return material{}, err
	}
	walkthrough, err := e.Walkthrough()
	if err != nil {
		return material{}, err
	}
	m.everybody.Markdown, m.solution.Markdown = []string{chapter}, []string{walkthrough}
	hints, err := e.Hints()
	for _, h := range hints {
		m.everybody.Markdown = append(m.everybody.Markdown, h.Text...)
	}
	return m, err
}

// Base is the code in all of that.
func (m material) Base() *Base { return NewBase(m.everybody, m.solution) }

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
