package mend

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"

	"cudalab/grader/judge/edits"
)

// function is a function of the student's or of the solution's.
type function struct {
	*edits.Code
	file  *edits.File
	decl  *ast.FuncDecl
	name  string
	calls map[string]int // what it calls, by the source's words
	known []assigned     // once somebody has asked
}

// functionsOf are a package's, in their order.
func functionsOf(c *edits.Code) (all []*function) {
	for _, f := range c.Files {
		for _, d := range f.Syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			made := &function{Code: c, file: f, decl: fn, name: edits.FunctionName(fn), calls: map[string]int{}}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					made.calls[c.Text(call.Fun)]++
				}
				return true
			})
			all = append(all, made)
		}
	}
	return all
}

func functionNamed(all []*function, name string) *function {
	for _, f := range all {
		if f.name == name {
			return f
		}
	}
	return nil
}

// lineOf is a position's line.
func lineOf(c *edits.Code, at token.Pos) int { return c.Set.PositionFor(at, false).Line }

// typeName is a type by its name, which says the same of the student's types and of the solution's.
func typeName(t types.Type, own *types.Package) string {
	if t == nil {
		return ""
	}
	return types.TypeString(t, func(p *types.Package) string {
		if p == own {
			return ""
		}
		return p.Path()
	})
}

// bound are the parameters and the receiver of a function, in their order.
func (f *function) bound() (all []types.Object) {
	lists := []*ast.FieldList{f.decl.Recv, f.decl.Type.Params, f.decl.Type.Results}
	for _, list := range lists {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			for _, name := range field.Names {
				all = append(all, f.Info.Defs[name])
			}
			if len(field.Names) == 0 {
				all = append(all, nil)
			}
		}
	}
	return all
}

// translator says in the student's names what a function of the solution's says.
type translator struct {
	of, to *function
	params map[types.Object]types.Object
	inline bool // a variable of the solution's is what it was declared as
	depth  int
}

func translate(of, to *function) *translator {
	t := &translator{of: of, to: to, params: map[types.Object]types.Object{}}
	if of.name == to.name {
		theirs, own := of.bound(), to.bound()
		for i, o := range theirs {
			if o != nil && i < len(own) && own[i] != nil && typeName(o.Type(), of.Types) == typeName(own[i].Type(), to.Types) {
				t.params[o] = own[i]
			}
		}
	}
	return t
}

// text is a piece of the solution's code as it would read at a place of the student's; not ok where something in it
// has no name there.
func (t *translator) text(n ast.Node, at token.Pos) (string, bool) {
	type swap struct {
		from, to token.Pos
		text     string
	}
	var swaps []swap
	ok := true
	own := map[types.Object]bool{} // what the piece declares itself
	ast.Inspect(n, func(n ast.Node) bool {
		if id, isID := n.(*ast.Ident); isID {
			if o := t.of.Info.Defs[id]; o != nil {
				own[o] = true
			}
		}
		return true
	})
	ast.Inspect(n, func(n ast.Node) bool {
		if !ok {
			return false
		}
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if name, found := t.member(n); found {
				swaps = append(swaps, swap{n.Sel.Pos(), n.Sel.End(), name})
			} else {
				ok = false
			}
		case *ast.Ident:
			o := t.of.Info.Uses[n]
			if o == nil || own[o] || t.isMember(o) {
				return true
			}
			name, found := t.name(o, at)
			if !found {
				ok = false
				return false
			}
			swaps = append(swaps, swap{n.Pos(), n.End(), name})
		}
		return true
	})
	if !ok {
		return "", false
	}
	slices.SortFunc(swaps, func(a, b swap) int { return int(a.from - b.from) })
	var b strings.Builder
	from := n.Pos()
	for _, s := range swaps {
		if s.from < from {
			continue
		}
		b.WriteString(t.of.TextBetween(from, s.from) + s.text)
		from = s.to
	}
	b.WriteString(t.of.TextBetween(from, n.End()))
	return b.String(), true
}

// isMember reports whether an object is only ever named behind another.
func (t *translator) isMember(o types.Object) bool {
	v, isVar := o.(*types.Var)
	f, isFunc := o.(*types.Func)
	return isVar && v.IsField() || isFunc && f.Signature().Recv() != nil
}

// member is the student's name of a field or method of the solution's.
func (t *translator) member(s *ast.SelectorExpr) (string, bool) {
	o := t.of.Info.Uses[s.Sel]
	if o == nil || o.Pkg() != t.of.Types || !t.isMember(o) {
		return s.Sel.Name, true
	}
	of := t.of.TypeOf(s.X)
	if p, ok := of.Underlying().(*types.Pointer); ok {
		of = p.Elem()
	}
	named, ok := types.Unalias(of).(*types.Named)
	if !ok {
		return "", false
	}
	same, ok := t.to.Types.Scope().Lookup(named.Obj().Name()).(*types.TypeName)
	if !ok {
		return "", false
	}
	found, _, _ := types.LookupFieldOrMethod(types.NewPointer(same.Type()), true, t.to.Types, s.Sel.Name)
	if found != nil {
		return s.Sel.Name, true
	}
	structure, ok := same.Type().Underlying().(*types.Struct)
	if !ok || !isField(o) {
		return "", false
	}
	var alike []string
	for f := range structure.Fields() {
		if typeName(f.Type(), t.to.Types) == typeName(o.Type(), t.of.Types) {
			alike = append(alike, f.Name())
		}
	}
	if len(alike) == 0 {
		return "", false
	}
	return nearestName(s.Sel.Name, alike), true
}

func isField(o types.Object) bool {
	v, ok := o.(*types.Var)
	return ok && v.IsField()
}

// name is the student's name of something of the solution's.
func (t *translator) name(o types.Object, at token.Pos) (string, bool) {
	switch o := o.(type) {
	case *types.PkgName, *types.Builtin, *types.Nil:
		return o.Name(), true
	}
	if o.Pkg() != t.of.Types {
		return o.Name(), true // of another package, or of none
	}
	if p := t.params[o]; p != nil {
		return p.Name(), p.Name() != "_"
	}
	scope := t.to.Types.Scope().Innermost(at)
	if scope == nil {
		return "", false
	}
	want := typeName(o.Type(), t.of.Types)
	if t.inline {
		if text, ok := t.inlined(o, at); ok {
			return text, true
		}
	}
	if f, ok := o.(*types.Func); ok {
		want = nameless(f.Signature(), t.of.Types)
		same, ok := t.to.Types.Scope().Lookup(o.Name()).(*types.Func)
		if ok && nameless(same.Signature(), t.to.Types) == want {
			return o.Name(), true
		}
	}
	_, found := scope.LookupParent(o.Name(), at)
	if found != nil && found.Pkg() == t.to.Types && typeName(found.Type(), t.to.Types) == want {
		return o.Name(), true
	}
	switch o := o.(type) {
	case *types.Const:
		return o.Val().ExactString(), o.Val().Kind() == constant.Int
	case *types.Func:
		return t.function(want)
	}
	if _, ok := o.(*types.Var); !ok || o.Parent() == t.of.Types.Scope() {
		return "", false
	}
	var alike []string
	for _, v := range visible(scope, t.to.Types, at) {
		if typeName(v.Type(), t.to.Types) == want {
			alike = append(alike, v.Name())
		}
	}
	if len(alike) == 0 {
		return t.inlined(o, at)
	}
	return nearestName(o.Name(), alike), true
}

// inlined is what a variable of the solution's is declared as.
func (t *translator) inlined(o types.Object, at token.Pos) (string, bool) {
	e := t.of.declared(o)
	if e == nil || t.depth == deepest {
		return "", false
	}
	deeper := *t
	deeper.depth++
	text, ok := deeper.text(e, at)
	if says(e) {
		text = "(" + text + ")"
	}
	return text, ok
}

// deepest is how often a variable is taken for what it is declared as, within what another one is.
const deepest = 3

// declared is the expression that a variable of a function is declared with; nil where there is none of its own.
func (f *function) declared(o types.Object) (e ast.Expr) {
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && a.Tok == token.DEFINE && len(a.Lhs) == len(a.Rhs) {
			for i, left := range a.Lhs {
				if id, ok := left.(*ast.Ident); ok && f.Info.Defs[id] == o {
					e = a.Rhs[i]
				}
			}
		}
		return e == nil
	})
	return e
}

// function is the one function of the student's with a signature.
func (t *translator) function(signature string) (name string, only bool) {
	for _, other := range t.to.Types.Scope().Names() {
		f, ok := t.to.Types.Scope().Lookup(other).(*types.Func)
		if ok && nameless(f.Signature(), t.to.Types) == signature {
			if name != "" {
				return "", false
			}
			name = other
		}
	}
	return name, name != ""
}

// nameless is a signature without the names of what it takes and answers.
func nameless(s *types.Signature, own *types.Package) string {
	var all []string
	for _, list := range []*types.Tuple{s.Params(), s.Results()} {
		for v := range list.Variables() {
			all = append(all, typeName(v.Type(), own))
		}
		all = append(all, ";")
	}
	return strings.Join(all, " ")
}

// visible are the variables that a place in a function can name, those of the package left out, the nearest first.
func visible(scope *types.Scope, pkg *types.Package, at token.Pos) (all []*types.Var) {
	seen := map[string]bool{}
	for ; scope != nil && scope != pkg.Scope(); scope = scope.Parent() {
		var here []*types.Var
		for _, name := range scope.Names() {
			v, ok := scope.Lookup(name).(*types.Var)
			if ok && v.Pos() < at && name != "_" && !seen[name] {
				if _, found := scope.LookupParent(name, at); found == v {
					here = append(here, v)
				}
			}
			seen[name] = true
		}
		slices.SortFunc(here, func(a, b *types.Var) int { return int(b.Pos() - a.Pos()) })
		all = append(all, here...)
	}
	return all
}

// nearestName is the name that is most like another; of those that are alike, the first.
func nearestName(name string, all []string) string {
	best, most := all[0], -1
	for _, other := range all {
		if n := alikeness(name, other); n > most {
			best, most = other, n
		}
	}
	return best
}

// alikeness counts the letters that two names begin with together, and end with.
func alikeness(a, b string) (n int) {
	a, b = strings.ToLower(a), strings.ToLower(b)
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	for i := 1; i <= min(len(a), len(b))-n && a[len(a)-i] == b[len(b)-i]; i++ {
		n++
	}
	return n
}

// importsOf are the imports of a package, by name.
func importsOf(c *edits.Code) map[string]string {
	all := map[string]string{}
	for _, f := range c.Files {
		for _, spec := range f.Syntax.Imports {
			p, _ := strconv.Unquote(spec.Path.Value)
			all[edits.ImportName(spec)] = p
		}
	}
	return all
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
