package statements

import (
	"go/ast"
	"go/token"
	"slices"
)

// sameLines is how near to each other several statements are one place to a reader.
const sameLines = 8

// keeper is where what a function does changes a number that the code tells of itself under the name of a field; where
// it changes nothing of that, where the number is told.
func (c *Code) keeper(function string, within []*ast.FuncDecl, field string) (token.Pos, string) {
	told, kept := c.telling(field)
	for _, fields := range [][]string{{field}, kept} { // where it is told it may be kept as well
		var changes []token.Pos
		for _, f := range within {
			ast.Inspect(f.Body, func(n ast.Node) bool {
				if at, ok := changing(f, n, fields); ok {
					changes = append(changes, at)
				}
				return true
			})
		}
		if at := c.one(changes); at.IsValid() {
			return at, function + " changes " + field + " in this line."
		}
	}
	return c.one(slices.DeleteFunc(told, func(at token.Pos) bool { // else what is missing stands nowhere
		return !slices.ContainsFunc(within, func(f *ast.FuncDecl) bool { return f.Pos() <= at && at < f.End() })
	})), field + " is worked out here."
}

// telling is where the code gives a field of its account a value, and the fields of its own that are part of that.
func (c *Code) telling(field string) (told []token.Pos, kept []string) {
	value := func(at token.Pos, e ast.Expr) {
		told = append(told, at)
		ast.Inspect(e, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name != field {
				kept = append(kept, s.Sel.Name)
				return false
			}
			return true
		})
	}
	for _, fs := range c.funcs {
		for _, f := range fs {
			ast.Inspect(f.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.KeyValueExpr:
					if named(n.Key) == field {
						value(n.Pos(), n.Value)
					}
				case *ast.AssignStmt:
					if s, ok := n.Lhs[0].(*ast.SelectorExpr); ok && s.Sel.Name == field && len(n.Rhs) == 1 {
						value(n.Pos(), n.Rhs[0])
					}
				}
				return true
			})
		}
	}
	return told, kept
}

// changing is where a node of a function changes one of some fields.
func changing(f *ast.FuncDecl, n ast.Node, fields []string) (token.Pos, bool) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			if slices.Contains(fields, ofField(to)) {
				if len(n.Rhs) == len(n.Lhs) {
					return origin(f, n.Rhs[i], n.Pos()), true
				}
				return n.Pos(), true
			}
		}
	case *ast.IncDecStmt:
		return n.Pos(), slices.Contains(fields, ofField(n.X))
	}
	return token.NoPos, false
}

// ofField is the field that an assignment to an expression changes, or a part of it; "" where it is none.
func ofField(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			return x.Sel.Name
		default:
			return ""
		}
	}
}
