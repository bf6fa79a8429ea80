package edits

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// The operators that change which statements are carried out, and in what order.
var statementOperators = []Operator{
	{"deletion", deletion},
	{"no else", noElse},
	{"branch", branch},
	{"loop once", loopOnce},
	{"range", shorterRange},
	{"swap of statements", swapStatements},
	{"at once", atOnce},
	{"result", zeroResult},
}

// deletion drops a statement. Of an if statement that makes a call first, which condition keeps, the call goes too.
func deletion(c *Code, n ast.Node, stack []ast.Node) []Change {
	gone := []Change{replaced(n, "", n)}
	switch n := n.(type) {
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt, *ast.BranchStmt, *ast.ForStmt, *ast.RangeStmt:
		return gone
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE && inBlock(stack) {
			return gone
		}
	case *ast.ReturnStmt:
		if !alone(stack) { // condition has it
			return gone
		}
	case *ast.IfStmt:
		if n.Init != nil && inBlock(stack) {
			return gone
		}
	}
	return nil
}

// inBlock reports whether a node is a statement of a block, and not a part of another's head.
func inBlock(stack []ast.Node) bool {
	switch stack[len(stack)-1].(type) {
	case *ast.BlockStmt, *ast.CaseClause:
		return true
	}
	return false
}

// alone reports whether a statement is all that is carried out on a condition.
func alone(stack []ast.Node) bool {
	if len(stack) < 2 {
		return false
	}
	switch block := stack[len(stack)-1].(type) {
	case *ast.BlockStmt:
		question, ok := stack[len(stack)-2].(*ast.IfStmt)
		return ok && question.Else == nil && len(block.List) == 1
	case *ast.CaseClause:
		return len(block.Body) == 1
	}
	return false
}

func noElse(_ *Code, n ast.Node, _ []ast.Node) []Change {
	if s, ok := n.(*ast.IfStmt); ok && s.Else != nil {
		return []Change{{s.Body.End(), s.Else.End(), "", s.Else}}
	}
	return nil
}

func branch(_ *Code, n ast.Node, stack []ast.Node) []Change {
	s, ok := n.(*ast.BranchStmt)
	if !ok || s.Label != nil {
		return nil
	}
	other := map[token.Token]string{token.BREAK: "continue", token.CONTINUE: "break"}[s.Tok]
	return []Change{replaced(s, other, s)}
}

// loopOnce ends a loop after its first round.
func loopOnce(_ *Code, n ast.Node, _ []ast.Node) []Change {
	var body *ast.BlockStmt
	switch n := n.(type) {
	case *ast.ForStmt:
		body = n.Body
	case *ast.RangeStmt:
		body = n.Body
	default:
		return nil
	}
	return []Change{{body.Rbrace, body.Rbrace, "break\n", n}}
}

// shorterRange leaves out the first or the last round of a loop over a slice or a number, or adds one.
func shorterRange(c *Code, n ast.Node, _ []ast.Node) []Change {
	r, ok := n.(*ast.RangeStmt)
	if !ok {
		return nil
	}
	x := c.Text(r.X)
	switch t := c.TypeOf(r.X).Underlying().(type) {
	case *types.Slice:
		return []Change{
			replaced(r.X, x+"[min(1, len("+x+")):]", r),
			replaced(r.X, x+"[:max(1, len("+x+"))-1]", r),
		}
	case *types.Basic:
		if t.Info()&types.IsInteger != 0 {
			return []Change{replaced(r.X, x+" - 1", r), replaced(r.X, x+" + 1", r)}
		}
	}
	return nil
}

// swapStatements changes the order of two neighbours that each call something of the package, of CUDA or of the
// kernels. A call and the question after its error are one.
func swapStatements(c *Code, n ast.Node, _ []ast.Node) []Change {
	block, ok := n.(*ast.BlockStmt)
	if !ok {
		return nil
	}
	var steps [][]ast.Stmt
	for i, s := range block.List {
		if question, ok := s.(*ast.IfStmt); ok && i > 0 && question.Init == nil && strings.HasPrefix(c.Text(question.Cond),
			"err ") {
			steps[len(steps)-1] = append(steps[len(steps)-1], s)
			continue
		}
		steps = append(steps, []ast.Stmt{s})
	}
	var all []Change
	for i := 1; i < len(steps); i++ {
		first, second := steps[i-1], steps[i]
		if !c.calls(first[0]) || !c.calls(second[0]) {
			continue
		}
		from, to := first[0].Pos(), second[len(second)-1].End()
		text := c.TextBetween(second[0].Pos(), to) + "\n" + c.TextBetween(from, first[len(first)-1].End())
		all = append(all, Change{from, to, text, first[0]})
	}
	return all
}

// calls reports whether a statement calls a function of this course's.
func (c *Code) calls(s ast.Stmt) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if f, isFunc := c.Info.Uses[id].(*types.Func); ok && isFunc && f.Pkg() != nil {
			found = found || strings.HasPrefix(f.Pkg().Path(), "cudalab/")
		}
		return !found
	})
	return found
}

// atOnce does now what was deferred.
func atOnce(c *Code, n ast.Node, _ []ast.Node) []Change {
	if d, ok := n.(*ast.DeferStmt); ok {
		return []Change{replaced(d, c.Text(d.Call), d)}
	}
	return nil
}

// zeroResult answers nothing in place of a result, and nil in place of an error; a call that answered the error is left
// out, or made for nothing.
func zeroResult(c *Code, n ast.Node, stack []ast.Node) []Change {
	r, ok := n.(*ast.ReturnStmt)
	if !ok {
		return nil
	}
	shown := ast.Node(r)
	if question, ok := stack[len(stack)-2].(*ast.IfStmt); ok && alone(stack) {
		shown = question
	}
	var all []Change
	for _, e := range r.Results {
		t := c.TypeOf(e)
		switch {
		case c.Info.Types[e].Value != nil || c.Info.Types[e].IsNil():
		case IsError(t):
			all = append(all, replaced(e, "nil", shown))
			if call, ok := e.(*ast.CallExpr); ok && len(r.Results) == 1 && c.Text(call.Fun) != "fmt.Errorf" {
				all = append(all, replaced(r, "_ = "+c.Text(e)+"\nreturn nil", shown))
			}
		case t != nil:
			if zero := ZeroOf(t); zero != "" {
				all = append(all, replaced(e, zero, shown))
			}
		}
	}
	return all
}

// ZeroOf is the zero value of a type that has a short one; "" for others.
func ZeroOf(t types.Type) string {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsNumeric != 0:
			return "0"
		case u.Info()&types.IsBoolean != 0:
			return "false"
		}
	case *types.Slice, *types.Pointer:
		return "nil"
	}
	return ""
}
