// Package gaps finds what is still to be written in an exercise: the places that return contract.TODO.
package gaps

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Gap is one TODO that the code still answers with.
type Gap struct {
	ID   string // "1a"
	File string // under the folder as it was given
	Line int
	Text string // the first sentence of the comment that describes it; "" if there is none
	// Lacks says why it is one though the code has no such place, as the beginning of a sentence: "Sums is not in the
	// files"; "" where it has.
	Lacks string
}

// Find lists the gaps left in the Go files of a folder, in the order of their IDs, each once. A file that does not
// parse has none: the compiler has more to say about it.
func Find(dir string) ([]Gap, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var found []Gap
	for _, e := range entries {
		if e.IsDir() || filepath.Ext(e.Name()) != ".go" || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			continue
		}
		for _, gap := range described(set, file, file) {
			gap.File = path
			found = append(found, gap)
		}
	}
	return InOrder(found), nil
}

// InOrder are gaps in the order of their IDs, each once.
func InOrder(found []Gap) []Gap {
	slices.SortStableFunc(found, func(a, b Gap) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(found, func(a, b Gap) bool { return a.ID == b.ID })
}

// Within lists the gaps of a function in the text of a Go file, "Sums", or of a type's method, "Buffer.Use", in the
// order in which they stand there. A file that does not parse, or has no such function, has none.
func Within(text []byte, function string) []Gap {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.ParseComments)
	if err != nil {
		return nil
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && function == strings.TrimPrefix(Receiver(f)+"."+f.Name.Name, ".") {
			return described(set, file, f)
		}
	}
	return nil
}

// Receiver is the type that a function is a method of; "" where it is none's.
func Receiver(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return ""
	}
	t := f.Recv.List[0].Type
	for {
		switch inner := t.(type) {
		case *ast.StarExpr:
			t = inner.X
		case *ast.ParenExpr:
			t = inner.X
		case *ast.IndexExpr:
			t = inner.X
		case *ast.IndexListExpr:
			t = inner.X
		case *ast.Ident:
			return inner.Name
		default:
			return ""
		}
	}
}

// described are the gaps in a part of a file.
func described(set *token.FileSet, file *ast.File, part ast.Node) (found []Gap) {
	texts := comments(file)
	ast.Inspect(part, func(n ast.Node) bool {
		if id, ok := todo(n); ok {
			found = append(found, Gap{ID: id, Line: set.PositionFor(n.Pos(), false).Line, Text: texts[id]})
		}
		return true
	})
	return found
}

// Of lists the gaps' IDs in the text of a Go file, in their order, each once. One that does not parse has none.
func Of(text []byte) []string {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, 0)
	if err != nil {
		return nil
	}
	ids := In(file)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// In lists the gaps' IDs in a part of a program, in the order in which they stand there.
func In(part ast.Node) []string {
	var ids []string
	ast.Inspect(part, func(n ast.Node) bool {
		if id, ok := todo(n); ok {
			ids = append(ids, id)
		}
		return true
	})
	return ids
}

// todo recognises the call contract.TODO("1a").
func todo(n ast.Node) (id string, ok bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return "", false
	}
	fun, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || fun.Sel.Name != "TODO" {
		return "", false
	}
	lit, ok := call.Args[0].(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	id, err := strconv.Unquote(lit.Value)
	return id, err == nil
}

// comments are the descriptions of the gaps: "TODO(1a): zero the result." up to the end of the first sentence.
func comments(file *ast.File) map[string]string {
	texts := map[string]string{}
	for _, group := range file.Comments {
		text := strings.Join(strings.Fields(group.Text()), " ")
		for {
			_, rest, ok := strings.Cut(text, "TODO(")
			if !ok {
				break
			}
			id, rest, ok := strings.Cut(rest, "):")
			if !ok {
				break
			}
			text = rest
			sentence, _, _ := strings.Cut(rest, ". ")
			if _, seen := texts[id]; !seen {
				texts[id] = strings.TrimSuffix(strings.TrimSpace(sentence), ".")
			}
		}
	}
	return texts
}
