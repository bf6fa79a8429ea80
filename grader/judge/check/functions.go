package check

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"

	"cudalab/grader/judge/run"
	"cudalab/grader/suite/gaps"
	"cudalab/grader/suite/verdict"
)

// functions finds where the functions and methods of a folder are declared, by name. Of several with one name it is the
// exported function, or the method of the type that comes first. In code they have the names that they have in a
// stack. What is as in the skeleton and has no gap was given.
func functions(dir string, skeleton []byte) (found map[string]verdict.Place, code map[string]run.Function) {
	found, code = map[string]verdict.Place{}, map[string]run.Function{}
	given := given(skeleton)
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil
	}
	for _, entry := range files {
		if filepath.Ext(entry.Name()) != ".go" {
			continue
		}
		file, set := filepath.Join(dir, entry.Name()), token.NewFileSet()
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		syntax, err := parser.ParseFile(set, file, text, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		for _, d := range syntax.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			line := set.Position(f.Pos()).Line
			if _, known := found[f.Name.Name]; !known || f.Recv == nil {
				found[f.Name.Name] = verdict.Place{File: file, Line: line, Func: f.Name.Name}
			}
			name, loop := inStack(f), set.Position(endless(f)).Line
			same := given[name] != "" && given[name] == textOf(set, text, f)
			code[name] = run.Function{Line: line, Loop: loop, Loops: loops(set, f), Given: same}
		}
	}
	return found, code
}

// given are the texts of a skeleton's functions in which nothing is to be written, by the names that they have in a
// stack. A skeleton without gaps is code to be mended, all of it.
func given(skeleton []byte) map[string]string {
	texts, set := map[string]string{}, token.NewFileSet()
	syntax, err := parser.ParseFile(set, "", skeleton, parser.SkipObjectResolution)
	if err != nil || len(gaps.In(syntax)) == 0 {
		return nil
	}
	for _, d := range syntax.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && len(gaps.In(f)) == 0 {
			texts[inStack(f)] = textOf(set, skeleton, f)
		}
	}
	return texts
}

// textOf is what stands in a file as a function, without its comment.
func textOf(set *token.FileSet, file []byte, f *ast.FuncDecl) string {
	return string(file[set.Position(f.Type.Pos()).Offset:set.Position(f.End()).Offset])
}

// inStack is a function's name as a stack has it, without its package.
func inStack(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	form, of := "%s.%s", f.Recv.List[0].Type
	if p, ok := of.(*ast.StarExpr); ok {
		form, of = "(*%s).%s", p.X
	}
	switch t := of.(type) { // a generic type's parameters are left out
	case *ast.IndexExpr:
		of = t.X
	case *ast.IndexListExpr:
		of = t.X
	}
	return fmt.Sprintf(form, of, f.Name.Name)
}

// loops are the first and the last lines of a function's loops, an outer one before those in it.
func loops(set *token.FileSet, f *ast.FuncDecl) (lines [][2]int) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			lines = append(lines, [2]int{set.Position(n.Pos()).Line, set.Position(n.End()).Line})
		}
		return true
	})
	return lines
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
