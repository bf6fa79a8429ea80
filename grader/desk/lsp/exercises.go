package lsp

import (
	"os"
	"path/filepath"
	"strings"

	"cudalab/grader/suite/gaps"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

// exercise is one that the client has a file of.
type exercise struct {
	course.Exercise
	course *course.Course

	report    *verdict.Report // the last; nil before the first
	notices   []notice        // of the last report
	gaps      []notice        // all that were left then
	published map[string]bool // the files that the client shows some in
	failing   bool            // it has not passed since it failed
}

// notice is a finding where it is now: lines move while the student writes.
type notice struct {
	verdict.Finding
	path string
	at   textRange
	todo string // of a gap, "1a"
}

// lookUp is the exercise that a file belongs to, and the file; nil for any other file.
func (s *server) lookUp(uri string) (e *exercise, path string) {
	path, ok := pathOf(uri)
	if !ok || filepath.Ext(path) != ".go" {
		return nil, ""
	}
	dir := filepath.Dir(path)
	if e, known := s.exercises[dir]; known {
		return e, path
	}
	e = s.find(dir)
	if real, err := filepath.EvalSymlinks(dir); e == nil && err == nil && real != dir {
		e = s.find(real)
	}
	if e != nil {
		s.exercises[dir] = e
	}
	return e, path
}

// find is the exercise of a folder exercises/PACKAGE of a course; nil for any other folder.
func (s *server) find(dir string) *exercise {
	parent := filepath.Dir(dir)
	if filepath.Base(parent) != "exercises" {
		return nil
	}
	root := filepath.Dir(parent)
	c, known := s.courses[root]
	if !known {
		var err error
		if c, err = s.Open(root); err != nil {
			return nil
		}
		s.courses[root] = c
	}
	for _, e := range c.Exercises {
		if e.Package != filepath.Base(dir) {
			continue
		}
		for _, known := range s.exercises {
			if known.course == c && known.Package == e.Package {
				return known // by another way to the same folder
			}
		}
		return &exercise{Exercise: e, course: c, published: map[string]bool{}}
	}
	return nil
}

// main is the file that stands for the exercise as a whole.
func (e *exercise) main() string {
	return filepath.Join(e.course.Root, e.Folder(), e.Package+".go")
}

// place takes the notices of a report in, where its files say they are.
func (e *exercise) place(r verdict.Report) {
	texts := map[string]string{}
	at := func(file string, line, column int) (string, textRange) {
		path, err := filepath.Abs(file)
		if err != nil {
			path = file
		}
		text, known := texts[path]
		if !known {
			content, _ := os.ReadFile(path) // a file that is gone by now has one empty line
			text = string(content)
			texts[path] = text
		}
		return path, span(text, line, column)
	}
	e.report, e.notices, e.gaps = &r, nil, nil
	if r.Status != verdict.Errored {
		for _, f := range r.Notices(e.main()) {
			n := notice{Finding: f}
			n.path, n.at = at(f.File, f.Line, f.Column)
			e.notices = append(e.notices, n)
		}
	}
	left, _ := gaps.Find(filepath.Join(e.course.Root, e.Folder())) // of a folder that cannot be read the report speaks
	for _, g := range left {
		n := notice{todo: g.ID}
		n.path, n.at = at(g.File, g.Line, 0)
		e.gaps = append(e.gaps, n)
	}
}

// follow moves the notices of a file with the lines that a change has added or taken away above them.
func (e *exercise) follow(path string, c contentChange) {
	if c.Range == nil {
		return // all of it is new: where a line went nobody knows
	}
	by := strings.Count(c.Text, "\n") - (c.Range.End.Line - c.Range.Start.Line)
	for _, all := range [][]notice{e.notices, e.gaps} {
		for i := range all {
			n := &all[i]
			behind := n.at.Start.Line > c.Range.End.Line ||
				n.at.Start.Line == c.Range.End.Line && c.Range.End.Character <= n.at.Start.Character
			if n.path == path && behind {
				n.at.Start.Line += by
				n.at.End.Line += by
			}
		}
	}
}

// on are those of some notices that lie on the lines of a range.
func on(all []notice, path string, r textRange) []notice {
	var found []notice
	for _, n := range all {
		if n.path == path && n.at.Start.Line <= r.End.Line && r.Start.Line <= n.at.End.Line {
			found = append(found, n)
		}
	}
	return found
}
