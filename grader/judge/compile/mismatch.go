package compile

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// In the runner's main function the student's code is named exercise. Its methods turn up where a type lacks one.
var (
	lackingMethod = regexp.MustCompile(`(?:missing method |wrong type for method |has no field or method )(\w+)`)
	ofTheExercise = regexp.MustCompile(`\bexercise\.(\w+)`)
)

// mismatch turns an error in the runner's main function into the student's: a function or method that is missing or
// has other types than the contract. It is false if the error is about nothing of the student's. Here is the main
// function's text from the place of the error on.
func (s *submission) mismatch(e *CompileError, root, here string) bool {
	m := ofTheExercise.FindStringSubmatch(e.Message)
	if m == nil && strings.HasPrefix(here, "exercise.") {
		m = ofTheExercise.FindStringSubmatch(here)
	}
	if m == nil {
		return false
	}
	name, method := m[1], false
	if m := lackingMethod.FindStringSubmatch(e.Message); m != nil {
		name, method = m[1], true
	}
	if !method {
		e.function = name
	}
	var have string
	e.File, e.Line, e.Col = s.files[0].path, 1, 0
	for _, f := range s.files {
		if d := function(f.syntax, name, method); d != nil {
			at := s.set.PositionFor(d.Pos(), false)
			e.File, e.Line, e.Col = f.path, at.Line, at.Column
			have = signature(s.set, d, f.text)
			break
		}
	}
	kind := "function"
	if method {
		kind = "method"
	}
	want := s.wanted(root, name, method)
	switch {
	case have == "" && want == "":
		e.Plain = fmt.Sprintf("The grader calls a %s %s in package %s, but there is none.", kind, name, s.Package)
	case have == "":
		e.Plain = fmt.Sprintf("The grader calls the %s %s, but there is none. It should be declared as: %s", kind, name, want)
	case want == "" || want == have:
		e.Plain = fmt.Sprintf("%s is declared as: %s. The grader cannot call it like that: take its first line from the "+
			"skeleton.",
			name, have)
	default:
		e.Plain = fmt.Sprintf("%s is declared as: %s. It should be declared as: %s. The names of parameters are yours to "+
			"choose; their types and the results are not.", name, have, want)
	}
	return true
}

// wanted is the contract's declaration of a function: the solution's, or where the course came without solutions the
// skeleton's, unless the student works in the skeleton itself. It is "" if there is neither.
func (s *submission) wanted(root, name string, method bool) string {
	for _, room := range []string{"solutions", "exercises"} {
		dir := filepath.Join(root, room, s.Package)
		if sameFolder(dir, s.Dir) {
			continue
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		set := token.NewFileSet()
		for _, e := range entries {
			if filepath.Ext(e.Name()) != ".go" {
				continue
			}
			path := filepath.Join(dir, e.Name())
			text, err := os.ReadFile(path)
			if err != nil {
				continue
			}
			f, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
			if err != nil {
				continue
			}
			if d := function(f, name, method); d != nil {
				return signature(set, d, text)
			}
		}
	}
	return ""
}

func sameFolder(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}

// function finds a declaration by its name.
func function(f *ast.File, name string, method bool) *ast.FuncDecl {
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Name.Name == name && (d.Recv != nil) == method {
			return d
		}
	}
	return nil
}

// signature is a function's first line as it is written, on one line.
func signature(set *token.FileSet, d *ast.FuncDecl, text []byte) string {
	from, to := set.PositionFor(d.Pos(), false).Offset, set.PositionFor(d.Type.End(), false).Offset
	return strings.Join(strings.Fields(string(text[from:to])), " ")
}
