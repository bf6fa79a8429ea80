package compile

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Addition is an argument that was added to a call in a student's code: what is called has gained it in the contract.
type Addition struct {
	File  string // under Exercise.Dir as it was given
	Line  int
	Text  string // "o.stream"
	Takes string // what the call lacks, and of what: "Malloc takes one argument more by now, s cuda.Stream"
}

// String says what was added, and why.
func (a Addition) String() string {
	return fmt.Sprintf("%s: %s was added to the call in %s:%d.", a.Takes, a.Text, filepath.Base(a.File), a.Line)
}

// tooFew is what the compiler says of a call with fewer arguments than are wanted.
var tooFew = regexp.MustCompile(`^not enough arguments in call to \S*\b(\w+)\n\thave \((.*)\)\n\twant \((.*)\)`)

// supply adds the argument to calls of the contract's methods that have one less than these take by now, where the
// function around the call has one thing of its type: a parameter, or a field of a parameter. Other such errors say how
// the method is declared. It reports whether the runner is to be made once more.
func (b *builder) supply(submissions []*submission) (supplied bool, err error) {
	for _, s := range submissions {
		before := len(s.added)
		for i := len(s.errors) - 1; i >= 0; i-- { // of two calls in a line the last first, since what is added moves the rest
			s.errors[i].supply(s)
		}
		if len(s.added) == before {
			continue
		}
		s.errors, b.done[s], supplied = nil, false, true
		if err := b.work.add(s); err != nil {
			return false, err
		}
	}
	return supplied, nil
}

// supply mends the error if it is of a call that lacks what the contract's method takes last.
func (e *CompileError) supply(s *submission) {
	m := tooFew.FindStringSubmatch(e.Message)
	if m == nil {
		return
	}
	name, have, want := m[1], listed(m[2]), listed(m[3])
	method := s.api.method(name, want)
	if method == nil || len(have) != len(want)-1 {
		return
	}
	last := want[len(want)-1]
	takes := fmt.Sprintf("%s takes one argument more by now, %s", name, method.last)
	e.Message = takes + ", but the call is as it was."
	e.Plain = fmt.Sprintf("The contract has %s: %s Name the %s here, behind the others: cudalab adds it where the "+
		"function around the call has one alone.",
		method.declared, method.says, last)
	for _, f := range s.files {
		if f.path != e.File || f.syntax == nil {
			continue
		}
		call, around := s.callAt(f, e.Line, e.Col, name, len(have))
		if call == nil {
			return
		}
		text := s.only(f, around, last)
		if text == "" {
			return
		}
		end := s.set.PositionFor(call.Args[len(call.Args)-1].End(), false).Offset
		f.text = slices.Concat(f.text[:end], []byte(", "+text), f.text[end:])
		f.raw, f.syntax = nil, nil
		s.parse(f)
		s.added = append(s.added, Addition{File: f.path, Line: e.Line, Text: text, Takes: takes})
		return
	}
}

// mended are the files to which anything was added, by their paths.
func (s *submission) mended() map[string][]byte {
	texts := map[string][]byte{}
	for _, a := range s.added {
		for _, f := range s.files {
			if f.path == a.File {
				texts[f.path] = f.text
			}
		}
	}
	return texts
}

// listed are the types of a list as the compiler writes it, of which none has a comma in it.
func listed(types string) []string {
	if types == "" {
		return nil
	}
	return strings.Split(types, ", ")
}

// callAt is the innermost call of a name, with so many arguments, around a place in a file, and the functions that it
// lies in, the outermost first.
func (s *submission) callAt(f *file, line, col int, name string, args int) (call *ast.CallExpr, around []ast.Node) {
	holds := func(n ast.Node) bool {
		from, to := s.set.PositionFor(n.Pos(), false), s.set.PositionFor(n.End(), false)
		return (from.Line < line || from.Line == line && from.Column <= col) &&
			(line < to.Line || line == to.Line && col <= to.Column)
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if n == nil || !holds(n) {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			around = append(around, n)
		case *ast.CallExpr:
			called, ok := n.Fun.(*ast.SelectorExpr)
			if ok && called.Sel.Name == name && len(n.Args) == args && args > 0 {
				call = n
			}
		}
		return true
	})
	return call, around
}

// only is what functions around a call have of a type, such as "cuda.Stream": the one parameter of it, or else the one
// field of it that a parameter has. It is "" where there is none, where there are several, or where its name stands for
// something else somewhere in them.
func (s *submission) only(f *file, around []ast.Node, wanted string) string {
	var own, fields []string
	for _, n := range around {
		var lists []*ast.FieldList
		switch n := n.(type) {
		case *ast.FuncDecl:
			lists = []*ast.FieldList{n.Recv, n.Type.Params}
		case *ast.FuncLit:
			lists = []*ast.FieldList{n.Type.Params}
		}
		for _, list := range lists {
			for name, typ := range named(list) {
				if f.isType(typ, wanted) {
					own = append(own, name)
				}
				for _, field := range s.fieldsOf(typ, wanted) {
					fields = append(fields, name+"."+field)
				}
			}
		}
	}
	if len(own) > 0 {
		fields = own
	}
	if len(fields) != 1 {
		return ""
	}
	name, _, _ := strings.Cut(fields[0], ".")
	if len(around) == 0 || declarations(around[0], name) > 1 {
		return ""
	}
	return fields[0]
}

// named yields the names in a list of fields, which may be nil, with their types.
func named(list *ast.FieldList) func(func(string, ast.Expr) bool) {
	return func(yield func(string, ast.Expr) bool) {
		if list == nil {
			return
		}
		for _, field := range list.List {
			for _, name := range field.Names {
				if name.Name != "_" && !yield(name.Name, field.Type) {
					return
				}
			}
		}
	}
}

// isType reports whether an expression in the file is the type that the compiler calls so.
func (f *file) isType(typ ast.Expr, wanted string) bool {
	selector, ok := typ.(*ast.SelectorExpr)
	if !ok {
		id, ok := typ.(*ast.Ident)
		return ok && id.Name == wanted
	}
	pkg, ok := selector.X.(*ast.Ident)
	return ok && f.imports[pkg.Name] != "" && path.Base(f.imports[pkg.Name])+"."+selector.Sel.Name == wanted
}

// fieldsOf are the fields of a type, of those that a structure of the submission's has to which typ points, or is.
func (s *submission) fieldsOf(typ ast.Expr, wanted string) (names []string) {
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	id, ok := typ.(*ast.Ident)
	if !ok {
		return nil
	}
	for _, f := range s.files {
		for _, d := range f.syntax.Decls {
			d, ok := d.(*ast.GenDecl)
			if !ok || d.Tok != token.TYPE {
				continue
			}
			for _, spec := range d.Specs {
				spec := spec.(*ast.TypeSpec)
				structure, ok := spec.Type.(*ast.StructType)
				if !ok || spec.Name.Name != id.Name {
					continue
				}
				for name, typ := range named(structure.Fields) {
					if f.isType(typ, wanted) {
						names = append(names, name)
					}
				}
			}
		}
	}
	return names
}

// declarations is how often a name is declared in a function.
func declarations(function ast.Node, name string) (n int) {
	count := func(e ast.Expr) {
		if id, ok := e.(*ast.Ident); ok && id.Name == name {
			n++
		}
	}
	ast.Inspect(function, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.Field:
			for _, id := range node.Names {
				count(id)
			}
		case *ast.ValueSpec:
			for _, id := range node.Names {
				count(id)
			}
		case *ast.AssignStmt: // = as well: then it is no longer what the caller gave
			for _, e := range node.Lhs {
				count(e)
			}
		case *ast.RangeStmt:
			count(node.Key)
			count(node.Value)
		}
		return true
	})
	return n
}

// method is one of an interface of the contract's.
type method struct {
	declared string // "Malloc(size int64, s cuda.Stream) (cuda.DevicePtr, error)"
	last     string // "s cuda.Stream"
	says     string // the comment above it
}

// method is the one of a name that takes such types; nil: there is none.
func (a *api) method(name string, types []string) (found *method) {
	for _, contract := range []string{a.module + contractRoom, cudalab + contractRoom} {
		files, _ := filepath.Glob(filepath.Join(a.folder(contract), "*.go"))
		for _, file := range files {
			text, err := readBounded(file)
			if err != nil {
				continue
			}
			set := token.NewFileSet()
			syntax, err := parser.ParseFile(set, file, text, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				continue
			}
			written := func(n ast.Node) string {
				from, to := set.PositionFor(n.Pos(), false).Offset, set.PositionFor(n.End(), false).Offset
				return strings.Join(strings.Fields(string(text[from:to])), " ")
			}
			ast.Inspect(syntax, func(n ast.Node) bool {
				t, ok := n.(*ast.InterfaceType)
				if !ok {
					return true
				}
				for _, m := range t.Methods.List {
					f, ok := m.Type.(*ast.FuncType)
					if !ok || len(m.Names) != 1 || m.Names[0].Name != name {
						continue
					}
					var has []string
					for _, p := range f.Params.List {
						has = append(has, slices.Repeat([]string{written(p.Type)}, max(len(p.Names), 1))...)
					}
					if slices.Equal(has, types) {
						last := f.Params.List[len(f.Params.List)-1]
						found = &method{written(m), written(last), strings.Join(strings.Fields(m.Doc.Text()), " ")}
					}
				}
				return true
			})
		}
	}
	return found
}
