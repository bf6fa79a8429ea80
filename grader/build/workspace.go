package build

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// workspace is a private folder for one build: the checked files, the runner's main function, and the overlay that
// puts them into the course's tree.
type workspace struct {
	dir     string
	overlay string
	main    string           // the import path of the runner's main package
	files   map[string]*file // the student's files by every path that go build may call them by
	mains   []string         // the paths it may call the main function by
	text    string           // of the main function
}

func newWorkspace(q Request, s *submission) (w *workspace, err error) {
	dir, err := os.MkdirTemp("", "cudalab-build-")
	if err != nil {
		return nil, &EnvironmentError{
			Problem: fmt.Sprintf("A build needs a folder for temporary files: %v.", err),
			Fix:     "Set TMPDIR to a folder that you may write to, on a disk with space left.",
		}
	}
	w = &workspace{dir: dir, files: map[string]*file{}}
	defer func() {
		if err != nil {
			w.remove()
		}
	}()
	// go build calls files by their real paths, and the temporary folder may be behind a link.
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		w.dir = real
	}
	replace, err := w.exercise(q, s)
	if err != nil {
		return nil, err
	}
	name := "main_" + q.Package
	w.main = module + "/grader/runner/" + name
	real := filepath.Join(w.dir, "main.go")
	virtual := filepath.Join(q.Root, "grader", "runner", name, "main.go")
	replace[virtual], w.mains = real, []string{real, virtual}
	w.text = mainFile(q)
	if err := os.WriteFile(real, []byte(w.text), 0o600); err != nil {
		return nil, err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	w.overlay = filepath.Join(w.dir, "overlay.json")
	return w, os.WriteFile(w.overlay, overlay, 0o600)
}

func (w *workspace) remove() { os.RemoveAll(w.dir) }

// exercise writes the student's files down as they were checked, so that nothing can change in between, and replaces
// every file of the exercise by them.
func (w *workspace) exercise(q Request, s *submission) (replace map[string]string, err error) {
	replace = map[string]string{}
	target := filepath.Join(q.Root, "exercises", q.Package)
	entries, err := os.ReadDir(target)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.IsDir() {
			replace[filepath.Join(target, e.Name())] = "" // as if it were deleted
		}
	}
	for i, f := range s.files {
		real := filepath.Join(w.dir, strconv.Itoa(i)+".go")
		if err := os.WriteFile(real, f.text, 0o600); err != nil {
			return nil, err
		}
		virtual := filepath.Join(target, f.name)
		replace[virtual] = real
		w.files[real], w.files[virtual] = f, f
	}
	return replace, nil
}

func mainFile(q Request) string {
	solution := ""
	if q.Solution {
		solution = fmt.Sprintf("\tsolution %q\n", module+"/solutions/"+q.Package)
	}
	return fmt.Sprintf(`package main

import (
	exercise %q
	"cudalab/grader/runner"
	suite %q
%s)

func main() { runner.Main(%s) }
`, module+"/exercises/"+q.Package, module+"/grader/suites/"+q.Package, solution, q.Main)
}

// mainFrom is the main function's text from a line and column on.
func (w *workspace) mainFrom(line, col int) string {
	lines := strings.SplitAfter(w.text, "\n")
	if line < 1 || line > len(lines) || col < 1 || col > len(lines[line-1]) {
		return ""
	}
	return lines[line-1][col-1:]
}
