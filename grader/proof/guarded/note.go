package guarded

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"hash/fnv"
	"slices"
)

// asked are the packages of which a program's calls are noted: it does what it asks of them, and what it answers.
var asked = []string{"cudalab/native/cuda", "cudalab/kernels", "cudalab/exercises/contract"}

// note has each such call be noted, with the numbers that it is given. The source of the functions is another one then.
func (p *program) note() {
	ast.Inspect(p.file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		function, ok := p.info.Uses[f.Sel].(*types.Func)
		if !ok || function.Pkg() == nil || !slices.Contains(asked, function.Pkg().Path()) {
			return true
		}
		for i, given := range call.Args {
			if v := p.info.Types[given]; v.Value == nil && isInteger(v.Type) {
				call.Args[i] = wrapped("a_", given)
			}
		}
		if function.Signature().Recv() == nil { // of a method the value would have to be made for each call
			h := fnv.New32a()
			h.Write([]byte(function.FullName()))
			call.Fun = wrapped("n_", &ast.BasicLit{Kind: token.INT, Value: fmt.Sprint(h.Sum32())}, f)
		}
		return true
	})
}

func wrapped(by string, arguments ...ast.Expr) *ast.CallExpr {
	return &ast.CallExpr{Fun: ast.NewIdent(by), Args: arguments}
}

// isInteger reports whether a_ takes a value of a type.
func isInteger(t types.Type) bool {
	if t == nil {
		return false
	}
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsInteger != 0 && basic.Info()&types.IsUntyped == 0
}
