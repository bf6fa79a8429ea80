package ptx

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"cudalab/grader/judge/visible"
)

func (t *translator) block(b *ast.BlockStmt) { t.statements(b.List) }

func (t *translator) statements(list []ast.Stmt) {
	for _, s := range list {
		t.explain(s)
		t.statement(s, "")
	}
}

// explain writes the line that a statement begins in, where that is asked for.
func (t *translator) explain(s ast.Stmt) {
	if at := t.set.Position(s.Pos()); t.explained {
		lines := bytes.Split(t.files[at.Filename], []byte("\n"))
		fmt.Fprintf(&t.text, "\t// %d: %s\n", at.Line, visible.Line(strings.TrimSpace(string(lines[at.Line-1]))))
	}
}

// statement writes a statement out. label is its own, for break and continue.
func (t *translator) statement(s ast.Stmt, label string) {
	switch s := s.(type) {
	case *ast.BlockStmt:
		t.block(s)
	case *ast.ExprStmt:
		t.callStatement(s)
	case *ast.DeclStmt:
		t.declare(s.Decl.(*ast.GenDecl))
	case *ast.AssignStmt:
		t.assign(s)
	case *ast.IncDecStmt:
		op := map[token.Token]token.Token{token.INC: token.ADD, token.DEC: token.SUB}[s.Tok]
		k := t.kind(s, t.info.Types[s.X].Type)
		t.store(s.X, t.operated(s, op, k, t.value(s.X), t.do("mov.u64", 1), s.X))
	case *ast.IfStmt:
		t.branch(s)
	case *ast.ForStmt:
		t.loop(s, label)
	case *ast.RangeStmt:
		t.count(s, label)
	case *ast.SwitchStmt:
		t.choose(s, label)
	case *ast.ReturnStmt:
		t.giveBack(s)
	case *ast.BranchStmt:
		t.leave(s)
	case *ast.LabeledStmt:
		t.statement(s.Stmt, s.Label.Name)
	case *ast.EmptyStmt:
	case *ast.DeferStmt:
		t.refuse(s, "Call it where it is due.", "defer")
	case *ast.GoStmt:
		t.refuse(s, "", "go: a thread starts no other")
	case *ast.SelectStmt, *ast.SendStmt:
		t.refuse(s, "", "a channel")
	default:
		t.refuse(s, "", "a statement that threads do not have")
	}
}

// callStatement is a call whose results nobody wants.
func (t *translator) callStatement(s *ast.ExprStmt) {
	e, ok := ast.Unparen(s.X).(*ast.CallExpr)
	if !ok {
		t.refuse(s, "", "an expression by itself")
	}
	if t.info.Types[e.Fun].IsBuiltin() {
		if ast.Unparen(e.Fun).(*ast.Ident).Name != "panic" {
			t.refuse(e, "", "%s", types.ExprString(e.Fun))
		}
		t.emit("mov.u64 status, %d", Panicked)
		t.jump("end")
		return
	}
	t.called(e)
}

func (t *translator) declare(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		spec, ok := spec.(*ast.ValueSpec)
		if !ok || d.Tok == token.CONST {
			continue // types and constants are known where they are used
		}
		var names []ast.Expr
		for _, name := range spec.Names {
			names = append(names, name)
		}
		if t.keepsClosure(names, spec.Values) {
			continue
		}
		values := t.values(spec.Values)
		for i, name := range spec.Names {
			if v := t.info.Defs[name]; len(values) > 0 {
				t.store(name, values[i])
			} else if v != nil {
				if t.kind(name, v.Type()) == word {
					t.refuse(name, "Use the word that is a parameter.", "a word that is nil")
				}
				t.emit("mov.u64 %s, 0", t.variable(v))
			}
		}
	}
}

func (t *translator) assign(s *ast.AssignStmt) {
	switch s.Tok {
	case token.DEFINE:
		if t.keepsClosure(s.Lhs, s.Rhs) {
			return
		}
		fallthrough
	case token.ASSIGN:
		for i, value := range t.values(s.Rhs) {
			t.store(s.Lhs[i], value)
		}
	default: // +=, <<=, …
		op := s.Tok - token.ADD_ASSIGN + token.ADD
		k := t.kind(s.Lhs[0], t.info.Types[s.Lhs[0]].Type)
		x, y := t.value(s.Lhs[0]), t.value(s.Rhs[0])
		t.store(s.Lhs[0], t.operated(s, op, k, x, y, s.Rhs[0]))
	}
}

// keepsClosure tells whether variables are declared with closures, which are written out where they are called. That is
// the same as long as none is assigned to later, which is refused where it stands.
func (t *translator) keepsClosure(names, values []ast.Expr) bool {
	if len(names) != 1 || len(values) != 1 {
		return false
	}
	literal, ok := ast.Unparen(values[0]).(*ast.FuncLit)
	name, isName := names[0].(*ast.Ident)
	if !ok || !isName || t.info.Defs[name] == nil {
		return false
	}
	t.literals[t.info.Defs[name]] = literal
	return true
}

// store assigns to a variable.
func (t *translator) store(to ast.Expr, value register) {
	name, ok := ast.Unparen(to).(*ast.Ident)
	if !ok {
		t.value(to) // which says what it is
		return
	}
	if name.Name == "_" {
		return
	}
	v := t.info.Defs[name]
	if v == nil {
		t.named(name)
		v = t.info.Uses[name]
	}
	t.kind(name, v.Type())
	t.emit("mov.b64 %s, %s", t.variable(v), value)
}

func (t *translator) branch(s *ast.IfStmt) {
	if s.Init != nil {
		t.statement(s.Init, "")
	}
	otherwise, end := t.newLabel(), t.newLabel()
	t.unless(s.Cond, otherwise)
	t.block(s.Body)
	t.jump(end)
	t.label(otherwise)
	if s.Else != nil {
		t.statement(s.Else, "")
	}
	t.label(end)
}

// unless jumps to a label where a condition does not hold.
func (t *translator) unless(condition ast.Expr, label string) {
	t.jumpIf(t.test("eq.u64", t.value(condition), 0), label)
}

func (t *translator) loop(s *ast.ForStmt, label string) {
	if s.Init != nil {
		t.statement(s.Init, "")
	}
	begin, next, end := t.newLabel(), t.newLabel(), t.newLabel()
	t.label(begin)
	if s.Cond != nil {
		t.unless(s.Cond, end)
	}
	t.within(target{label, end, next}, s.Body)
	t.label(next)
	if s.Post != nil {
		t.statement(s.Post, "")
	}
	t.back(begin)
	t.label(end)
}

// count is a loop over the numbers below one.
func (t *translator) count(s *ast.RangeStmt, label string) {
	k := t.kind(s.X, t.info.Types[s.X].Type)
	if k == boolean || k == word {
		t.refuse(s.X, "", "a range over what is no number")
	}
	n, i := t.values([]ast.Expr{s.X})[0], t.do("mov.u64", 0)
	begin, next, end := t.newLabel(), t.newLabel(), t.newLabel()
	t.label(begin)
	t.jumpIf(t.test("ge."+k.suffix(), i, n), end)
	if s.Key != nil {
		t.store(s.Key, i)
	}
	t.within(target{label, end, next}, s.Body)
	t.label(next)
	t.emit("add.u64 %s, %s, 1", i, i)
	t.back(begin)
	t.label(end)
}

// within writes a body in which break and continue have a target.
func (t *translator) within(to target, body *ast.BlockStmt) {
	a := t.calls[len(t.calls)-1]
	a.targets = append(a.targets, to)
	t.block(body)
	a.targets = a.targets[:len(a.targets)-1]
}

// choose is a switch: the first case that holds, else the default.
func (t *translator) choose(s *ast.SwitchStmt, label string) {
	if s.Init != nil {
		t.statement(s.Init, "")
	}
	var tag register
	k := boolean
	if s.Tag != nil {
		k = t.kind(s.Tag, t.info.Types[s.Tag].Type)
		tag = t.values([]ast.Expr{s.Tag})[0]
	}
	end := t.newLabel()
	otherwise := end
	var bodies []string
	for _, c := range s.Body.List {
		c := c.(*ast.CaseClause)
		body := t.newLabel()
		bodies = append(bodies, body)
		if c.List == nil {
			otherwise = body
		}
		for _, e := range c.List {
			value := t.value(e)
			if s.Tag == nil {
				t.jumpIf(t.test("ne.u64", value, 0), body)
			} else {
				t.jumpIf(t.test("eq."+k.suffix(), value, tag), body)
			}
		}
	}
	t.jump(otherwise)
	for i, c := range s.Body.List {
		t.label(bodies[i])
		list := c.(*ast.CaseClause).Body
		goesOn := false
		if n := len(list); n > 0 {
			last, ok := list[n-1].(*ast.BranchStmt)
			goesOn = ok && last.Tok == token.FALLTHROUGH
		}
		if goesOn {
			list = list[:len(list)-1]
		}
		t.within(target{label, end, ""}, &ast.BlockStmt{List: list})
		if !goesOn {
			t.jump(end)
		}
	}
	t.label(end)
}

// leave is a break or a continue.
func (t *translator) leave(s *ast.BranchStmt) {
	a := t.calls[len(t.calls)-1]
	for i := len(a.targets) - 1; i >= 0; i-- {
		to := a.targets[i]
		if s.Label != nil && to.label != s.Label.Name {
			continue
		}
		switch {
		case s.Tok == token.BREAK:
			t.jump(to.onBreak)
			return
		case s.Tok == token.CONTINUE && to.onContinue != "":
			t.jump(to.onContinue)
			return
		}
	}
	t.refuse(s, "Use a loop.", "%s", s.Tok)
}

// giveBack ends the innermost call with its results.
func (t *translator) giveBack(s *ast.ReturnStmt) {
	a := t.calls[len(t.calls)-1]
	if t.last(s.Results) {
		return
	}
	answers := make([]register, 0, len(a.answers))
	if len(s.Results) == 0 {
		for _, result := range a.named {
			answers = append(answers, t.variable(result))
		}
	} else {
		answers = t.values(s.Results)
	}
	for i, answer := range answers {
		t.emit("mov.b64 %s, %s", a.answers[i], answer)
	}
	t.jump(a.end)
}
