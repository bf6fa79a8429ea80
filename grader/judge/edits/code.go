package edits

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Code is a package that is to be changed, with its types.
type Code struct {
	Path     string // to import it by
	Set      *token.FileSet
	Files    []*File
	Importer types.Importer
	Types    *types.Package
	Info     types.Info
}

// File is one file of it.
type File struct {
	Name   string // without its folder
	Text   string
	Syntax *ast.File
	// Previous is the statement before each in its block.
	Previous map[ast.Stmt]ast.Stmt
}

// Between is the text from one position to another.
func (f *File) Between(from, to token.Pos) string {
	return f.Text[from-f.Syntax.FileStart : to-f.Syntax.FileStart]
}

// With is the file's text with a change.
func (f *File) With(ch Change) string {
	return f.Between(f.Syntax.FileStart, ch.From) + ch.Text + f.Between(ch.To, f.Syntax.FileEnd)
}

// Load reads a package from a folder and works out its types. Importer, where it is nil, asks Go for what the package
// needs, in the course at root.
func Load(root, folder, importPath string, set *token.FileSet, importer types.Importer) (*Code, error) {
	c := &Code{Path: importPath, Set: set, Importer: importer}
	if c.Importer == nil {
		var err error
		if c.Importer, err = Compiled(root, set, importPath); err != nil {
			return nil, err
		}
	}
	entries, err := fs.ReadDir(os.DirFS(folder), ".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() || path.Ext(e.Name()) != ".go" || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		text, err := fs.ReadFile(os.DirFS(folder), e.Name())
		if err != nil {
			return nil, err
		}
		if err := c.Add(e.Name(), string(text)); err != nil {
			return nil, err
		}
	}
	return c, c.Resolve()
}

// Add reads a file of the package.
func (c *Code) Add(name, text string) error {
	syntax, err := parser.ParseFile(c.Set, name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	f := &File{name, text, syntax, map[ast.Stmt]ast.Stmt{}}
	ast.Inspect(syntax, func(n ast.Node) bool {
		if block, ok := n.(*ast.BlockStmt); ok {
			for i := 1; i < len(block.List); i++ {
				f.Previous[block.List[i]] = block.List[i-1]
			}
		}
		return true
	})
	c.Files = append(c.Files, f)
	return nil
}

// Resolve works out the types, when all files have been added.
func (c *Code) Resolve() (err error) {
	c.Info = types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{},
		Defs: map[*ast.Ident]types.Object{}}
	c.Types, err = (&types.Config{Importer: c.Importer}).Check(c.Path, c.Set, c.syntaxes(), &c.Info)
	return err
}

func (c *Code) syntaxes() []*ast.File {
	var all []*ast.File
	for _, f := range c.Files {
		all = append(all, f.Syntax)
	}
	return all
}

// FileAt is the file that a position is in.
func (c *Code) FileAt(at token.Pos) *File {
	for _, f := range c.Files {
		if f.Syntax.FileStart <= at && at < f.Syntax.FileEnd {
			return f
		}
	}
	panic("edits: a position in no file")
}

// Text is the source of a node.
func (c *Code) Text(n ast.Node) string { return c.TextBetween(n.Pos(), n.End()) }

// TextBetween is the source from one position to another of the same file.
func (c *Code) TextBetween(from, to token.Pos) string { return c.FileAt(from).Between(from, to) }

// TypeOf is an expression's type; nil where it has none.
func (c *Code) TypeOf(e ast.Expr) types.Type { return c.Info.TypeOf(e) }

// Plain is a text without what its layout adds.
func Plain(text string) string { return strings.Join(strings.Fields(text), " ") }

// FunctionName is a function's name, of a method "Arena.Alloc".
func FunctionName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	for {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.IndexListExpr:
			of = t.X
		case *ast.Ident:
			return t.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}

// Compile reports whether the package compiles with a file's text replaced. The text that it returns does without the
// variables and imports that are no longer used.
func (c *Code) Compile(f *File, text string) (string, bool) {
	for {
		set := token.NewFileSet()
		syntax, err := parser.ParseFile(set, f.Name, text, parser.SkipObjectResolution)
		if err != nil {
			return "", false
		}
		var unused []types.Error
		hard := false
		config := types.Config{Importer: c.Importer, Error: func(err error) {
			if e, ok := errors.AsType[types.Error](err); ok && e.Soft {
				unused = append(unused, e)
			} else {
				hard = true
			}
		}}
		all := c.syntaxes()
		all[slices.Index(c.Files, f)] = syntax
		// The other files' positions belong to another set, which matters to none: they have no errors.
		_, _ = config.Check(c.Path, set, all, nil)
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

// Repair is a file's text without the import at an offset, or with a use of the variable that is declared there.
func Repair(text string, offset int) (string, bool) {
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if err != nil {
		return "", false
	}
	return repair(syntax, text, syntax.FileStart+token.Pos(offset))
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
