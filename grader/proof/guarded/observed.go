package guarded

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
)

// function is an exported function or method: an input comes in there.
type function struct {
	index    int    // from 1 on
	name     string // "New", "Pool.Alloc"
	node     *ast.FuncDecl
	of       string     // the type that it is a method of
	makes    string     // the type of which it answers an instance
	observed []observed // what a predicate can be of
	numbers  int        // the first so many are what a shape is made of
}

// observed is something that can be known when a function is called, as a number.
type observed struct {
	name       string // "n", "len(slots)", "producer == consumer"
	expression string // of type int64; the parameters are p0, p1 and so on, the receiver r_
	kind       observedKind
	bits       int // how many bits the number may have
}

type observedKind int

const (
	number observedKind = iota // a number, or a length
	truth                      // 1 or 0
	call                       // which call of the function it is, from 1 on
	failed                     // how many calls have answered an error before
	shape                      // all numbers of the call, each by its power of two
)

// functions are the exported functions of a program.
func (p *program) functions() (all []*function) {
	for _, d := range p.declarations {
		node, ok := d.node.(*ast.FuncDecl)
		if !ok || !node.Name.IsExported() || node.Recv != nil && !ast.IsExported(receiver(node)) {
			continue
		}
		f := &function{index: len(all) + 1, name: d.name, node: node}
		if node.Recv != nil {
			f.of = receiver(node)
		}
		signature := p.info.Defs[node.Name].(*types.Func).Signature()
		if f.of == "" && signature.Results().Len() > 0 {
			f.makes = p.instance(signature.Results().At(0).Type())
		}
		f.observed, f.numbers = observe(signature, f.of != "")
		all = append(all, f)
	}
	return all
}

// instance is the name of the exported struct of the program that a type points to; "" for any other type.
func (p *program) instance(t types.Type) string {
	if pointer, ok := t.(*types.Pointer); ok {
		if named, ok := pointer.Elem().(*types.Named); ok && named.Obj().Pkg() == p.types && named.Obj().Exported() {
			return named.Obj().Name()
		}
	}
	return ""
}

// value is an expression of a call's input.
type value struct {
	name, expression string
	t                types.Type
}

func observe(signature *types.Signature, method bool) (all []observed, inShape int) {
	var values []value
	var numbers []observed
	i := 0
	for v := range signature.Params().Variables() {
		values = append(values, parts(value{v.Name(), fmt.Sprintf("p%d", i), v.Type()})...)
		i++
	}
	for _, v := range values {
		if o, ok := v.number(); ok {
			numbers = append(numbers, o)
		}
	}
	all = slices.Clone(numbers)
	for i, a := range values {
		for _, b := range values[i+1:] {
			if types.Identical(a.t, b.t) && types.Comparable(a.t) && !types.IsInterface(a.t) {
				all = append(all, observed{a.name + " == " + b.name, "b_(" + a.expression + " == " + b.expression + ")",
					truth, 1})
			}
		}
	}
	all = append(all, observed{"call", "calls_[f_]", call, 62}, observed{"errors before", "errors_", failed, 62})
	if method {
		all = append(all, observed{"call of the instance", "r_.guard_.calls[f_]", call, 62},
			observed{"errors of the instance before", "r_.guard_.errors", failed, 62})
	}
	if len(numbers) > 0 {
		hash := "0"
		for _, o := range numbers {
			hash = fmt.Sprintf("shape_(%s, %s)", hash, o.expression)
		}
		all = append(all, observed{"shape", hash, shape, 62})
	}
	return all, len(numbers)
}

// parts are a value and what can be seen in it.
func parts(v value) []value {
	all := []value{v}
	switch t := v.t.Underlying().(type) {
	case *types.Slice:
		all = append(all, value{"len(" + v.name + ")", "len(" + v.expression + ")", types.Typ[types.Int]})
		if basic, ok := t.Elem().(*types.Basic); ok && basic.Kind() == types.Byte {
			break
		}
		all = append(all, parts(value{v.name + "[0]", "at_(" + v.expression + ", 0)", t.Elem()})...)
		all = append(all, parts(value{"the last of " + v.name, "at_(" + v.expression + ", -1)", t.Elem()})...)
	case *types.Array:
		for i := range t.Len() {
			index := fmt.Sprintf("[%d]", i)
			all = append(all, parts(value{v.name + index, v.expression + index, t.Elem()})...)
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				all = append(all, parts(value{v.name + "." + f.Name(), v.expression + "." + f.Name(), f.Type()})...)
			}
		}
		if hasLen(v.t) {
			all = append(all, value{v.name + ".Len()", v.expression + ".Len()", types.Typ[types.Int64]})
		}
	case *types.Basic:
		if t.Info()&types.IsString != 0 {
			all = append(all, value{"len(" + v.name + ")", "len(" + v.expression + ")", types.Typ[types.Int]})
		}
	}
	return all
}

func hasLen(t types.Type) bool {
	found, _, _ := types.LookupFieldOrMethod(t, false, nil, "Len")
	f, ok := found.(*types.Func)
	return ok && f.Signature().Params().Len() == 0
}

// number is the value as a number. An address is none: where memory lies is nobody's choice.
func (v value) number() (observed, bool) {
	if named, ok := types.Unalias(v.t).(*types.Named); ok && named.Obj().Name() == "DevicePtr" {
		return observed{}, false
	}
	switch t := v.t.Underlying().(type) {
	case *types.Basic:
		switch {
		case t.Kind() == types.Bool:
			return observed{v.name, "b_(" + v.expression + ")", truth, 1}, true
		case t.Kind() == types.Uint64:
			return observed{v.name, "int64(min(" + v.expression + ", 1<<63-1))", number, 63}, true
		case t.Kind() == types.Int32 || t.Kind() == types.Uint32:
			return observed{v.name, "int64(" + v.expression + ")", number, 32}, true
		case t.Info()&types.IsInteger != 0:
			return observed{v.name, "int64(" + v.expression + ")", number, 63}, true
		}
	case *types.Interface, *types.Signature, *types.Pointer:
		return observed{v.name + " == nil", "b_(" + v.expression + " == nil)", truth, 1}, true
	}
	return observed{}, false
}
