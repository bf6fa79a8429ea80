package compile

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"cudalab/grader/suite/gaps"
)

// In the runner's main function the student's code is named exercise. What the compiler says of a type that lacks
// something names the type as `*"cudalab/exercises/slab".Allocator`, or without the path.
var (
	ofTheExercise = regexp.MustCompile(`\bexercise\.(\w+)`)
	unsatisfied   = regexp.MustCompile(`(\w+)\)? does not (?:satisfy|implement) \S+ \((.*)`)
	lackingMethod = regexp.MustCompile(`^missing method (\w+)`)
	otherMethod   = regexp.MustCompile(`^wrong type for method (\w+)`)
	fieldInstead  = regexp.MustCompile(`\.(\w+) is a field, not a method`)
)

// mismatch turns an error in the runner's main function into the student's: a function or method that is missing or
// has other types than the contract. It is false if the error is about nothing of the student's. Here is the main
// function's text from the place of the error on.
func (s *submission) mismatch(e *CompileError, root, here string) bool {
	if m := unsatisfied.FindStringSubmatch(e.Message); m != nil {
		if maker := s.makerOf(m[1]); maker != "" {
			s.mismatchedType(e, root, maker, m[1], m[2])
			return true
		}
	}
	m := ofTheExercise.FindStringSubmatch(e.Message)
	if m == nil && strings.HasPrefix(here, "exercise.") {
		m = ofTheExercise.FindStringSubmatch(here)
	}
	if m == nil {
		return false
	}
	e.function = m[1]
	s.mismatched(e, "function", m[1], s.wanted(root, m[1]))
	return true
}

// makerOf is the function that answers a type of a name, of those that the runner calls: the student's, or else the one
// that should answer a type of the exercise's own. It is "" where there is none.
func (s *submission) makerOf(name string) string {
	for _, function := range s.called() {
		for _, f := range s.files {
			if d := declared(f.syntax, function); d != nil && slices.Contains(results(d), name) {
				return function
			}
		}
	}
	for _, function := range s.called() {
		if s.typeOf(function) != "" {
			return function
		}
	}
	return ""
}

// typeOf is the exercise's own type that a function of the skeleton's answers; "" where it answers none.
func (s *submission) typeOf(function string) string {
	syntax, err := parser.ParseFile(token.NewFileSet(), "", s.Skeleton, parser.SkipObjectResolution)
	if err != nil {
		return ""
	}
	if d := declared(syntax, function); d != nil {
		for _, name := range results(d) {
			if typeSpec(syntax, name) != nil {
				return name
			}
		}
	}
	return ""
}

// mismatchedType says what a type that the student's maker answers has not, by the compiler's reason.
func (s *submission) mismatchedType(e *CompileError, root, maker, name, reason string) {
	e.function, e.of = maker, name
	asked := s.typeOf(maker) // the contract may call the type otherwise
	if asked == "" {
		asked = name
	}
	want := func() string { return s.wanted(root, asked+"."+e.method) }
	if m := lackingMethod.FindStringSubmatch(reason); m != nil && s.placeType(e, name) {
		e.method, e.lacks = m[1], true
		e.Plain = fmt.Sprintf("The grader calls the method %s of %s, but there is none. It should be declared as: %s",
			e.method, name, want())
		return
	}
	if m := fieldInstead.FindStringSubmatch(reason); m != nil && s.placeType(e, name) {
		e.method = m[1]
		e.Plain = fmt.Sprintf("%s of %s is a field. It should be a method, declared as: %s", e.method, name, want())
		return
	}
	if m := otherMethod.FindStringSubmatch(reason); m != nil {
		e.method = m[1]
		s.mismatched(e, "method", name+"."+e.method, want())
		return
	}
	s.mismatched(e, "function", maker, s.wanted(root, maker))
}

// mismatched says of a function or a method that it is missing, or how it is declared and how it should be.
func (s *submission) mismatched(e *CompileError, kind, name, want string) {
	var have string
	e.File, e.Line, e.Col = s.files[0].path, 1, 0
	for _, f := range s.files {
		if d := declared(f.syntax, name); d != nil {
			at := s.set.PositionFor(d.Pos(), false)
			e.File, e.Line, e.Col = f.path, at.Line, at.Column
			have = signature(s.set, d, f.text)
			break
		}
	}
	name = name[strings.Index(name, ".")+1:]
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
}

// placeType gives an error the line of a type of the student's; it is false where the student has no type of that name.
func (s *submission) placeType(e *CompileError, name string) bool {
	for _, f := range s.files {
		if t := typeSpec(f.syntax, name); t != nil {
			at := s.set.PositionFor(t.Pos(), false)
			e.File, e.Line, e.Col = f.path, at.Line, at.Column
			return true
		}
	}
	return false
}

// wanted is the contract's declaration of a function, or of a type's method: the solution's, or where the course came
// without solutions the skeleton's, unless the student works in the skeleton itself. It is "" if there is neither.
func (s *submission) wanted(root, name string) string {
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
			if d := declared(f, name); d != nil {
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

// declared finds a function by its name, "New", or a method by its type's as well, "Allocator.Free".
func declared(f *ast.File, name string) *ast.FuncDecl {
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && strings.TrimPrefix(gaps.Receiver(d)+"."+d.Name.Name, ".") == name {
			return d
		}
	}
	return nil
}

// typeSpec finds a type by its name.
func typeSpec(f *ast.File, name string) *ast.TypeSpec {
	for _, d := range f.Decls {
		if d, ok := d.(*ast.GenDecl); ok {
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok && t.Name.Name == name {
					return t
				}
			}
		}
	}
	return nil
}

// results are the names of the types of the package itself that a function answers, or pointers to them.
func results(d *ast.FuncDecl) (names []string) {
	if d.Type.Results == nil {
		return nil
	}
	for _, r := range d.Type.Results.List {
		t := r.Type
		if star, ok := t.(*ast.StarExpr); ok {
			t = star.X
		}
		if id, ok := t.(*ast.Ident); ok {
			names = append(names, id.Name)
		}
	}
	return names
}

// signature is a function's first line as it is written, on one line.
func signature(set *token.FileSet, d *ast.FuncDecl, text []byte) string {
	from, to := set.PositionFor(d.Pos(), false).Offset, set.PositionFor(d.Type.End(), false).Offset
	return strings.Join(strings.Fields(string(text[from:to])), " ")
}
