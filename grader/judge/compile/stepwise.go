package compile

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
)

// StepName is what package steps is called in code that was made stepwise; its first letter is on no keyboard.
const StepName = "\u01c3steps"

// Steps is the package that a file imports once it is Stepwise.
const Steps = cudalab + "/grader/judge/runner/steps"

// Stepwise is a Go file with a call of steps.Step at the beginning of each function and of each round of a loop.
// Everything keeps its line and column, in the compiler's messages and in stacks. A file that does not parse stays as
// it is.
func Stepwise(text []byte) []byte {
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
	begin := func(body *ast.BlockStmt) {
		if body != nil {
			put(body.Lbrace+1, StepName+".Step();")
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			begin(n.Body)
		case *ast.FuncLit:
			begin(n.Body)
		case *ast.ForStmt:
			begin(n.Body)
		case *ast.RangeStmt:
			begin(n.Body)
		}
		return true
	})
	if len(all) == 0 {
		return text
	}
	put(f.Name.End(), fmt.Sprintf(";import %s %q", StepName, Steps))
	slices.SortFunc(all, func(a, b insertion) int { return cmp.Compare(a.at.Offset, b.at.Offset) })
	var made []byte
	from := 0
	for _, i := range all {
		made = append(append(made, text[from:i.at.Offset]...), i.text...)
		from = i.at.Offset
	}
	return append(made, text[from:]...)
}
