package mend

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"cudalab/grader/judge/edits"
)

// What the operators of package edits do not do, since they break right code: they put in what is missing. A template
// is tried at each statement of a function.
type template func(f *function, s site) []string

// site is a place for a statement.
type site struct {
	at     token.Pos
	beside ast.Stmt // the statement before it, or behind
	vars   []*types.Var
	outer  bool   // it is the first or the last of its block
	failed string // how an error leaves the function there: "return 0, err"; "" where none does
	joins  bool   // err is a variable that gathers errors
}

// templates put statements in, by what they are for.
var templates = []struct {
	name  string
	notes bool // it is about Go's variables alone
	of    template
}{
	{"wait", false, waits},
	{"flag", true, flags},
	{"count", true, counts},
	{"container", true, containers},
	{"release", false, releases},
}

// templated are the candidates that put something in that the function has not, whatever the solution does.
func templated(f *function, limits []string) (all []*candidate) {
	add := func(what string, rank int, changes ...edits.Change) {
		all = append(all, &candidate{changes: changes, what: what, rank: rank, function: f})
	}
	for _, s := range sites(f) {
		for _, t := range templates {
			if !s.outer && t.notes {
				continue // what is only noted may as well be noted at either end of the block
			}
			for _, text := range t.of(f, s) {
				add(t.name, 3, edits.Change{From: s.at, To: s.at, Text: "\n" + text + "\n", Shown: s.beside})
			}
		}
	}
	inspect(f.decl.Body, func(n ast.Node, stack []ast.Node) {
		for _, m := range moves(f, n) {
			add("order", min(1+m.by, 4), m.changes[:]...)
		}
		for _, ch := range joined(f, n, stack) {
			add("release", 2, ch)
		}
		for _, ch := range deferred(f, n, stack) {
			add("deferred", 3, ch)
		}
		for _, ch := range bounded(f, n, limits) {
			add("bound", 3, ch)
		}
		for _, ch := range otherwise(f, n) {
			add("arithmetic", 2, ch)
		}
		for _, ch := range given(f, n) {
			add("argument", 2, ch)
		}
	})
	for _, ch := range guards(f) {
		add("guard", 3, ch)
	}
	return all
}

// sites are the places of a function.
func sites(f *function) (all []site) {
	within := func(list []ast.Stmt, begin token.Pos) {
		at := func(pos token.Pos, beside ast.Stmt, outer bool) {
			s := site{at: pos, beside: beside, outer: outer, failed: leaves(f)}
			s.vars = visible(f.Types.Scope().Innermost(pos), f.Types, pos)
			s.joins = slices.ContainsFunc(s.vars, func(v *types.Var) bool {
				return v.Name() == "err" && edits.IsError(v.Type())
			})
			all = append(all, s)
		}
		if len(list) > 0 {
			at(begin, list[0], true)
		}
		for i, s := range list {
			if leaving(s) {
				continue
			}
			at(s.End(), s, i == len(list)-1 || leaving(list[i+1]))
		}
	}
	inspect(f.decl.Body, func(n ast.Node, _ []ast.Node) {
		switch n := n.(type) {
		case *ast.BlockStmt:
			within(n.List, n.Lbrace+1)
		case *ast.CaseClause:
			within(n.Body, n.Colon+1)
		}
	})
	return slices.DeleteFunc(all, func(s site) bool { return s.inHead(f) })
}

// leaving reports whether a statement ends its block.
func leaving(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	}
	return false
}

// inHead reports whether a place is within the first statement of a block that only hands an error on.
func (s site) inHead(f *function) bool {
	r, ok := s.beside.(*ast.ReturnStmt)
	return ok && len(r.Results) > 0 && strings.HasPrefix(f.Text(r.Results[len(r.Results)-1]), "err")
}

// leaves is how a function hands on an error.
func leaves(f *function) string {
	results := f.Info.Defs[f.decl.Name].(*types.Func).Signature().Results()
	if results.Len() == 0 || !edits.IsError(results.At(results.Len()-1).Type()) {
		return ""
	}
	var values []string
	for i := range results.Len() - 1 {
		zero := edits.ZeroOf(results.At(i).Type())
		if zero == "" {
			zero = fmt.Sprintf("*new(%s)", shortType(results.At(i).Type(), f))
		}
		values = append(values, zero)
	}
	return "return " + strings.Join(append(values, "err"), ", ")
}

func shortType(t types.Type, f *function) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == f.Types {
			return ""
		}
		return p.Name()
	})
}

// failing is a call that answers an error, as a statement.
func (s site) failing(call string) (all []string) {
	if s.failed != "" {
		all = append(all, fmt.Sprintf("if err := %s; err != nil {\n%s\n}", call, s.failed))
	}
	if s.joins {
		all = append(all, fmt.Sprintf("if err == nil {\nerr = %s\n}", call))
	}
	return all
}

// streams are expressions of streams at a place: variables, and the fields and elements of some.
func (s site) streams(f *function) (all []string) {
	is := func(t types.Type) bool { return strings.HasSuffix(t.String(), "native/cuda.Stream") }
	for _, v := range s.vars {
		if is(v.Type()) {
			all = append(all, v.Name())
		}
		of := v.Type()
		if p, ok := of.Underlying().(*types.Pointer); ok {
			of = p.Elem()
		}
		if structure, ok := of.Underlying().(*types.Struct); ok && ofOwn(of, f.Types) {
			for field := range structure.Fields() {
				if is(field.Type()) {
					all = append(all, v.Name()+"."+field.Name())
				}
			}
		}
	}
	return all
}

func ofOwn(t types.Type, pkg *types.Package) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Pkg() == pkg
}

// calledWith are the arguments of a statement's calls of a function.
func calledWith(f *function, n ast.Node, name string) (all [][]ast.Expr) {
	ast.Inspect(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && f.Text(call.Fun) == name {
			all = append(all, call.Args)
		}
		return true
	})
	return all
}

// waits have a stream wait for what another has recorded, record what is waited for, or have the host wait.
func waits(f *function, s site) (all []string) {
	for _, args := range calledWith(f, s.beside, "cuda.EventRecord") {
		event, recorded := f.Text(args[0]), f.Text(args[1])
		for _, stream := range s.streams(f) {
			if stream != recorded {
				all = append(all, s.failing(fmt.Sprintf("cuda.StreamWaitEvent(%s, %s)", stream, event))...)
			}
		}
	}
	for _, args := range calledWith(f, s.beside, "cuda.StreamWaitEvent") {
		if s.at > s.beside.Pos() {
			break // a record belongs before it
		}
		for _, stream := range s.streams(f) {
			if stream != f.Text(args[0]) {
				all = append(all, s.failing(fmt.Sprintf("cuda.EventRecord(%s, %s)", f.Text(args[1]), stream))...)
			}
		}
	}
	if f.calls["cuda.EventElapsedTime"] > 0 || f.calls["cuda.EventRecord"] > 0 && f.calls["cuda.StreamWaitEvent"] == 0 {
		for _, stream := range s.streams(f) {
			all = append(all, s.failing(fmt.Sprintf("cuda.StreamSynchronize(%s)", stream))...)
		}
	}
	return all
}

// flags set what is a truth elsewhere in the package.
func flags(f *function, s site) (all []string) {
	for _, place := range f.assigned() {
		if !isBasic(place.t, types.IsBoolean) {
			continue
		}
		for _, text := range retold(place.of, f, place.place, s) {
			all = append(all, text+" = true", text+" = false")
		}
	}
	return all
}

// counter are the tokens that undo what others count.
var counter = map[token.Token]string{token.INC: "--", token.DEC: "++", token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+="}

// counts count what is counted elsewhere in the package: back in another function, and once more in the same.
func counts(f *function, s site) (all []string) {
	for _, place := range f.assigned() {
		tok := counter[place.tok]
		if tok == "" {
			continue
		}
		if place.of == f {
			tok = place.tok.String()
		}
		for _, text := range retold(place.of, f, place.place, s) {
			if place.value == nil {
				all = append(all, text+tok)
				continue
			}
			for _, by := range retold(place.of, f, place.value, s) {
				all = append(all, text+" "+tok+" "+by)
			}
		}
	}
	return all
}

// containers take out of a map what was put in, and put into a slice, where the package has such maps and slices.
func containers(f *function, s site) (all []string) {
	for _, v := range s.vars {
		for _, field := range fieldsOf(v, f) {
			if m, ok := field.t.Underlying().(*types.Map); ok {
				for _, k := range s.vars {
					if types.Identical(k.Type(), m.Key()) {
						all = append(all, fmt.Sprintf("delete(%s, %s)", field.text, k.Name()))
					}
				}
			}
			if list, ok := field.t.Underlying().(*types.Slice); ok && !isBasic(list.Elem(), types.IsNumeric) {
				for _, e := range s.vars {
					if types.Identical(e.Type(), list.Elem()) {
						all = append(all, fmt.Sprintf("%s = append(%s, %s)", field.text, field.text, e.Name()))
					}
				}
			}
		}
	}
	return all
}

type typed struct {
	text string
	t    types.Type
}

// fieldsOf are the fields of a variable of one of the package's structs.
func fieldsOf(v *types.Var, f *function) (all []typed) {
	of := v.Type()
	if p, ok := of.Underlying().(*types.Pointer); ok {
		of = p.Elem()
	}
	structure, ok := of.Underlying().(*types.Struct)
	if !ok || !ofOwn(of, f.Types) {
		return nil
	}
	for field := range structure.Fields() {
		all = append(all, typed{v.Name() + "." + field.Name(), field.Type()})
	}
	return all
}

// assigned is something that the package assigns to.
type assigned struct {
	of    *function
	stmt  ast.Stmt
	place ast.Expr
	value ast.Expr // nil for ++ and --
	tok   token.Token
	t     types.Type
}

// assigned are the fields and elements that functions of the package assign to, each form once.
func (f *function) assigned() (all []assigned) {
	if f.known != nil {
		return f.known
	}
	defer func() { f.known = all }()
	seen := map[string]bool{}
	for _, other := range functionsOf(f.Code) {
		add := func(s ast.Stmt, place, value ast.Expr, tok token.Token) {
			if _, local := place.(*ast.Ident); local {
				return
			}
			text := other.Text(place) + tok.String()
			if value != nil && tok != token.ASSIGN {
				text += other.Text(value)
			}
			if !seen[text] {
				seen[text] = true
				all = append(all, assigned{other, s, place, value, tok, other.TypeOf(place)})
			}
		}
		other.assignments(add)
	}
	return all
}

// assignments are a function's own, those that declare left out; value is nil for ++ and --.
func (f *function) assignments(each func(s ast.Stmt, place, value ast.Expr, tok token.Token)) {
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, place := range n.Lhs {
				var value ast.Expr
				if len(n.Rhs) == len(n.Lhs) {
					value = n.Rhs[i]
				}
				if n.Tok != token.DEFINE {
					each(n, place, value, n.Tok)
				}
			}
		case *ast.IncDecStmt:
			each(n, n.X, nil, n.Tok)
		}
		return true
	})
}

// retold is an expression of another function of the package in the names of a place. An index may be any number there.
func retold(of, to *function, e ast.Expr, s site) []string {
	t := translate(of, to)
	text, ok := t.text(e, s.at)
	if !ok {
		return nil
	}
	all := []string{text}
	if x, isIndex := e.(*ast.IndexExpr); isIndex && of != to {
		base, ok := t.text(x.X, s.at)
		for _, v := range s.vars {
			if ok && types.Identical(v.Type(), of.TypeOf(x.Index)) && base+"["+v.Name()+"]" != text {
				all = append(all, base+"["+v.Name()+"]")
			}
		}
	}
	return all
}

func isBasic(t types.Type, kind types.BasicInfo) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&kind != 0
}

// opposite is the call that gives back what another makes; %s are its results and %[n] its arguments.
var opposites = []struct{ makes, gives string }{
	{"cuda.MemCreate", "cuda.MemRelease(handle)"},
	{"cuda.MemMap", "cuda.MemUnmap($0, $1)"},
	{"cuda.MemMap", "cuda.MemRelease($3)"},
	{"cuda.MemAddressReserve", "cuda.MemAddressFree(result, $0)"},
	{"cuda.MallocAsync", "cuda.FreeAsync(result, $1)"},
	{"cuda.MallocFromPoolAsync", "cuda.FreeAsync(result, $2)"},
	{"cuda.Malloc", "cuda.Free(result)"},
	{"cuda.EventCreate", "cuda.EventDestroy(result)"},
	{"cuda.EventCreateWithFlags", "cuda.EventDestroy(result)"},
	{"cuda.MemPoolCreate", "cuda.MemPoolDestroy(result)"},
	{"cuda.MallocHost", "cuda.FreeHost(result)"},
}

// undone are the calls that give back what a function has made before a place.
func undone(f *function, at token.Pos) (all []string) {
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		var call *ast.CallExpr
		result := ""
		switch n := n.(type) {
		case *ast.AssignStmt:
			if len(n.Rhs) != 1 || n.End() > at {
				return true
			}
			call, _ = n.Rhs[0].(*ast.CallExpr)
			result = f.Text(n.Lhs[0])
		}
		if call == nil {
			return true
		}
		for _, o := range opposites {
			if f.Text(call.Fun) != o.makes {
				continue
			}
			text := strings.NewReplacer("result", result, "handle", result).Replace(o.gives)
			for i, a := range call.Args {
				text = strings.ReplaceAll(text, fmt.Sprintf("$%d", i), f.Text(a))
			}
			if !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
		return true
	})
	return all
}

// releases give back what was made.
func releases(f *function, s site) (all []string) {
	for _, call := range undone(f, s.at) {
		all = append(all, s.failing(call)...)
	}
	return all
}
