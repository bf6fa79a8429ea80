package guarded

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"cudalab/grader/judge/edits"
	"cudalab/grader/proof/corpus"
)

// program is a program of the corpus with its types. Comments are left out.
type program struct {
	corpus.Program
	set          *token.FileSet
	file         *ast.File
	info         *types.Info
	types        *types.Package
	declarations []*declaration // in their order
}

// declaration is one function, method, type, variable or constant, or the constants that count up together.
type declaration struct {
	name string // "New", "Pool.Alloc"
	node ast.Decl
	text string // however it is laid out
}

// loader reads programs.
type loader struct {
	set      *token.FileSet
	importer types.Importer
	path     string // that the package is imported by
}

// newLoader reads programs of an exercise that import what one of these texts imports.
func newLoader(root, exercisePackage string, texts []string) (*loader, error) {
	l := &loader{set: token.NewFileSet(), path: "cudalab/exercises/" + exercisePackage}
	imported := []string{"fmt"}
	for _, text := range texts {
		file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ImportsOnly)
		if err != nil {
			continue // which load says of the program
		}
		for _, spec := range file.Imports {
			if path, err := strconv.Unquote(spec.Path.Value); err == nil && !slices.Contains(imported, path) {
				imported = append(imported, path)
			}
		}
	}
	var err error
	l.importer, err = edits.Compiled(root, l.set, imported...)
	return l, err
}

// load reads a program and works out its types.
func (l *loader) load(p corpus.Program) (*program, error) {
	made := &program{Program: p, set: l.set}
	var err error
	if made.file, err = parser.ParseFile(l.set, p.String(), p.Text, parser.SkipObjectResolution); err != nil {
		return nil, err
	}
	made.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{},
		Defs: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{}}
	made.types, err = (&types.Config{Importer: l.importer}).Check(l.path, l.set, []*ast.File{made.file}, made.info)
	if err != nil {
		return nil, err
	}
	made.nameFields()
	for _, d := range made.file.Decls {
		for _, node := range apart(d) {
			made.declarations = append(made.declarations, &declaration{nameOf(node), node, plain(made.text(node))})
		}
	}
	return made, nil
}

// text is a node's source.
func (p *program) text(n ast.Node) string {
	var b bytes.Buffer
	_ = format.Node(&b, p.set, n) // to a Buffer, which takes everything
	return b.String()
}

// plain is a text without what its layout adds.
func plain(text string) string { return strings.Join(strings.Fields(text), " ") }

// find is the declaration of a name; nil where there is none.
func (p *program) find(name string) *declaration {
	for _, d := range p.declarations {
		if d.name == name {
			return d
		}
	}
	return nil
}

// apart are the parts of a declaration that can each be declared alone; imports are none.
func apart(d ast.Decl) []ast.Decl {
	group, ok := d.(*ast.GenDecl)
	switch {
	case !ok:
		return []ast.Decl{d}
	case group.Tok == token.IMPORT:
		return nil
	case group.Tok == token.CONST && countsUp(group):
		return []ast.Decl{d}
	}
	var all []ast.Decl
	for _, spec := range group.Specs {
		all = append(all, &ast.GenDecl{TokPos: spec.Pos(), Tok: group.Tok, Specs: []ast.Spec{spec}})
	}
	return all
}

// countsUp reports whether constants get their values by their place.
func countsUp(group *ast.GenDecl) (counts bool) {
	for _, spec := range group.Specs {
		counts = counts || len(spec.(*ast.ValueSpec).Values) == 0
	}
	ast.Inspect(group, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		counts = counts || ok && id.Name == "iota"
		return !counts
	})
	return counts
}

func nameOf(d ast.Decl) string {
	if f, ok := d.(*ast.FuncDecl); ok {
		if f.Recv == nil {
			return f.Name.Name
		}
		return receiver(f) + "." + f.Name.Name
	}
	spec := d.(*ast.GenDecl).Specs[0]
	if t, ok := spec.(*ast.TypeSpec); ok {
		return t.Name.Name
	}
	return spec.(*ast.ValueSpec).Names[0].Name
}

// receiver is the name of a method's type.
func receiver(f *ast.FuncDecl) string {
	t := f.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		default:
			return fmt.Sprint(t)
		}
	}
}

// nameFields has values of the program's own structs name their fields, so that these may get more.
func (p *program) nameFields() {
	ast.Inspect(p.file, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok || len(lit.Elts) == 0 {
			return true
		}
		t := p.info.TypeOf(lit)
		if pointer, ok := t.Underlying().(*types.Pointer); ok {
			t = pointer.Elem()
		}
		named, ok := types.Unalias(t).(*types.Named)
		if _, keyed := lit.Elts[0].(*ast.KeyValueExpr); keyed || !ok || named.Obj().Pkg() != p.types {
			return true
		}
		if s, ok := named.Underlying().(*types.Struct); ok {
			for i, value := range lit.Elts {
				key := ast.NewIdent(s.Field(i).Name())
				key.NamePos = value.Pos()
				p.info.Uses[key] = s.Field(i)
				lit.Elts[i] = &ast.KeyValueExpr{Key: key, Colon: value.Pos(), Value: value}
			}
		}
		return true
	})
}

// uses are the objects that a node names, those of the program itself alone.
func (p *program) uses(n ast.Node) (all []types.Object) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if o := origin(p.info.Uses[id]); o != nil && o.Pkg() == p.types {
				all = append(all, o)
			}
		}
		return true
	})
	return all
}

// origin is an object as it was declared, without what type parameters make of it.
func origin(o types.Object) types.Object {
	switch o := o.(type) {
	case *types.Var:
		return o.Origin()
	case *types.Func:
		return o.Origin()
	}
	return o
}

// declared are the objects that a declaration declares: of a type its fields not.
func (p *program) declared(d *declaration) (all []types.Object) {
	switch n := d.node.(type) {
	case *ast.FuncDecl:
		all = append(all, p.info.Defs[n.Name])
	case *ast.GenDecl:
		for _, spec := range n.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				all = append(all, p.info.Defs[spec.Name])
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					all = append(all, p.info.Defs[name])
				}
			}
		}
	}
	return all
}

// structOf is the struct that a declaration declares; nil for any other.
func structOf(d *declaration) *ast.StructType {
	if g, ok := d.node.(*ast.GenDecl); ok {
		if t, ok := g.Specs[0].(*ast.TypeSpec); ok && t.TypeParams == nil {
			s, _ := t.Type.(*ast.StructType)
			return s
		}
	}
	return nil
}
