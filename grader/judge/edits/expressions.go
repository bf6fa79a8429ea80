package edits

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
)

// The operators that change an expression.
var expressionOperators = []Operator{
	{"boundary", boundary},
	{"negation", negation},
	{"arithmetic", arithmetic},
	{"logic", logic},
	{"condition", condition},
	{"constant", literal},
	{"other constant", otherConstant},
	{"other variable", otherVariable},
	{"index", index},
	{"slice bound", sliceBound},
}

// Change is what an operator does: the text from one position to another is replaced.
type Change struct {
	From, To token.Pos
	Text     string
	Shown    ast.Node // the least of the source that says what is changed; the change lies in it
}

// Operator makes the changes of one kind at a node. Stack are the nodes around it, the innermost last.
type Operator struct {
	Name string
	At   func(c *Code, n ast.Node, stack []ast.Node) []Change
}

// Operators are all of them.
var Operators = slices.Concat(expressionOperators, statementOperators, callOperators)

// replaced is the change of a node into a text.
func replaced(n ast.Node, text string, shown ast.Node) Change {
	return Change{n.Pos(), n.End(), text, shown}
}

// around is what tells a reader which part of a function an expression is: the smallest expression around it, or the
// statement.
func around(n ast.Node, stack []ast.Node) ast.Node {
	for i := len(stack) - 1; i >= 0; i-- {
		switch stack[i].(type) {
		case *ast.CallExpr, *ast.BinaryExpr, *ast.IndexExpr, *ast.SliceExpr, *ast.KeyValueExpr, ast.Stmt, ast.Spec:
			if _, block := stack[i].(*ast.BlockStmt); !block {
				return stack[i]
			}
		}
	}
	return n
}

// tokens are a binary expression with other operators in place of its own, in brackets where those bind otherwise.
func tokens(c *Code, b *ast.BinaryExpr, stack []ast.Node, others []token.Token) []Change {
	shown := ast.Node(b)
	if question, ok := stack[len(stack)-1].(*ast.IfStmt); ok {
		shown = question
	}
	var all []Change
	for _, t := range others {
		text := c.Text(b.X) + " " + t.String() + " " + c.Text(b.Y)
		if t.Precedence() != b.Op.Precedence() {
			text = "((" + c.Text(b.X) + ") " + t.String() + " (" + c.Text(b.Y) + "))"
		}
		all = append(all, replaced(b, text, shown))
	}
	return all
}

var boundaries = map[token.Token][]token.Token{
	token.LSS: {token.LEQ}, token.LEQ: {token.LSS}, token.GTR: {token.GEQ}, token.GEQ: {token.GTR},
	token.EQL: {token.LEQ, token.GEQ}, token.NEQ: {token.LSS, token.GTR},
}

func boundary(c *Code, n ast.Node, stack []ast.Node) []Change {
	b, ok := n.(*ast.BinaryExpr)
	if !ok || (b.Op == token.EQL || b.Op == token.NEQ) && c.Text(b.Y) == "0" && c.neverNegative(b.X) {
		return nil
	}
	return tokens(c, b, stack, boundaries[b.Op])
}

// neverNegative reports whether an expression is at least 0 by its kind: then == 0 says no more than <= 0.
func (c *Code) neverNegative(e ast.Expr) bool {
	if call, ok := e.(*ast.CallExpr); ok && c.Text(call.Fun) == "len" {
		return true
	}
	basic, ok := c.TypeOf(e).Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsUnsigned != 0
}

var negations = map[token.Token][]token.Token{
	token.LSS: {token.GEQ}, token.LEQ: {token.GTR}, token.GTR: {token.LEQ}, token.GEQ: {token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
}

func negation(c *Code, n ast.Node, stack []ast.Node) []Change {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if n.Op == token.LAND || n.Op == token.LOR {
			return []Change{replaced(n, "!("+c.Text(n)+")", n)}
		}
		return tokens(c, n, stack, negations[n.Op])
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			return []Change{replaced(n, c.Text(n.X), around(n, stack))}
		}
	case *ast.CallExpr, *ast.SelectorExpr, *ast.Ident, *ast.IndexExpr:
		if isCondition(n, stack) {
			return []Change{replaced(n, "!"+c.Text(n), around(n, stack))}
		}
	}
	return nil
}

// isCondition reports whether a node is what an if or a for statement asks, or a part of it that && or || joins.
func isCondition(n ast.Node, stack []ast.Node) bool {
	for i := len(stack) - 1; i >= 0; i-- {
		switch p := stack[i].(type) {
		case *ast.IfStmt:
			return p.Cond == n
		case *ast.ForStmt:
			return p.Cond == n
		case *ast.BinaryExpr:
			if p.Op != token.LAND && p.Op != token.LOR {
				return false
			}
			n = p
		default:
			return false
		}
	}
	return false
}

var arithmetics = map[token.Token][]token.Token{
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL, token.REM},
	token.REM: {token.QUO}, token.SHL: {token.SHR}, token.SHR: {token.SHL}, token.AND: {token.OR}, token.OR: {token.AND},
	token.XOR: {token.AND, token.OR}, token.AND_NOT: {token.AND},
}

var assignments = map[token.Token][]token.Token{
	token.ADD_ASSIGN: {token.SUB_ASSIGN, token.ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN, token.ASSIGN},
	token.MUL_ASSIGN: {token.QUO_ASSIGN, token.ASSIGN}, token.QUO_ASSIGN: {token.MUL_ASSIGN, token.ASSIGN},
	token.SHL_ASSIGN: {token.SHR_ASSIGN, token.ASSIGN}, token.SHR_ASSIGN: {token.SHL_ASSIGN, token.ASSIGN},
	token.OR_ASSIGN: {token.AND_ASSIGN, token.ASSIGN}, token.AND_NOT_ASSIGN: {token.AND_ASSIGN, token.ASSIGN},
	token.INC: {token.DEC}, token.DEC: {token.INC},
}

func arithmetic(c *Code, n ast.Node, stack []ast.Node) []Change {
	var all []Change
	switch n := n.(type) {
	case *ast.BinaryExpr:
		return tokens(c, n, stack, arithmetics[n.Op])
	case *ast.AssignStmt:
		for _, t := range assignments[n.Tok] {
			all = append(all, Change{n.TokPos, n.TokPos + token.Pos(len(n.Tok.String())), t.String(), n})
		}
	case *ast.IncDecStmt:
		all = append(all, replaced(n, c.Text(n.X)+assignments[n.Tok][0].String(), n))
	case *ast.CallExpr:
		other := map[string]string{"min": "max", "max": "min"}[c.Text(n.Fun)]
		if other == "" {
			return nil
		}
		all = append(all, replaced(n.Fun, other, n))
		for _, argument := range n.Args {
			all = append(all, replaced(n, c.Text(argument), n))
		}
	}
	return all
}

func logic(c *Code, n ast.Node, stack []ast.Node) []Change {
	b, ok := n.(*ast.BinaryExpr)
	if !ok || b.Op != token.LAND && b.Op != token.LOR {
		return nil
	}
	other := map[token.Token]token.Token{token.LAND: token.LOR, token.LOR: token.LAND}[b.Op]
	return append(tokens(c, b, stack, []token.Token{other}), replaced(b, c.Text(b.X), b), replaced(b, c.Text(b.Y), b))
}

// condition makes a condition never hold, or always. It is worked out all the same.
func condition(c *Code, n ast.Node, _ []ast.Node) []Change {
	never := func(e ast.Expr, shown ast.Node) Change { return replaced(e, "("+c.Text(e)+") && false", shown) }
	always := func(e ast.Expr, shown ast.Node) Change { return replaced(e, "("+c.Text(e)+") || true", shown) }
	switch n := n.(type) {
	case *ast.IfStmt:
		return []Change{never(n.Cond, n), always(n.Cond, n)}
	case *ast.ForStmt:
		if n.Cond != nil {
			return []Change{never(n.Cond, n)} // always would be for ever
		}
	case *ast.SwitchStmt:
		if n.Tag != nil {
			return nil
		}
		var all []Change
		for _, clause := range n.Body.List {
			for _, e := range clause.(*ast.CaseClause).List {
				all = append(all, never(e, e), always(e, e))
			}
		}
		return all
	}
	return nil
}

// literal changes a number that is written out, or true and false. What is returned beside an error means nothing, and
// a function's type, such as one with an array, is the suite's to say.
func literal(c *Code, n ast.Node, stack []ast.Node) []Change {
	switch n := n.(type) {
	case *ast.BasicLit:
		value, err := strconv.ParseInt(n.Value, 0, 64)
		if n.Kind != token.INT || err != nil || besideError(n, stack) || slices.ContainsFunc(stack, isSignature) {
			return nil
		}
		var all []Change
		for _, other := range []int64{value + 1, value - 1, 0} {
			if other != value {
				all = append(all, replaced(n, strconv.FormatInt(other, 10), around(n, stack)))
			}
		}
		return all
	case *ast.Ident:
		if other := map[string]string{"true": "false", "false": "true"}[n.Name]; other != "" {
			return []Change{replaced(n, other, around(n, stack))}
		}
	}
	return nil
}

func isSignature(n ast.Node) bool {
	_, ok := n.(*ast.FuncType)
	return ok
}

// besideError reports whether a node is returned together with an error.
func besideError(n ast.Node, stack []ast.Node) bool {
	r, ok := stack[len(stack)-1].(*ast.ReturnStmt)
	if !ok {
		return false
	}
	last, ok := r.Results[len(r.Results)-1].(*ast.Ident)
	return r.Results[len(r.Results)-1] != n && !(ok && last.Name == "nil")
}

// otherConstant puts another of CUDA's named constants in the place of one: one of those that the file uses.
func otherConstant(c *Code, n ast.Node, stack []ast.Node) []Change {
	used, ok := c.constantOf(n)
	if !ok {
		return nil
	}
	var all []Change
	seen := map[string]bool{c.Text(n): true}
	for _, f := range c.Files {
		ast.Inspect(f.Syntax, func(m ast.Node) bool {
			if other, ok := c.constantOf(m); ok && types.Identical(used.Type(), other.Type()) && !seen[c.Text(m)] {
				seen[c.Text(m)] = true
				all = append(all, replaced(n, c.Text(m), around(n, stack)))
			}
			return true
		})
	}
	if constant.Sign(used.Val()) != 0 {
		all = append(all, replaced(n, "0", around(n, stack)))
	}
	return all
}

// constantOf is the constant that an expression such as cuda.EventDisableTiming names.
func (c *Code) constantOf(n ast.Node) (*types.Const, bool) {
	s, ok := n.(*ast.SelectorExpr)
	if !ok {
		return nil, false
	}
	k, ok := c.Info.Uses[s.Sel].(*types.Const)
	return k, ok && k.Val().Kind() == constant.Int
}

// otherVariable puts another variable of the same type that is declared by then in the place of one that is used.
func otherVariable(c *Code, n ast.Node, stack []ast.Node) []Change {
	id, ok := n.(*ast.Ident)
	if !ok {
		return nil
	}
	used, ok := c.Info.Uses[id].(*types.Var)
	if !ok || used.IsField() || IsError(used.Type()) {
		return nil
	}
	var all []Change
	for scope := c.Types.Scope().Innermost(id.Pos()); scope != nil && scope != c.Types.Scope(); scope = scope.Parent() {
		for _, name := range scope.Names() {
			if _, at := scope.LookupParent(name, id.Pos()); at == nil || name == used.Name() {
				continue
			}
			other, ok := scope.Lookup(name).(*types.Var)
			if ok && other.Pos() < id.Pos() && name != "_" && types.Identical(other.Type(), used.Type()) {
				all = append(all, replaced(id, name, around(id, stack)))
			}
		}
	}
	return all
}

// IsError reports whether a type is error.
func IsError(t types.Type) bool { return t != nil && t.String() == "error" }

// index takes the first of several whatever was asked for: the first stream above all.
func index(c *Code, n ast.Node, stack []ast.Node) []Change {
	x, ok := n.(*ast.IndexExpr)
	if !ok || c.Info.Types[x.X].IsType() {
		return nil
	}
	return []Change{replaced(x.Index, "0", x)}
}

func sliceBound(c *Code, n ast.Node, _ []ast.Node) []Change {
	s, ok := n.(*ast.SliceExpr)
	if !ok {
		return nil
	}
	var all []Change
	for _, bound := range []ast.Expr{s.Low, s.High} {
		if bound != nil {
			all = append(all, replaced(bound, c.Text(bound)+"+1", s), replaced(bound, c.Text(bound)+"-1", s))
		}
	}
	return all
}
