package similar_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// checker type-checks made programs, so that none is one that nobody could hand in.
type checker struct {
	imports types.Importer
}

// newChecker has the packages that exercises may import compiled, if they are not yet.
func newChecker(t testing.TB) *checker {
	t.Helper()
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "cudalab/native/cuda",
		"cudalab/kernels",
		"cudalab/exercises/contract", "std")
	list.Stderr = os.Stderr
	out, err := list.Output()
	require.NoError(t, err)
	compiled := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if path, file, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			compiled[path] = file
		}
	}
	return &checker{importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser,
		error) {
		return os.Open(compiled[path])
	})}
}

// source is a program that is being made.
type source struct {
	set   *token.FileSet
	file  *ast.File
	info  *types.Info
	pkg   *types.Package
	valid error
}

// open parses and type-checks a program without its comments.
func (c *checker) open(text string) *source {
	s := &source{set: token.NewFileSet(), info: &types.Info{Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}}}
	if s.file, s.valid = parser.ParseFile(s.set, "made.go", text, parser.SkipObjectResolution); s.valid != nil {
		return s
	}
	s.pkg, s.valid = (&types.Config{Importer: c.imports}).Check("made", s.set, []*ast.File{s.file}, s.info)
	return s
}

func (s *source) text() string {
	var b bytes.Buffer
	if err := format.Node(&b, s.set, s.file); err != nil {
		return ""
	}
	tidy, err := format.Source(b.Bytes())
	if err != nil {
		return ""
	}
	return string(tidy)
}

// disguise is one way to hide where a program is from. What it answers means the same and compiles; ok is false where
// the program gives it nothing to do.
type disguise func(c *checker, r *rand.Rand, text string) (made string, ok bool)

// disguises are those of the table in the instructors' chapter, in its order.
var disguises = []struct {
	name string
	make disguise
}{
	{"renamed", renamed},
	{"reordered", reordered},
	{"comments", commented},
	{"helpers", extracted},
	{"all of these", everything},
	{"dead code", padded},
}

// renamed gives everything that the program declares and does not export another name.
func renamed(c *checker, r *rand.Rand, text string) (string, bool) {
	s := c.open(text)
	foreign := map[string]bool{}
	own := map[string]string{}
	for id, obj := range s.info.Defs {
		if _, imported := obj.(*types.PkgName); imported {
			foreign[id.Name] = true
		}
	}
	for _, obj := range s.info.Uses {
		if _, imported := obj.(*types.PkgName); imported {
			foreign[obj.Name()] = true
		}
	}
	var names []string
	for id := range s.info.Defs {
		if !id.IsExported() && id.Name != "_" && id.Name != s.file.Name.Name && !foreign[id.Name] {
			names = append(names, id.Name)
		}
	}
	slices.Sort(names)
	for i, name := range slices.Compact(names) {
		own[name] = fmt.Sprintf("%s%d", []string{"thing", "x", "helperOf", "tmp", "the"}[r.IntN(5)], i)
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if id, isName := n.(*ast.Ident); isName && id != s.file.Name {
			if obj := s.info.Uses[id]; obj == nil || obj.Pkg() == s.pkg {
				if to := own[id.Name]; to != "" {
					id.Name = to
				}
			}
		}
		return true
	})
	return c.whole(s.text(), len(own) > 0)
}

// reordered shuffles declarations, and swaps statements that do not need each other.
func reordered(c *checker, r *rand.Rand, text string) (string, bool) {
	s := c.open(text)
	first := slices.IndexFunc(s.file.Decls, func(d ast.Decl) bool { return !isImport(d) })
	movable := s.file.Decls[max(first, 0):]
	r.Shuffle(len(movable), func(i, j int) { movable[i], movable[j] = movable[j], movable[i] })
	swapped := false
	ast.Inspect(s.file, func(n ast.Node) bool {
		block, isBlock := n.(*ast.BlockStmt)
		if !isBlock {
			return true
		}
		for i := 1; i < len(block.List); i++ {
			if independent(block.List[i-1], block.List[i]) {
				block.List[i-1], block.List[i] = block.List[i], block.List[i-1]
				swapped = true
				i++
			}
		}
		return true
	})
	return c.whole(s.text(), len(movable) > 2 || swapped)
}

func isImport(d ast.Decl) bool {
	g, isGen := d.(*ast.GenDecl)
	return isGen && g.Tok == token.IMPORT
}

// independent reports whether two statements are assignments that call nothing and share no name.
func independent(a, b ast.Stmt) bool {
	names := func(s ast.Stmt) (found map[string]bool, plain bool) {
		switch s.(type) {
		case *ast.AssignStmt, *ast.DeclStmt, *ast.IncDecStmt:
		default:
			return nil, false
		}
		found, plain = map[string]bool{}, true
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				found[n.Name] = true
			case *ast.CallExpr:
				if f, isName := n.Fun.(*ast.Ident); !isName || f.Name != "make" && f.Name != "len" && f.Name != "int64" &&
					f.Name != "append" {
					plain = false
				}
			case *ast.FuncLit, *ast.UnaryExpr:
				plain = false
			}
			return true
		})
		return found, plain
	}
	of, plainA := names(a)
	with, plainB := names(b)
	for name := range with {
		plainB = plainB && (!of[name] || types.Universe.Lookup(name) != nil)
	}
	return plainA && plainB
}

// commented throws the comments away and writes others.
func commented(c *checker, r *rand.Rand, text string) (string, bool) {
	var lines []string
	for line := range strings.Lines(c.open(text).text()) {
		if r.IntN(4) == 0 {
			lines = append(lines, fmt.Sprintf("// This is step %d of what I have to do here.\n", r.IntN(100)))
		}
		lines = append(lines, line)
	}
	tidy, err := format.Source([]byte(strings.Join(lines, "")))
	return c.whole(string(tidy), err == nil)
}

// padded puts statements that do nothing between the others, every third time: what fingerprints are weakest against.
func padded(c *checker, r *rand.Rand, text string) (string, bool) {
	s := c.open(text)
	ast.Inspect(s.file, func(n ast.Node) bool {
		block, isBlock := n.(*ast.BlockStmt)
		if !isBlock {
			return true
		}
		var list []ast.Stmt
		for _, stmt := range block.List {
			if r.IntN(3) == 0 {
				list = append(list, &ast.AssignStmt{Lhs: []ast.Expr{ast.NewIdent("_")}, Tok: token.ASSIGN,
					Rhs: []ast.Expr{ast.NewIdent("true")}})
			}
			list = append(list, stmt)
		}
		block.List = list
		return true
	})
	return c.whole(s.text(), true)
}

// everything is all that one can do without understanding the program.
func everything(c *checker, r *rand.Rand, text string) (string, bool) {
	for _, d := range []disguise{extracted, reordered, renamed, commented} {
		if made, ok := d(c, r, text); ok {
			text = made
		}
	}
	return text, true
}

// whole keeps a made program that compiles.
func (c *checker) whole(text string, changed bool) (string, bool) {
	return text, changed && text != "" && c.open(text).valid == nil
}

// merged is a program with functions of another one, every second where that compiles.
func merged(c *checker, _ *rand.Rand, text, other string) (string, bool) {
	taken := 0
	from := c.open(other)
	for i, d := range from.file.Decls {
		f, isFunc := d.(*ast.FuncDecl)
		if !isFunc || i%2 == 0 && len(from.file.Decls) > 4 {
			continue
		}
		s := c.open(text)
		at := slices.IndexFunc(s.file.Decls, func(d ast.Decl) bool {
			g, isFunc := d.(*ast.FuncDecl)
			return isFunc && nameOf(g) == nameOf(f)
		})
		if at < 0 {
			continue
		}
		begin, end := s.set.Position(s.file.Decls[at].Pos()).Offset, s.set.Position(s.file.Decls[at].End()).Offset
		function := other[from.set.Position(f.Pos()).Offset:from.set.Position(f.End()).Offset]
		try := text[:begin] + function + text[end:]
		if now := c.open(try); now.valid == nil {
			text = try
			taken++
		}
	}
	return text, taken > 0
}

func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	return types.ExprString(f.Recv.List[0].Type) + "." + f.Name.Name
}
