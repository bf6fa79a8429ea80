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
		texts := comments(file)
		ast.Inspect(file, func(n ast.Node) bool {
			if id, ok := todo(n); ok {
				found = append(found, Gap{ID: id, File: path, Line: set.PositionFor(n.Pos(), false).Line, Text: texts[id]})
			}
			return true
		})
	}
	slices.SortStableFunc(found, func(a, b Gap) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(found, func(a, b Gap) bool { return a.ID == b.ID }), nil
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
