package build

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The runner's main package, which is nowhere but in the overlay.
const (
	mainPath   = module + "/grader/runner/main"
	mainFolder = "grader/runner/main"
)

// workspace is a private folder for one build: the checked files, the runner's main package, and the overlay that puts
// them into the course's tree.
type workspace struct {
	root, dir string
	remove    func()
	overlay   string
	sources   map[string]source      // by every path that go build may call them by
	texts     map[*submission]string // of their files in the main package
	replace   map[string]string      // for the overlay: by the path in the course, the file in its place
}

// source is a file that go build sees.
type source struct {
	submission *submission
	file       *file // nil: the submission's file in the runner's main package
}

func newWorkspace(root string, submissions []*submission) (w *workspace, err error) {
	dir, remove, err := claimWorkspace()
	if err != nil {
		return nil, &EnvironmentError{
			Problem: fmt.Sprintf("A build needs a folder for temporary files: %v.", err),
			Fix:     "Set TMPDIR to a folder that you may write to, on a disk with space left.",
		}
	}
	w = &workspace{root: root, dir: dir, remove: remove, sources: map[string]source{}, texts: map[*submission]string{},
		replace: map[string]string{}}
	defer func() {
		if err != nil {
			remove()
		}
	}()
	// go build calls files by their real paths, and the temporary folder may be behind a link.
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		w.dir = real
	}
	w.overlay = filepath.Join(w.dir, "overlay.json")
	for _, s := range submissions {
		if err := w.add(s); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// add writes the student's files down as they were checked, so that nothing can change in between, replaces every file of
// the exercise by them, and gives the exercise its file in the main package.
func (w *workspace) add(s *submission) error {
	target := filepath.Join(w.root, "exercises", s.Package)
	entries, err := os.ReadDir(target)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			w.replace[filepath.Join(target, e.Name())] = "" // as if it were deleted
		}
	}
	dir := filepath.Join(w.dir, s.Package)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for i, f := range s.files {
		err := w.put(filepath.Join(target, f.name), filepath.Join(dir, strconv.Itoa(i)+".go"), f.text, source{s, f})
		if err != nil {
			return err
		}
	}
	w.texts[s] = suiteFile(s.Exercise)
	return w.put(w.mainFile(s), filepath.Join(dir, "suite.go"), []byte(w.texts[s]), source{s, nil})
}

// put writes a file at the path real, to be found at the path virtual in the course.
func (w *workspace) put(virtual, real string, text []byte, is source) error {
	w.replace[virtual] = real
	w.sources[real], w.sources[virtual] = is, is
	return os.WriteFile(real, text, 0o600)
}

// mainFile is where a submission's file in the main package seems to be.
func (w *workspace) mainFile(s *submission) string {
	return filepath.Join(w.root, filepath.FromSlash(mainFolder), suiteName(s.Exercise)+".go")
}

// join makes the overlay for a runner of some of the submissions.
func (w *workspace) join(submissions []*submission) error {
	main := filepath.Join(w.dir, "main.go")
	if err := os.WriteFile(main, []byte(mainText(submissions)), 0o600); err != nil {
		return err
	}
	replace := maps.Clone(w.replace)
	for s := range w.texts {
		if !slices.Contains(submissions, s) {
			delete(replace, w.mainFile(s))
		}
	}
	replace[filepath.Join(w.root, filepath.FromSlash(mainFolder), "main.go")] = main
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(w.overlay, overlay, 0o600)
}

// suiteFile is an exercise's file in the runner's main package: it makes the suite.
func suiteFile(e Exercise) string {
	solution := ""
	if e.Solution {
		solution = fmt.Sprintf("\tsolution %q\n", module+"/solutions/"+e.Package)
	}
	return fmt.Sprintf(`package main

import (
	exercise %q
	suite %q
%s)

var %s = %s
`, module+"/exercises/"+e.Package, module+"/grader/suites/"+e.Package, solution, suiteName(e), e.Main)
}

func suiteName(e Exercise) string { return e.Package + "Suite" }

// mainText is the runner's main function.
func mainText(submissions []*submission) string {
	var names []string
	for _, s := range submissions {
		names = append(names, suiteName(s.Exercise))
	}
	return fmt.Sprintf(`package main

import "cudalab/grader/runner"

func main() { runner.Main(%s) }
`, strings.Join(names, ", "))
}

// mainFrom is the text of a submission's file in the main package, from a line and column on.
func (w *workspace) mainFrom(s *submission, line, col int) string {
	lines := strings.SplitAfter(w.texts[s], "\n")
	if line < 1 || line > len(lines) || col < 1 || col > len(lines[line-1]) {
		return ""
	}
	return lines[line-1][col-1:]
}
