package ptx

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// values are those of a list of expressions, each in a register that no later assignment changes. One call may have
// several.
func (t *translator) values(list []ast.Expr) (all []register) {
	if len(list) == 1 {
		if e, ok := ast.Unparen(list[0]).(*ast.CallExpr); ok {
			if tuple, ok := t.info.Types[e].Type.(*types.Tuple); ok && tuple.Len() != 1 {
				return t.called(e)
			}
		}
	}
	for _, e := range list {
		all = append(all, t.do("mov.b64", t.value(e)))
	}
	return all
}

// value is where an expression's value is when it has been reckoned.
func (t *translator) value(e ast.Expr) register {
	tv := t.info.Types[e]
	if tv.Value != nil {
		return t.constant(e, tv)
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return t.value(e.X)
	case *ast.Ident:
		return t.named(e)
	case *ast.UnaryExpr:
		return t.unary(e)
	case *ast.BinaryExpr:
		return t.binary(e)
	case *ast.CallExpr:
		return t.single(e)
	case *ast.FuncLit:
		t.refuse(e, "Call it where it stands.", "a closure that is kept or handed on")
	case *ast.SelectorExpr:
		if of := t.info.Types[e.X]; of.IsValue() && t.kind(e.X, of.Type) == word {
			t.refuse(e, "Call it where it stands.", "a method that is kept or handed on")
		}
		t.refuse(e, "", "%s, from another package", types.ExprString(e))
	case *ast.StarExpr:
		t.refuse(e, "Answer the value, and assign it where you call.", "a pointer")
	case *ast.TypeAssertExpr:
		t.refuse(e, "Use the operations of the word alone.", "a type assertion")
	case *ast.IndexExpr, *ast.SliceExpr:
		t.refuse(e, "A thread has numbers alone: do without the list.", "an element of a list")
	case *ast.CompositeLit:
		t.kind(e, tv.Type)
	}
	t.refuse(e, "", "%s", types.ExprString(e))
	panic("unreachable")
}

func (t *translator) constant(e ast.Expr, tv types.TypeAndValue) register {
	k := t.kind(e, tv.Type)
	if k == boolean {
		if constant.BoolVal(tv.Value) {
			return t.do("mov.u64", 1)
		}
		return t.do("mov.u64", 0)
	}
	v := constant.ToInt(tv.Value)
	if n, exact := constant.Int64Val(v); exact {
		return t.do("mov.u64", uint64(n))
	}
	n, exact := constant.Uint64Val(v)
	if !exact {
		t.refuse(e, "Give it a type of at most 64 bits.", "a number of more than 64 bits")
	}
	return t.do("mov.u64", n)
}

// named is the value of a variable.
func (t *translator) named(e *ast.Ident) register {
	object := t.info.Uses[e]
	v, ok := object.(*types.Var)
	if !ok {
		if _, isFunction := object.(*types.Func); isFunction {
			t.refuse(e, "Call it where it stands.", "a function that is kept or handed on")
		}
		t.refuse(e, "", "%s", e.Name)
	}
	t.kind(e, v.Type()) // first, so that a closure's variable is told as that
	if v.Parent() == v.Pkg().Scope() {
		t.refuse(e, "If it never changes, make it a const; else it belongs among the parameters.",
			"%s, a variable of the package, which threads of a GPU do not share with the host", e.Name)
	}
	return t.variable(v)
}

func (t *translator) unary(e *ast.UnaryExpr) register {
	if e.Op == token.AND {
		t.refuse(e, "Answer the value, and assign it where you call.", "an address")
	}
	x := t.value(e.X)
	k := t.kind(e, t.info.Types[e].Type)
	switch e.Op {
	case token.NOT:
		return t.do("xor.b64", x, 1)
	case token.SUB:
		return t.wrapped(t.do("neg.s64", x), k)
	case token.XOR:
		return t.wrapped(t.do("not.b64", x), k)
	case token.ADD:
		return x
	}
	t.refuse(e, "", "the operator %s", e.Op)
	panic("unreachable")
}

var comparisons = map[token.Token]string{token.EQL: "eq", token.NEQ: "ne", token.LSS: "lt", token.LEQ: "le",
	token.GTR: "gt", token.GEQ: "ge"}

func (t *translator) binary(e *ast.BinaryExpr) register {
	if e.Op == token.LAND || e.Op == token.LOR {
		return t.shortCircuit(e)
	}
	if comparison, ok := comparisons[e.Op]; ok {
		k := t.compared(e)
		x, y := t.value(e.X), t.value(e.Y)
		return t.do("selp.b64", 1, 0, t.test(comparison+"."+k.suffix(), x, y))
	}
	x, y := t.value(e.X), t.value(e.Y)
	return t.operated(e, e.Op, t.kind(e, t.info.Types[e].Type), x, y, e.Y)
}

// compared is the kind that two sides of a comparison have.
func (t *translator) compared(e *ast.BinaryExpr) kind {
	of := t.info.Types[e.X]
	if of.Value != nil {
		of = t.info.Types[e.Y] // an untyped constant takes the other's
	}
	k := t.kind(e.X, of.Type)
	if k == word {
		t.refuse(e, "Compare what Load answers.", "a comparison of words, not of what is in them")
	}
	return k
}

func (t *translator) shortCircuit(e *ast.BinaryExpr) register {
	result, end := t.fresh(), t.newLabel()
	t.emit("mov.b64 %s, %s", result, t.value(e.X))
	decided := 0
	if e.Op == token.LOR {
		decided = 1
	}
	t.jumpIf(t.test("eq.u64", result, decided), end)
	t.emit("mov.b64 %s, %s", result, t.value(e.Y))
	t.label(end)
	return result
}

var operations = map[token.Token]string{token.ADD: "add.u64", token.SUB: "sub.u64", token.MUL: "mul.lo.u64",
	token.AND: "and.b64", token.OR: "or.b64", token.XOR: "xor.b64"}

// operated is what an operator makes of two values of a kind, of which right is the second.
func (t *translator) operated(at ast.Node, op token.Token, k kind, x, y register, right ast.Expr) register {
	switch op {
	case token.QUO, token.REM:
		return t.divided(op, k, x, y)
	case token.SHL, token.SHR:
		return t.shifted(op, k, x, y, t.kind(right, t.info.Types[right].Type))
	case token.AND_NOT:
		return t.do("and.b64", x, t.do("not.b64", y))
	}
	instruction, ok := operations[op]
	if !ok {
		t.refuse(at, "", "the operator %s", op)
	}
	return t.wrapped(t.do(instruction, x, y), k)
}

// divided is a quotient or a remainder. The least number divided by -1 wraps around in Go, and is not defined in PTX.
func (t *translator) divided(op token.Token, k kind, x, y register) register {
	t.endIf(t.test("eq.u64", y, 0), DividedByZero)
	instruction := map[token.Token]string{token.QUO: "div.", token.REM: "rem."}[op] + k.suffix()
	if !k.signed {
		return t.do(instruction, x, y)
	}
	minusOne := t.test("eq.s64", y, -1)
	plain := t.do(instruction, x, t.do("selp.b64", 1, y, minusOne))
	if op == token.REM {
		return plain // of 1 as of -1 it is 0
	}
	return t.wrapped(t.do("selp.b64", t.do("neg.s64", x), plain, minusOne), k)
}

// shifted is a shift by any number of bits. PTX takes it in 32 bits, and has no more than 64 count.
func (t *translator) shifted(op token.Token, k kind, x, by register, of kind) register {
	if of.signed {
		t.endIf(t.test("lt.s64", by, 0), ShiftedByNegative)
	}
	t.used.b32++
	bits := register("%r" + constant.MakeInt64(int64(t.used.b32)).String())
	t.emit("cvt.u32.u64 %s, %s", bits, t.do("min.u64", by, 64))
	if op == token.SHR {
		return t.do("shr."+k.suffix(), x, bits)
	}
	return t.wrapped(t.do("shl.b64", x, bits), k)
}

// single is a call with one result, or a conversion.
func (t *translator) single(e *ast.CallExpr) register {
	if t.info.Types[e.Fun].IsType() {
		value := t.value(e.Args[0])
		t.kind(e.Args[0], t.info.Types[e.Args[0]].Type)
		return t.wrapped(value, t.kind(e, t.info.Types[e.Fun].Type))
	}
	if t.info.Types[e.Fun].IsBuiltin() {
		name := ast.Unparen(e.Fun).(*ast.Ident).Name
		if name != "min" && name != "max" {
			t.refuse(e, "", "%s", name)
		}
		k := t.kind(e, t.info.Types[e].Type)
		result := t.value(e.Args[0])
		for _, other := range e.Args[1:] {
			result = t.do(name+"."+k.suffix(), result, t.value(other))
		}
		return result
	}
	results := t.called(e)
	if len(results) != 1 {
		t.refuse(e, "", "a call with %d results", len(results))
	}
	return results[0]
}
