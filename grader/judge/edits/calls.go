package edits

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// The operators that change what is handed to a function, and which error comes of it.
var callOperators = []Operator{
	{"swap of arguments", swapArguments},
	{"default stream", defaultStream},
	{"wrong sentinel", wrongSentinel},
	{"unwrapped error", unwrapped},
	{"error left out", leftOut},
	{"field left out", withoutField},
}

// swapArguments changes the places of two arguments of one type.
func swapArguments(c *Code, n ast.Node, _ []ast.Node) []Change {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return nil
	}
	signature, ok := c.TypeOf(call.Fun).(*types.Signature)
	if !ok || signature.Variadic() || c.Info.Types[call.Fun].IsBuiltin() {
		return nil
	}
	var all []Change
	for i, first := range call.Args {
		for j := i + 1; j < len(call.Args); j++ {
			second := call.Args[j]
			if !types.Identical(signature.Params().At(i).Type(), signature.Params().At(j).Type()) {
				continue
			}
			text := c.Text(second) + c.TextBetween(first.End(), second.Pos()) + c.Text(first)
			all = append(all, Change{first.Pos(), second.End(), text, call})
		}
	}
	return all
}

// defaultStream hands over the legacy default stream.
func defaultStream(c *Code, n ast.Node, _ []ast.Node) []Change {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return nil
	}
	var all []Change
	for _, argument := range call.Args {
		if t := c.TypeOf(argument); t != nil && strings.HasSuffix(t.String(), "native/cuda.Stream") {
			all = append(all, replaced(argument, "cuda.Stream{}", call))
		}
	}
	return all
}

// wrongSentinel answers another of the contract's errors: the next one by name.
func wrongSentinel(c *Code, n ast.Node, stack []ast.Node) []Change {
	s, ok := n.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	used, ok := c.Info.Uses[s.Sel].(*types.Var)
	if !ok || used.IsField() || !IsError(used.Type()) {
		return nil
	}
	var errors []string
	for _, name := range used.Pkg().Scope().Names() {
		if v, ok := used.Pkg().Scope().Lookup(name).(*types.Var); ok && IsError(v.Type()) {
			errors = append(errors, name)
		}
	}
	next := errors[(slices.Index(errors, used.Name())+1)%len(errors)]
	return []Change{replaced(s.Sel, next, around(s, stack))}
}

// unwrapped puts an error's words into another error, but not the error itself.
func unwrapped(_ *Code, n ast.Node, stack []ast.Node) []Change {
	text, ok := n.(*ast.BasicLit)
	if !ok || text.Kind != token.STRING || !strings.Contains(text.Value, "%w") {
		return nil
	}
	return []Change{replaced(text, strings.Replace(text.Value, "%w", "%v", 1), around(text, stack))}
}

// leftOut drops one of the errors that are joined, and with it the call that would have made it.
func leftOut(c *Code, n ast.Node, _ []ast.Node) []Change {
	call, ok := n.(*ast.CallExpr)
	if !ok || c.Text(call.Fun) != "errors.Join" {
		return nil
	}
	var all []Change
	for i := range call.Args {
		all = append(all, without(call.Args, i, call))
	}
	return all
}

// withoutField leaves a field of a literal at its zero value.
func withoutField(c *Code, n ast.Node, _ []ast.Node) []Change {
	literal, ok := n.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	var all []Change
	for i, e := range literal.Elts {
		if field, ok := e.(*ast.KeyValueExpr); ok {
			ch := without(literal.Elts, i, literal)
			ch.Shown = field
			all = append(all, ch)
		}
	}
	return all
}

// without drops one of several expressions, and the comma that goes with it.
func without(list []ast.Expr, i int, shown ast.Node) Change {
	switch {
	case i+1 < len(list):
		return Change{list[i].Pos(), list[i+1].Pos(), "", shown}
	case i > 0:
		return Change{list[i-1].End(), list[i].End(), "", shown}
	}
	return Change{list[i].Pos(), list[i].End(), "", shown}
}
