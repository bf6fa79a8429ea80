package authoring

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"cudalab/grader/suite/gaps"
	"cudalab/lessons"
)

// source is a Go file of a lesson's.
type source struct {
	path string
	text string
	set  *token.FileSet
	file *ast.File
}

// parse reads the one file of a lesson in exercises or solutions; nil where there is none, or none that is Go.
func (r *review) parse(room string, e lessons.Exercise) *source {
	s := &source{path: path.Join(room, e.Package, e.Package+".go"), set: token.NewFileSet()}
	text, err := fs.ReadFile(r.course, s.path)
	if err != nil {
		return nil
	}
	s.text = string(text)
	if s.file, err = parser.ParseFile(s.set, s.path, text, parser.ParseComments); err != nil {
		return nil
	}
	return s
}

// solution looks at a lesson's solution.
func (r *review) solution(e lessons.Exercise) *source {
	file := path.Join("solutions", e.Package, e.Package+".go")
	if _, ok := r.text(file, "solution", "Write the skeleton with its gaps filled, to be read by students"); !ok {
		return nil
	}
	s := r.parse("solutions", e)
	switch {
	case s == nil:
		r.add(file, "the solution is not Go", "See what go vet ./solutions/... says")
	case strings.Contains(s.text, "TODO("):
		r.add(file, "the solution has a TODO", "Fill the gap")
	}
	return s
}

var described = regexp.MustCompile(`(?m)^\s*// TODO\((\w+)\): \S`)

// skeleton looks at a lesson's skeleton beside its solution, nil where there is none. It answers the gaps in their
// order, nil where there is no skeleton to be read.
func (r *review) skeleton(e lessons.Exercise, solution *source) []string {
	const write = "Write the code that students start from: it compiles, and each gap returns contract.TODO(\"1a\") " +
		"below a comment // TODO(1a): ..."
	file := path.Join("exercises", e.Package, e.Package+".go")
	if _, ok := r.text(file, "skeleton", write); !ok {
		return nil
	}
	skeleton := r.parse("exercises", e)
	if skeleton == nil {
		r.add(file, "the skeleton is not Go", "See what go vet ./exercises/... says")
		return nil
	}
	if others, _ := fs.Glob(r.course, path.Join("exercises", e.Package, "*")); len(others) > 1 {
		r.add(path.Join("exercises", e.Package), "there are other files beside the skeleton",
			"Keep one file: that is what cudalab reset brings back")
	}
	found := []string{}
	for _, d := range skeleton.file.Decls {
		found = append(found, gaps.In(d)...)
	}
	if len(found) == 0 {
		r.add(file, "the skeleton has no gap", write)
	}
	r.numbers(file, found)
	var texts []string
	for _, m := range described.FindAllStringSubmatch(skeleton.text, -1) {
		texts = append(texts, m[1])
	}
	for _, gap := range found {
		if !slices.Contains(texts, gap) {
			r.add(file, fmt.Sprintf("nothing says what the gap %s asks for", gap),
				fmt.Sprintf("Write a comment // TODO(%s): ... above it", gap))
		}
	}
	for _, gap := range texts {
		if !slices.Contains(found, gap) {
			r.add(file, fmt.Sprintf("TODO(%s) is described, but nothing returns contract.TODO(%q)", gap, gap),
				"Return it where the code belongs, or delete the comment")
		}
	}
	if solution != nil {
		if have, want := outline(skeleton), outline(solution); have != want {
			r.add(file, "the skeleton declares something else than the solution: "+firstDifference(want, have),
				"Let the two differ in the bodies of functions alone")
		}
	}
	return found
}

var gapNumber = regexp.MustCompile(`^([1-9])([a-z])$`)

// numbers holds gaps to their order: 1a, 1b and so on, then 2a.
func (r *review) numbers(file string, found []string) {
	number, letter := 1, 'a'
	for _, gap := range found {
		m := gapNumber.FindStringSubmatch(gap)
		if m == nil {
			r.add(file, fmt.Sprintf("%q is no gap's number", gap), "Number them 1a, 1b and so on, from 2a on for another part")
			return
		}
		expected := fmt.Sprintf("%d%c", number, letter)
		if gap == fmt.Sprintf("%da", number+1) && letter > 'a' {
			number, letter, expected = number+1, 'a', gap
		}
		if gap != expected {
			r.add(file, fmt.Sprintf("the gap %s stands where %s is expected", gap, expected),
				"Number the gaps in the order in which they stand, without holes")
			return
		}
		letter++
	}
}

// outline is a file's declarations and doc comments without the bodies of its functions and its imports.
func outline(s *source) string {
	text := &strings.Builder{}
	text.WriteString(s.file.Doc.Text())
	for _, decl := range s.file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			text.WriteString(d.Doc.Text())
			bare := *d
			bare.Doc, bare.Body = nil, nil
			decl = &bare
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				continue
			}
		}
		_ = printer.Fprint(text, s.set, decl) // to a Builder, which takes everything
		text.WriteString("\n")
	}
	return text.String()
}

// firstDifference is the first line of a text that is another in b.
func firstDifference(a, b string) string {
	in := strings.Split(b, "\n")
	for i, line := range strings.Split(a, "\n") {
		if i >= len(in) {
			return fmt.Sprintf("it lacks %q", line)
		}
		if in[i] != line {
			return fmt.Sprintf("it has %q, the solution %q", in[i], line)
		}
	}
	return fmt.Sprintf("it goes on after %q", a[strings.LastIndex(strings.TrimSpace(a), "\n")+1:])
}
