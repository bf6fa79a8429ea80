package intake

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// declared are the names that a Go file declares for its package, methods with their types; ok is false where it cannot
// be read as Go.
func declared(e entry) (names map[string]bool, ok bool) {
	if e.load == nil || !isGo(e.path) {
		return nil, false
	}
	text, err := e.load(maxFileSize)
	if err != nil {
		return nil, false
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, false
	}
	names = map[string]bool{}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			names[methodOf(d)+d.Name.Name] = true
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names[s.Name.Name] = true
				case *ast.ValueSpec:
					for _, name := range s.Names {
						names[name.Name] = true
					}
				}
			}
		}
	}
	delete(names, "_")
	delete(names, "init")
	return names, true
}

// methodOf is the type that a function is a method of, with a dot; "" for none.
func methodOf(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if name, ok := t.(*ast.Ident); ok {
		return name.Name + "."
	}
	return "?."
}

// shares are the names that two of the files declare; ok is false where one of them cannot be read as Go.
func shares(a, b entry) (names []string, ok bool) {
	in, okA := declared(a)
	with, okB := declared(b)
	for name := range in {
		if !with[name] {
			delete(in, name)
		}
	}
	return slices.Sorted(maps.Keys(in)), okA && okB
}

// redeclared tells of two files of an exercise that declare the same, so that they cannot be compiled together: as a
// rule one is an older version of the other.
func redeclared(pkg string, files []file) string {
	by := map[string]string{}
	for _, f := range files {
		if !isSource(f.name) {
			continue
		}
		names, _ := declared(f.entry)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if other, twice := by[name]; twice {
				return pkg + ": " + show(other) + " and " + show(f.name) + " both declare " + show(strings.TrimPrefix(name, "?.")) +
					", so that they do not compile together. If one is an older version, remove it."
			}
			by[name] = f.name
		}
	}
	return ""
}
