package mend

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"cudalab/grader/judge/edits"
)

// What a template changes in what stands there: its place, its arguments, its bounds, what is handed on.

// joined hand on one more error, of giving something back.
func joined(f *function, n ast.Node, stack []ast.Node) (all []edits.Change) {
	r, ok := n.(*ast.ReturnStmt)
	if !ok || len(r.Results) == 0 {
		return nil
	}
	last := r.Results[len(r.Results)-1]
	if !edits.IsError(f.TypeOf(last)) {
		return nil
	}
	text := f.Text(last)
	for _, call := range undone(f, r.Pos()) {
		switch x := last.(type) {
		case *ast.CallExpr:
			if f.Text(x.Fun) == "errors.Join" && !strings.Contains(text, call) {
				for _, at := range []token.Pos{x.Args[0].End(), x.Args[len(x.Args)-1].End()} {
					all = append(all, edits.Change{From: at, To: at, Text: ", " + call, Shown: r})
				}
			}
		case *ast.Ident:
			if x.Name != "nil" {
				both := "errors.Join(" + text + ", " + call + ")"
				all = append(all, edits.Change{From: x.Pos(), To: x.End(), Text: both, Shown: r})
			}
		}
	}
	return all
}

// deferred do at the end what is done at once.
func deferred(f *function, n ast.Node, stack []ast.Node) []edits.Change {
	s, ok := n.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	if _, call := s.X.(*ast.CallExpr); !call {
		return nil
	}
	return []edits.Change{{From: s.Pos(), To: s.Pos(), Text: "defer ", Shown: s}}
}

// bounded take no more, or no less, than another number of the same type, or than one that the solution has for that.
func bounded(f *function, n ast.Node, limits []string) (all []edits.Change) {
	a, ok := n.(*ast.AssignStmt)
	if !ok {
		return nil
	}
	for _, e := range a.Rhs {
		t := f.TypeOf(e)
		if t == nil || !isInteger(t) {
			continue
		}
		others := slices.Clone(limits)
		for _, v := range visible(f.Types.Scope().Innermost(a.Pos()), f.Types, a.Pos()) {
			if types.Identical(v.Type(), t) && v.Name() != f.Text(e) {
				others = append(others, v.Name())
			}
		}
		for _, other := range others {
			for _, fn := range []string{"min", "max"} {
				text := fmt.Sprintf("%s(%s, %s)", fn, f.Text(e), other)
				all = append(all, edits.Change{From: e.Pos(), To: e.End(), Text: text, Shown: a})
			}
		}
	}
	return all
}

// limitsOf are the constants that the solution takes the least or the greatest of something and.
func limitsOf(solution []*function) (all []string) {
	for _, f := range solution {
		inspect(f.decl.Body, func(n ast.Node, _ []ast.Node) {
			call, ok := n.(*ast.CallExpr)
			if !ok || f.Text(call.Fun) != "min" && f.Text(call.Fun) != "max" {
				return
			}
			for _, a := range call.Args {
				if v := f.Info.Types[a].Value; v != nil && !slices.Contains(all, v.ExactString()) {
					all = append(all, v.ExactString())
				}
			}
		})
	}
	return all
}

func isInteger(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// move is a statement that is taken out of one place and put into another, by so many statements.
type move struct {
	by      int
	changes [2]edits.Change
}

// moves carry a statement out earlier or later in its block, or behind the block that it ends.
func moves(f *function, n ast.Node) (all []move) {
	block, ok := n.(*ast.BlockStmt)
	if !ok {
		return nil
	}
	for i, s := range block.List {
		if _, leaves := s.(*ast.ReturnStmt); leaves {
			continue
		}
		add := func(by int, of ast.Stmt, at token.Pos, text string) {
			gone := edits.Change{From: of.Pos(), To: of.End(), Shown: of}
			all = append(all, move{by, [2]edits.Change{gone, {From: at, To: at, Text: text, Shown: of}}})
		}
		for j := range i {
			add(i-j, s, block.List[j].Pos(), f.Text(s)+"\n")
		}
		for j := i + 1; j < len(block.List); j++ {
			if _, leaves := block.List[j].(*ast.ReturnStmt); !leaves {
				add(j-i, s, block.List[j].End(), "\n"+f.Text(s))
			}
		}
		if question, ok := s.(*ast.IfStmt); ok && question.Else == nil && len(question.Body.List) > 1 {
			last := question.Body.List[len(question.Body.List)-1]
			add(1, last, question.End(), "\n"+f.Text(last))
		}
	}
	return all
}

// assigning are the tokens that a statement may have in the place of another; the operators have the others.
var assigning = map[token.Token][]string{
	token.OR_ASSIGN: {"&^=", "&="}, token.AND_ASSIGN: {"|=", "&^="}, token.AND_NOT_ASSIGN: {"|=", "&="},
	token.ASSIGN:     {"+=", "-="},
	token.SUB_ASSIGN: {"+="}, token.ADD_ASSIGN: {"-="},
}

// otherwise assign in another way.
func otherwise(f *function, n ast.Node) (all []edits.Change) {
	if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 {
		for _, tok := range assigning[a.Tok] {
			all = append(all, edits.Change{From: a.TokPos, To: a.TokPos + token.Pos(len(a.Tok.String())), Text: tok, Shown: a})
		}
	}
	return all
}

// scales are what counts and sizes are most often times too much or too little.
var scales = []string{"4", "8"}

// given are other arguments of calls of CUDA's, of kernels and of their memory: variables of the same type, and
// numbers that are counted in other units.
func given(f *function, n ast.Node) (all []edits.Change) {
	call, ok := n.(*ast.CallExpr)
	if !ok || !f.imported(call.Fun) {
		return nil
	}
	for _, a := range call.Args {
		put := func(text string) {
			all = append(all, edits.Change{From: a.Pos(), To: a.End(), Text: text, Shown: call})
		}
		t := f.TypeOf(a)
		if n, isNumber := writtenOut(a); isNumber && n > 0 {
			for _, other := range []int64{2 * n, 4 * n, 8 * n, n / 2, n / 4} {
				if other > 0 {
					put(strconv.FormatInt(other, 10))
				}
			}
		}
		if _, name := a.(*ast.Ident); !name && t != nil && f.Info.Types[a].Value == nil {
			for _, v := range visible(f.Types.Scope().Innermost(a.Pos()), f.Types, a.Pos()) {
				if types.Identical(v.Type(), t) {
					put(v.Name())
				}
			}
		}
		if t == nil || !isInteger(t) || f.Info.Types[a].Value != nil {
			continue
		}
		for _, by := range scales {
			put("(" + f.Text(a) + ")*" + by)
		}
		if b, ok := a.(*ast.BinaryExpr); ok && b.Op == token.MUL {
			put(f.Text(b.X))
			put(f.Text(b.Y))
		}
	}
	return all
}

// writtenOut is a number as it stands in the code.
func writtenOut(e ast.Expr) (n int64, ok bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.INT {
		return 0, false
	}
	n, err := strconv.ParseInt(l.Value, 0, 64)
	return n, err == nil && n < 1<<56
}

// imported reports whether a function is one of the course's packages, or a method of theirs.
func (f *function) imported(fun ast.Expr) bool {
	s, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	o := f.Info.Uses[s.Sel]
	_, isFunc := o.(*types.Func)
	return isFunc && o.Pkg() != f.Types && strings.HasPrefix(o.Pkg().Path(), "cudalab/")
}

// guards answer an error for what nobody can work with.
func guards(f *function) (all []edits.Change) {
	leave := leaves(f)
	if !f.decl.Name.IsExported() || leave == "" || len(f.decl.Body.List) == 0 {
		return nil
	}
	var conditions []string
	for v := range f.Info.Defs[f.decl.Name].(*types.Func).Signature().Params().Variables() {
		switch t := v.Type().Underlying().(type) {
		case *types.Slice:
			conditions = append(conditions, fmt.Sprintf("len(%s) == 0", v.Name()))
		case *types.Basic:
			if t.Info()&types.IsInteger != 0 {
				conditions = append(conditions, v.Name()+" < 1", v.Name()+" < 0")
			}
		case *types.Signature, *types.Interface, *types.Pointer:
			conditions = append(conditions, v.Name()+" == nil")
		}
	}
	at := f.decl.Body.List[0].Pos()
	for _, c := range conditions {
		for _, sentinel := range []string{"contract.ErrArgument", "contract.ErrSize"} {
			text := fmt.Sprintf("if %s {\n%s\n}\n", c, strings.TrimSuffix(leave, "err")+sentinel)
			all = append(all, edits.Change{From: at, To: at, Text: text, Shown: f.decl.Body.List[0]})
		}
	}
	return all
}
