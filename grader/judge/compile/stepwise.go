package compile

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"

	"cudalab/grader/suite/returned"
)

// What packages steps and returned are called in the code under test; the first letter is on no keyboard.
const (
	StepName     = "\u01c3steps"
	returnedName = "\u01c3returned"
)

// Steps is the package that a file imports once it is Stepwise.
const Steps = cudalab + "/grader/judge/runner/steps"

// returnedLine is the package in which code says where it has returned.
const returnedLine = cudalab + "/grader/suite/returned"

// Stepwise is a Go file with a call of steps.Step at the beginning of each function and of each round of a loop.
func Stepwise(text []byte) []byte { return telling(text, true, false) }

// telling is a Go file that tells how it is carried out: its steps, as Stepwise has it, and the lines in which the
// exported functions return, or those whose answer they return. Everything keeps its line and column, in the compiler's
// messages and in stacks. A file that does not parse stays as it is.
func telling(text []byte, steps, returns bool) []byte {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if err != nil {
		return text
	}
	// What is put in is followed by a directive that says where the file goes on.
	type insertion struct {
		at   token.Position
		text string
	}
	var all []insertion
	put := func(pos token.Pos, text string) {
		at := set.PositionFor(pos, false)
		all = append(all, insertion{at, fmt.Sprintf("%s/*line :%d:%d*/", text, at.Line, at.Column)})
	}
	if steps {
		for _, body := range rounds(f) {
			put(body.Lbrace+1, StepName+".Step();")
		}
	}
	imports := ""
	if len(all) > 0 {
		imports = fmt.Sprintf(";import %s %q", StepName, Steps)
	}
	if ends := returning(f); returns && len(ends) > 0 {
		imports += fmt.Sprintf(";import %s %q", returnedName, returnedLine)
		for i, function := range ends {
			for _, r := range function {
				put(r.Pos(), fmt.Sprintf("%s.Last[%d]=%d;", returnedName, i, set.PositionFor(r.Pos(), false).Line))
			}
		}
	}
	if len(all) == 0 {
		return text
	}
	put(f.Name.End(), imports)
	slices.SortStableFunc(all, func(a, b insertion) int { return cmp.Compare(a.at.Offset, b.at.Offset) })
	var made []byte
	from := 0
	for _, i := range all {
		made = append(append(made, text[from:i.at.Offset]...), i.text...)
		from = i.at.Offset
	}
	return append(made, text[from:]...)
}

// rounds are the bodies of a file's functions and loops.
func rounds(f *ast.File) (bodies []*ast.BlockStmt) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Body != nil {
				bodies = append(bodies, n.Body)
			}
		case *ast.FuncLit:
			bodies = append(bodies, n.Body)
		case *ast.ForStmt:
			bodies = append(bodies, n.Body)
		case *ast.RangeStmt:
			bodies = append(bodies, n.Body)
		}
		return true
	})
	return bodies
}

// returning are the return statements of each of a file's exported functions, and of those whose answer one of them
// returns, of as many as there are lines for.
func returning(f *ast.File) (ends [][]*ast.ReturnStmt) {
	returns, answer := map[string][]*ast.ReturnStmt{}, []string{}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		name := fn.Name.Name
		if fn.Name.IsExported() && !slices.Contains(answer, name) {
			answer = append(answer, name)
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if r, ok := n.(*ast.ReturnStmt); ok {
				returns[name] = append(returns[name], r)
			}
			_, within := n.(*ast.FuncLit)
			return !within
		})
	}
	for i := 0; i < min(len(answer), len(returned.Lines{})); i++ {
		if all := returns[answer[i]]; len(all) > 0 {
			ends = append(ends, all)
		}
		for _, r := range returns[answer[i]] {
			if name := callee(r); name != "" && !slices.Contains(answer, name) {
				answer = append(answer, name)
			}
		}
	}
	return ends
}

// callee is the name of the function whose answer a statement returns; "" where it returns anything else.
func callee(r *ast.ReturnStmt) string {
	if len(r.Results) != 1 {
		return ""
	}
	call, ok := r.Results[0].(*ast.CallExpr)
	if !ok {
		return ""
	}
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}
