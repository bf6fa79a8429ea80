package check

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"

	"cudalab/grader/suite"
)

// functions finds where the functions and methods of a folder are declared, by name. Of several with one name it is the
// exported function, or the method of the type that comes first. Of each that has loops, loops is the line of the one that most
// likely never ends.
func functions(dir string) (found map[string]suite.Place, loops map[string]int) {
	found, loops = map[string]suite.Place{}, map[string]int{}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil
	}
	for _, entry := range files {
		if filepath.Ext(entry.Name()) != ".go" {
			continue
		}
		file, set := filepath.Join(dir, entry.Name()), token.NewFileSet()
		syntax, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		for _, d := range syntax.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if _, known := found[f.Name.Name]; !known || f.Recv == nil {
				found[f.Name.Name] = suite.Place{File: file, Line: set.Position(f.Pos()).Line, Func: f.Name.Name}
				if at := endless(f); at.IsValid() {
					loops[f.Name.Name] = set.Position(at).Line
				}
			}
		}
	}
	return found, loops
}

// endless is the first loop of a function that has no condition and nothing that ends it, or else its first loop.
func endless(f *ast.FuncDecl) (at token.Pos) {
	sure := false
	ast.Inspect(f, func(n ast.Node) bool {
		loop, ok := n.(*ast.ForStmt)
		if !ok || sure {
			return !sure
		}
		sure = loop.Cond == nil
		ast.Inspect(loop.Body, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.BranchStmt, *ast.ReturnStmt:
				sure = false
			}
			return true
		})
		if sure || !at.IsValid() {
			at = loop.Pos()
		}
		return true
	})
	return at
}
