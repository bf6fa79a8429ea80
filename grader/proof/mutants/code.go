package mutants

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
)

// code is a package that is mutated, with its types.
type code struct {
	path     string // to import it by
	set      *token.FileSet
	files    []*file
	importer types.Importer
	types    *types.Package
	info     types.Info
}

type file struct {
	name   string // without its folder
	text   string
	syntax *ast.File
	// previous is the statement before each in its block.
	previous map[ast.Stmt]ast.Stmt
}

func (f *file) between(from, to token.Pos) string {
	return f.text[from-f.syntax.FileStart : to-f.syntax.FileStart]
}

// load reads the solution of an exercise and works out its types.
func load(root, exercisePackage string) (*code, error) {
	c := &code{path: "cudalab/solutions/" + exercisePackage, set: token.NewFileSet()}
	var err error
	if c.importer, err = compiled(root, c.path, c.set); err != nil {
		return nil, err
	}
	course := os.DirFS(root) // whatever signs of a pattern there may be in root
	names, err := fs.Glob(course, "solutions/"+exercisePackage+"/*.go")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(course, name)
		if err != nil {
			return nil, err
		}
		if err := c.add(path.Base(name), string(text)); err != nil {
			return nil, err
		}
	}
	return c, c.resolve()
}

// add reads a file of the package.
func (c *code) add(name, text string) error {
	syntax, err := parser.ParseFile(c.set, name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	f := &file{name, text, syntax, map[ast.Stmt]ast.Stmt{}}
	ast.Inspect(syntax, func(n ast.Node) bool {
		if block, ok := n.(*ast.BlockStmt); ok {
			for i := 1; i < len(block.List); i++ {
				f.previous[block.List[i]] = block.List[i-1]
			}
		}
		return true
	})
	c.files = append(c.files, f)
	return nil
}

// resolve works out the types, when all files have been added.
func (c *code) resolve() (err error) {
	c.info = types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	c.types, err = (&types.Config{Importer: c.importer}).Check(c.path, c.set, c.syntax(), &c.info)
	return err
}

// compiled imports what a package needs from what the compiler has made of it, in Go's build cache.
func compiled(root, path string, set *token.FileSet) (types.Importer, error) {
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export", path)
	list.Dir = root
	var complaint bytes.Buffer
	list.Stderr = &complaint
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, complaint.Bytes())
	}
	exports := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var listed struct{ ImportPath, Export string }
		if err := d.Decode(&listed); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[listed.ImportPath] = listed.Export
	}
	return importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }), nil
}

func (c *code) syntax() []*ast.File {
	var all []*ast.File
	for _, f := range c.files {
		all = append(all, f.syntax)
	}
	return all
}

// text is the source of a node.
func (c *code) text(n ast.Node) string { return c.textBetween(n.Pos(), n.End()) }

func (c *code) textBetween(from, to token.Pos) string {
	for _, f := range c.files {
		if f.syntax.FileStart <= from && from < f.syntax.FileEnd {
			return f.between(from, to)
		}
	}
	panic("mutants: a position in no file")
}

// typeOf is an expression's type; nil where it has none.
func (c *code) typeOf(e ast.Expr) types.Type { return c.info.TypeOf(e) }

// compile reports whether the package compiles with a file's text replaced. The text that it returns does without the
// variables and imports that are no longer used.
func (c *code) compile(f *file, text string) (string, bool) {
	for {
		set := token.NewFileSet()
		syntax, err := parser.ParseFile(set, f.name, text, parser.SkipObjectResolution)
		if err != nil {
			return "", false
		}
		var unused []types.Error
		hard := false
		config := types.Config{Importer: c.importer, Error: func(err error) {
			if e, ok := errors.AsType[types.Error](err); ok && e.Soft {
				unused = append(unused, e)
			} else {
				hard = true
			}
		}}
		all := c.syntax()
		all[slices.Index(c.files, f)] = syntax
		// The other files' positions belong to another set, which matters to none: they have no errors.
		_, _ = config.Check(c.path, set, all, nil)
		switch {
		case hard:
			return "", false
		case len(unused) == 0:
			return text, true
		}
		repaired, ok := repair(syntax, text, unused[0].Pos)
		if !ok {
			return "", false
		}
		text = repaired
	}
}

// repair drops the import at a position, or uses the variable that is declared there.
func repair(syntax *ast.File, text string, at token.Pos) (string, bool) {
	offset := func(p token.Pos) int { return int(p - syntax.FileStart) }
	for _, spec := range syntax.Imports {
		if spec.Pos() <= at && at < spec.End() {
			return text[:offset(spec.Pos())] + text[offset(spec.End()):], true
		}
	}
	where, use := token.NoPos, ""
	ast.PreorderStack(syntax, nil, func(n ast.Node, stack []ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Pos() == at {
			where, use = afterDeclaration(stack), id.Name
		}
		return where == token.NoPos
	})
	if where == token.NoPos {
		return "", false
	}
	return text[:offset(where)] + "; _ = " + use + "; " + text[offset(where):], true
}

// afterDeclaration is where a variable can first be used that is declared in the innermost of some nested statements:
// behind it in its block, or at the beginning of the body that it belongs to.
func afterDeclaration(stack []ast.Node) token.Pos {
	for i := len(stack) - 1; i > 0; i-- {
		switch n := stack[i].(type) {
		case *ast.IfStmt:
			return n.Body.Lbrace + 1
		case *ast.ForStmt:
			return n.Body.Lbrace + 1
		case *ast.RangeStmt:
			return n.Body.Lbrace + 1
		case *ast.AssignStmt, *ast.DeclStmt:
			if _, ok := stack[i-1].(*ast.BlockStmt); ok {
				return n.End()
			}
		}
	}
	return token.NoPos
}
