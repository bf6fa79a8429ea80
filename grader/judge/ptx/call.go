package ptx

import (
	"go/ast"
	"go/types"
	"slices"
)

// An activation is a call while it is written out.
type activation struct {
	name    string
	object  types.Object // of a function; nil for a closure
	body    *ast.BlockStmt
	begin   string // where a call of itself as the last thing goes on
	end     string // where it has returned
	takes   []types.Object
	answers []register
	named   []types.Object // results that have names
	targets []target
}

// target is where break and continue go, of a statement that has a label or none.
type target struct{ label, onBreak, onContinue string }

func (t *translator) functionCall(f *ast.FuncDecl, signature *types.Signature) *activation {
	a := t.call(f.Name.Name, t.parameters(f.Recv, f.Type), f.Body, signature)
	a.object = t.info.Defs[f.Name]
	return a
}

func (t *translator) call(name string, takes []types.Object, body *ast.BlockStmt,
	signature *types.Signature) *activation {
	a := &activation{name: name, body: body, begin: t.newLabel(), end: t.newLabel(), takes: takes}
	for i := range signature.Results().Len() {
		result := signature.Results().At(i)
		a.answers = append(a.answers, t.fresh())
		if result.Name() != "" {
			a.named = append(a.named, result)
		}
	}
	return a
}

// parameters are a function's, the receiver first; one that has no name is nil.
func (t *translator) parameters(receiver *ast.FieldList, of *ast.FuncType) (all []types.Object) {
	var fields []*ast.Field
	if receiver != nil {
		fields = receiver.List
	}
	for _, field := range slices.Concat(fields, of.Params.List) {
		for _, name := range field.Names {
			all = append(all, t.info.Defs[name])
		}
		if len(field.Names) == 0 {
			all = append(all, nil)
		}
	}
	return all
}

// writeOut writes a call whose parameters have their values, and answers its results.
func (t *translator) writeOut(a *activation) []register {
	t.calls = append(t.calls, a)
	if t.text.Len() > maxText {
		t.refuse(a.body, "Call fewer functions.", "code that is too long once all calls are written out")
	}
	t.label(a.begin)
	for _, result := range a.named {
		t.kind(a.body, result.Type())
		t.emit("mov.u64 %s, 0", t.variable(result))
	}
	t.block(a.body)
	t.label(a.end)
	t.calls = t.calls[:len(t.calls)-1]
	return a.answers
}

// called writes out what a call expression calls, and answers its results.
func (t *translator) called(e *ast.CallExpr) []register {
	callee := ast.Unparen(e.Fun)
	if literal, ok := callee.(*ast.FuncLit); ok {
		return t.closure(e, literal)
	}
	name, ok := callee.(*ast.Ident)
	if selector, isSelector := callee.(*ast.SelectorExpr); isSelector {
		if answer, isWord := t.onWord(e, selector); isWord {
			return answer
		}
		name, ok = selector.Sel, true
	}
	if !ok {
		t.refuse(e, "Call functions of this package by their names.", "a call of something that has no name")
	}
	object := t.info.Uses[name]
	if literal, ok := t.literals[object]; ok {
		return t.closure(e, literal)
	}
	if f, ok := object.(*types.Func); ok {
		object = f.Origin()
	}
	f, ok := t.functions[object]
	if !ok {
		t.refuse(e, "Do it with integers in a function of this package.", "%s, which is no function of this package",
			types.ExprString(callee))
	}
	signature := object.Type().(*types.Signature)
	if signature.TypeParams().Len() > 0 || signature.RecvTypeParams().Len() > 0 {
		t.refuse(e, "Write it for the type that you need.", "%s, a generic function", name.Name)
	}
	args := e.Args
	if selector, ok := callee.(*ast.SelectorExpr); ok && f.Recv != nil {
		if t.info.Types[selector.X].IsType() {
			t.refuse(e, "", "a method that is called as a function")
		}
		args = slices.Concat([]ast.Expr{selector.X}, args)
	}
	if signature.Variadic() {
		t.refuse(e, "Give it as many parameters as it has.", "%s, which takes any number of arguments", name.Name)
	}
	if slices.ContainsFunc(t.calls, func(a *activation) bool { return a.object == object }) {
		t.refuse(e, "Make it a loop.", "%s, which calls itself", name.Name)
	}
	a := t.functionCall(f, signature)
	t.pass(e, args, a.takes)
	return t.writeOut(a)
}

// closure writes out a call of a function literal.
func (t *translator) closure(e *ast.CallExpr, literal *ast.FuncLit) []register {
	if slices.ContainsFunc(t.calls, func(a *activation) bool { return a.body == literal.Body }) {
		t.refuse(e, "Make it a loop.", "a closure that calls itself")
	}
	signature := t.info.Types[literal].Type.(*types.Signature)
	if signature.Variadic() {
		t.refuse(e, "Give it as many parameters as it has.", "a closure that takes any number of arguments")
	}
	a := t.call(t.calls[len(t.calls)-1].name, t.parameters(nil, literal.Type), literal.Body, signature)
	t.pass(e, e.Args, a.takes)
	return t.writeOut(a)
}

// pass gives parameters their values, all of which are known before the first is given.
func (t *translator) pass(e *ast.CallExpr, args []ast.Expr, takes []types.Object) {
	values := t.values(args)
	if len(values) != len(takes) {
		t.refuse(e, "", "a call with another number of arguments")
	}
	for i, p := range takes {
		if p == nil {
			continue
		}
		t.kind(e, p.Type())
		t.emit("mov.b64 %s, %s", t.variable(p), values[i])
	}
}

// last writes a call of the innermost function by itself that is the last thing it does: a jump to its beginning.
func (t *translator) last(results []ast.Expr) bool {
	if len(results) != 1 {
		return false
	}
	e, ok := ast.Unparen(results[0]).(*ast.CallExpr)
	if !ok {
		return false
	}
	a := t.calls[len(t.calls)-1]
	var args []ast.Expr
	switch callee := ast.Unparen(e.Fun).(type) {
	case *ast.Ident:
		if a.object == nil || t.info.Uses[callee] != a.object {
			return false
		}
	case *ast.SelectorExpr:
		if a.object == nil || t.info.Uses[callee.Sel] != a.object {
			return false
		}
		args = []ast.Expr{callee.X}
	default:
		return false
	}
	t.pass(e, slices.Concat(args, e.Args), a.takes)
	t.back(a.begin)
	return true
}

// onWord writes out one of a word's operations.
func (t *translator) onWord(e *ast.CallExpr, selector *ast.SelectorExpr) ([]register, bool) {
	of := t.info.Types[selector.X]
	if !of.IsValue() || t.kind(selector.X, of.Type) != word {
		return nil, false
	}
	address := t.value(selector.X)
	args := t.values(e.Args)
	switch selector.Sel.Name {
	case "Load":
		return []register{t.do("ld.volatile.u64", "["+address+"]")}, true
	case "Add":
		return []register{t.do("atom.add.u64", "["+address+"]", args[0])}, true
	}
	return []register{t.do("atom.cas.b64", "["+address+"]", args[0], args[1])}, true
}
