package course

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cudalab/grader/suite"
	"cudalab/grader/suites"
	"cudalab/lessons"
)

// Definition is a course as a program is built with it. One outside of this repository is a module of its own, laid out
// like this one: exercises, exercises/contract, solutions, kernels, lessons, grader/suites and cmd/cudalab.
type Definition struct {
	Module  string         // as the go.mod at the course's root says
	Texts   fs.FS          // of the folder lessons: course.toml, chapters, hints, walk-throughs, skeletons
	Suites  []*suite.Suite // the lessons', in the order of course.toml
	Sources fs.FS          // of the folder grader/suites; nil: nobody is told when the suites have changed
}

// Own is the course of this repository.
func Own() Definition {
	return Definition{Module: "cudalab", Texts: lessons.Texts, Suites: suites.All(), Sources: suites.Sources}
}

// Open reads the course whose tree is at root, or, where root is "", the one that the working directory lies in.
func (d Definition) Open(root string) (*Course, error) {
	root, err := d.findRoot(root)
	if err != nil {
		return nil, err
	}
	return d.open(root)
}

// OpenAround reads the course that the folder dir lies in, or is the root of; the folder itself need not be there.
func (d Definition) OpenAround(dir string) (*Course, error) {
	root, err := d.rootAround(dir)
	if err != nil {
		return nil, err
	}
	return d.open(root)
}

func (d Definition) open(root string) (*Course, error) {
	listed, err := lessons.Read(d.Texts)
	if err != nil {
		return nil, err
	}
	c := &Course{Root: root, Module: d.Module}
	for _, e := range listed {
		s := d.suite(e.Name)
		if s == nil {
			return nil, fmt.Errorf("course.toml lists %s, for which there is no suite: grader/suites/suites.go should list it",
				e.Name)
		}
		c.Exercises = append(c.Exercises, Exercise{Exercise: e, Suite: s, sources: d.Sources})
	}
	return c, nil
}

// Digest tells courses apart by what they ask: which exercises there are, what they are worth, how they are handed out
// and what is asked about each. What is to be read is none of it, so that a course and its handout have the same.
func (d Definition) Digest() string {
	h := sha256.New()
	add := func(files fs.FS, patterns ...string) {
		for _, pattern := range patterns {
			names, _ := fs.Glob(files, pattern) // in order; the patterns are well-formed
			for _, name := range names {
				if text, err := fs.ReadFile(files, name); err == nil && !strings.HasSuffix(name, "_test.go") {
					fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
				}
			}
		}
	}
	add(d.Texts, "course.toml", "*.skeleton.go.txt")
	if d.Sources != nil {
		add(d.Sources, "*/*.go")
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// suite is the suite of an exercise; nil if there is none.
func (d Definition) suite(exercise string) *suite.Suite {
	for _, s := range d.Suites {
		if s.Exercise == exercise {
			return s
		}
	}
	return nil
}

func (d Definition) findRoot(given string) (string, error) {
	if given != "" {
		dir, err := filepath.Abs(given)
		if err != nil {
			return "", err
		}
		if !d.isRoot(dir) {
			return "", fmt.Errorf("%w: %s is not the course's folder, the one with the go.mod of module %s", ErrOutside, given,
				d.Module)
		}
		return dir, nil
	}
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return d.rootAround(start)
}

// rootAround is the root of the course that a folder lies in, which need not be there.
func (d Definition) rootAround(start string) (string, error) {
	for dir := start; ; {
		if d.isRoot(dir) {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("%w: neither %s nor a folder above it is the course", ErrOutside, start)
		}
		dir = parent
	}
}

func (d Definition) isRoot(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "module "); ok {
			return strings.TrimSpace(name) == d.Module
		}
	}
	return false
}

// Changed names a source file of the exercise's suite that is not, in the course at root, what this program was built
// from; "" if there is none. The runner is built from the course as it is now, while the judging is in this program:
// where the two differ in what they draw from a seed, right code would come out wrong.
func (e Exercise) Changed(root string) string {
	if e.sources == nil {
		return ""
	}
	changed := ""
	err := fs.WalkDir(e.sources, e.Suite.Package, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		built, err := fs.ReadFile(e.sources, path)
		if err != nil {
			return err
		}
		file := filepath.Join("grader", "suites", filepath.FromSlash(path))
		if now, err := os.ReadFile(filepath.Join(root, file)); err != nil || !bytes.Equal(now, built) {
			changed = file
			return fs.SkipAll
		}
		return nil
	})
	if err != nil { // the suite names no folder: a fault that a test finds
		return e.Suite.Package
	}
	return changed
}

// Main is the Go expression that makes the suite in the runner's main function, where exercise and suite name the
// lesson's packages, and solution too if it is to stand beside the exercise.
func (e Exercise) Main(solution bool) string {
	of := func(pkg string) string {
		var functions []string
		for _, f := range e.Suite.Functions {
			functions = append(functions, pkg+"."+f)
		}
		return "suite.Of(" + strings.Join(functions, ", ") + ")"
	}
	if solution {
		return "suite.Suite(" + of("exercise") + ", " + of("solution") + ")"
	}
	return "suite.Suite(" + of("exercise") + ")"
}
