package build

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// api knows what the packages that exercises are about export. It reads their sources when first asked: most builds
// never ask.
type api struct {
	root  string
	names map[string]map[string]bool // by import path: the exported names, and whether each is a function
}

func newAPI(root string) *api { return &api{root: root, names: map[string]map[string]bool{}} }

// exported are a package's exported names at package level; true for functions.
func (a *api) exported(importPath string) map[string]bool {
	if names, ok := a.names[importPath]; ok {
		return names
	}
	names := map[string]bool{}
	a.names[importPath] = names
	dir := filepath.Join(a.root, filepath.FromSlash(strings.TrimPrefix(importPath, module+"/")))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return names
	}
	set := token.NewFileSet()
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".go" || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		// A file that does not parse is the compiler's to complain about.
		f, err := parser.ParseFile(set, filepath.Join(dir, e.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		for _, d := range f.Decls {
			collect(d, names)
		}
	}
	return names
}

func collect(d ast.Decl, names map[string]bool) {
	add := func(id *ast.Ident, function bool) {
		if id.IsExported() {
			names[id.Name] = function
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			add(d.Name, true)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				add(spec.Name, false)
			case *ast.ValueSpec:
				for _, id := range spec.Names {
					add(id, false)
				}
			}
		}
	}
}

// isFunction reports whether a name is one of the functions that make CUDA calls.
func (a *api) isFunction(importPath, name string) bool {
	return (importPath == cudaPath || importPath == kernelsPath) && a.exported(importPath)[name]
}
