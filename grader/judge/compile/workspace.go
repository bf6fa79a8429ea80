package compile

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// mainFolder is the runner's main package in the course, which is nowhere but in the overlay.
const mainFolder = "grader/judge/runner/main"

// workspace is what one build is made of: the checked files, the runner's main package, and the overlay that puts them
// into the course's tree.
type workspace struct {
	root, dir string
	module    string // the course's
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

// newWorkspace writes into a folder, which may hold what other builds have left.
func newWorkspace(a *api, dir string, submissions []*submission) (*workspace, error) {
	// go build calls files by their real paths, and the folder may be behind a link.
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	w := &workspace{root: a.root, module: a.module, dir: dir, overlay: filepath.Join(dir, "overlay.json"),
		sources: map[string]source{},
		texts:   map[*submission]string{}, replace: map[string]string{}}
	for _, s := range submissions {
		if err := w.add(s); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// add writes the student's files down as they were checked, so that nothing can change in between, replaces every file
// of the exercise by them, and gives the exercise its file in the main package.
func (w *workspace) add(s *submission) error {
	target := w.folder(s)
	entries, err := os.ReadDir(target)
	if err != nil && s.Number == 0 {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			w.replace[filepath.Join(target, e.Name())] = "" // as if it were deleted
		}
	}
	for i, f := range s.files {
		text := telling(f.text, s.Stepwise || !hasGo, true) // where there is no go command nothing else can stop it
		if err := w.put(filepath.Join(target, f.name), fmt.Sprintf("%s-%d.go", s.name(), i), text,
			source{s, f}); err != nil {
			return err
		}
		w.sources[importPath(s)+"/"+f.name] = source{s, f} // as the compiler calls it with -trimpath
	}
	w.texts[s] = suiteFile(s)
	return w.put(w.mainFile(s), suiteName(s.Exercise)+".go", []byte(w.texts[s]), source{s, nil})
}

// put writes a file of the folder, to be found at the path virtual in the course.
func (w *workspace) put(virtual, name string, text []byte, is source) error {
	real := filepath.Join(w.dir, name)
	w.replace[virtual] = real
	w.sources[real], w.sources[virtual] = is, is
	return os.WriteFile(real, text, 0o600)
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

// written is a file of the workspace: what it is called in the runner, and where it is.
type written struct{ virtual, real string }

// folder is where in the course's tree a submission's files seem to be.
func (w *workspace) folder(s *submission) string {
	return filepath.Join(w.root, filepath.FromSlash(s.Exercise.folder()))
}

// exercise are the files of a submission, by name.
func (w *workspace) exercise(s *submission) []written {
	var files []written
	for _, f := range s.files {
		files = append(files, written{path.Join(importPath(s), f.name),
			w.replace[filepath.Join(w.folder(s), f.name)]})
	}
	return files
}

// main are the files of the runner's main package, by name.
func (w *workspace) main(submissions []*submission) []written {
	files := []written{{path.Join(w.mainPath(), "main.go"), filepath.Join(w.dir, "main.go")}}
	for _, s := range submissions {
		file := w.mainFile(s)
		files = append(files, written{path.Join(w.mainPath(), filepath.Base(file)), w.replace[file]})
	}
	slices.SortFunc(files, func(a, b written) int { return strings.Compare(a.virtual, b.virtual) })
	return files
}

// mainFile is where a submission's file in the main package seems to be.
func (w *workspace) mainFile(s *submission) string {
	return filepath.Join(w.root, filepath.FromSlash(mainFolder), suiteName(s.Exercise)+".go")
}

// mainPath is the import path of the runner's main package.
func (w *workspace) mainPath() string { return w.module + "/" + mainFolder }

// archive is where a compiled package goes.
func (w *workspace) archive(name string) string { return filepath.Join(w.dir, name+".a") }

// runner is where the linker writes when it works alone.
func (w *workspace) runner() string { return filepath.Join(w.dir, "runner") }

// config is the file that says where the compiled packages are.
func (w *workspace) config() string { return filepath.Join(w.dir, "importcfg") }

// suiteFile is an exercise's file in the runner's main package: it makes the suite.
func suiteFile(s *submission) string {
	e, module := s.Exercise, s.api.module
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
`, importPath(s), module+"/grader/suites/"+e.Package, solution, suiteName(e), s.main())
}

// mainText is the runner's main function.
func mainText(submissions []*submission) string {
	var names []string
	for _, s := range submissions {
		name := suiteName(s.Exercise)
		if s.Number > 0 {
			name = fmt.Sprintf("runner.Numbered(%s, %d)", name, s.Number)
		}
		names = append(names, name)
	}
	return fmt.Sprintf(`package main

import "cudalab/grader/judge/runner"

func main() { runner.Main(%s) }
`, strings.Join(names, ", "))
}

func suiteName(e Exercise) string { return e.name() + "Suite" }

// name is an exercise's package with its number, if it has one.
func (e Exercise) name() string {
	if e.Number == 0 {
		return e.Package
	}
	return fmt.Sprintf("%s_%d", e.Package, e.Number)
}

// mainFrom is the text of a submission's file in the main package, from a line and column on.
func (w *workspace) mainFrom(s *submission, line, col int) string {
	lines := strings.SplitAfter(w.texts[s], "\n")
	if line < 1 || line > len(lines) || col < 1 || col > len(lines[line-1]) {
		return ""
	}
	return lines[line-1][col-1:]
}
