package statements

import (
	"go/ast"
	"go/token"
)

// answer is the only return statement of some functions, or of what they return the answer of, whose first result is
// fit: or where that result is given its value.
func (c *Code) answer(of []*ast.FuncDecl, fit func(ast.Expr) bool) token.Pos {
	var found []token.Pos
	seen := map[*ast.FuncDecl]bool{}
	var look func(f *ast.FuncDecl)
	look = func(f *ast.FuncDecl) {
		if seen[f] {
			return
		}
		seen[f] = true
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch r := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ReturnStmt:
				if len(r.Results) == 0 {
					break
				}
				if call, ok := r.Results[0].(*ast.CallExpr); ok && len(c.funcs[named(call.Fun)]) > 0 {
					for _, g := range c.funcs[named(call.Fun)] {
						look(g)
					}
				} else if fit(r.Results[0]) {
					found = append(found, origin(f, r.Results[0], r.Pos()))
				}
			}
			return true
		})
	}
	for _, f := range of {
		look(f)
	}
	if len(found) != 1 {
		return token.NoPos
	}
	return found[0]
}

func isNil(e ast.Expr) bool {
	name, ok := e.(*ast.Ident)
	return ok && name.Name == "nil"
}

// isMade reports whether a result is made of something: it is neither a constant nor nil.
func isMade(e ast.Expr) bool {
	_, constant := e.(*ast.BasicLit)
	return !constant && !isNil(e)
}

// origin is where a value comes from: where the variable that it is was given it, if that is one place in the
// function, or else the place itself.
func origin(f *ast.FuncDecl, value ast.Expr, at token.Pos) token.Pos {
	name, ok := value.(*ast.Ident)
	if !ok {
		return at
	}
	var given []token.Pos
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for _, to := range a.Lhs {
				if id, ok := to.(*ast.Ident); ok && id.Name == name.Name {
					given = append(given, a.Pos())
				}
			}
		}
		return true
	})
	if len(given) == 1 {
		return given[0]
	}
	return at
}
