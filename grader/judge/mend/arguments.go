package mend

import (
	"cmp"
	"go/ast"
	"reflect"
	"slices"

	"cudalab/grader/judge/edits"
)

// arguments are the candidates that hand a call what the solution hands to calls of the same function, whatever the
// code around them is.
func arguments(own *function, solution []*function) (all []*candidate) {
	inspect(own.decl.Body, func(n ast.Node, _ []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return
		}
		name := own.Text(call.Fun)
		if kind := own.Info.Types[call.Fun]; kind.IsBuiltin() && name != "min" && name != "max" || kind.IsType() {
			return
		}
		for _, theirs := range solution {
			if theirs.calls[name] == 0 {
				continue
			}
			t := translate(theirs, own)
			inspect(theirs.decl.Body, func(n ast.Node, _ []ast.Node) {
				other, ok := n.(*ast.CallExpr)
				if !ok || theirs.Text(other.Fun) != name {
					return
				}
				for _, t.inline = range []bool{false, true} {
					all = append(all, t.calls(own, call, other)...)
				}
			})
		}
	})
	return all
}

// calls are the arguments of one call in the places of another's.
func (t *translator) calls(own *function, call, other *ast.CallExpr) (all []*candidate) {
	add := func(rank int, ch edits.Change) {
		all = append(all, &candidate{changes: []edits.Change{ch}, guided: true, what: "argument", rank: rank, function: own})
	}
	if len(call.Args) == len(other.Args) {
		for i, a := range call.Args {
			text, ok := t.text(other.Args[i], a.Pos())
			if ok && edits.Plain(text) != edits.Plain(own.Text(a)) {
				rank := 2
				if t.of.name == own.name {
					rank = 1
				}
				add(rank, edits.Change{From: a.Pos(), To: a.End(), Text: text, Shown: call})
			}
		}
		return all
	}
	if len(call.Args) > 0 && len(other.Args) > len(call.Args) && own.Text(call.Fun) == "errors.Join" {
		for _, more := range other.Args {
			said := edits.Plain(t.of.Text(more))
			has := slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return edits.Plain(own.Text(a)) == said })
			if text, ok := t.text(more, call.Pos()); ok && !has {
				end := call.Args[len(call.Args)-1].End()
				add(2, edits.Change{From: end, To: end, Text: ", " + text, Shown: call})
			}
		}
	}
	return all
}

// mostAlike is how many of the solution's expressions are tried for one of the student's.
const mostAlike = 3

// expressions are the candidates that say what an expression of the solution's says which is much like the student's,
// wherever it stands.
func expressions(own *function, solution []*function) (all []*candidate) {
	type known struct {
		*translator
		ast.Expr
		words map[string]int
	}
	var theirs []known
	for _, f := range solution {
		t := translate(f, own)
		inspect(f.decl.Body, func(n ast.Node, _ []ast.Node) {
			if e, ok := n.(ast.Expr); ok && says(e) {
				inline := *t
				inline.inline = true
				theirs = append(theirs, known{t, e, words(f.Text(e))}, known{&inline, e, words(f.Text(e))})
			}
		})
	}
	inspect(own.decl.Body, func(n ast.Node, stack []ast.Node) {
		e, ok := n.(ast.Expr)
		if !ok || !says(e) {
			return
		}
		type like struct {
			text string
			by   float64
		}
		var some []like
		text, of, used := edits.Plain(own.Text(e)), typeName(own.TypeOf(e), own.Types), words(own.Text(e))
		for _, k := range theirs {
			if reflect.TypeOf(k.Expr) != reflect.TypeOf(e) || typeName(k.of.TypeOf(k.Expr), k.of.Types) != of ||
				similarity(used, k.words) < 0.2 {
				continue
			}
			other, ok := k.text(k.Expr, e.Pos())
			by := similarity(used, words(other))
			if k.of.name == own.name {
				by += 0.1
			}
			again := slices.ContainsFunc(some, func(l like) bool { return l.text == other })
			if ok && edits.Plain(other) != text && by >= 0.4 && !again {
				some = append(some, like{other, by})
			}
		}
		slices.SortStableFunc(some, func(a, b like) int { return cmp.Compare(b.by, a.by) })
		for i, l := range some[:min(len(some), mostAlike)] {
			ch := edits.Change{From: e.Pos(), To: e.End(), Text: l.text, Shown: e}
			all = append(all, &candidate{changes: []edits.Change{ch}, guided: true, what: "expression", rank: 2 + i/2,
				function: own})
		}
	})
	return all
}

// says reports whether an expression says more than a name.
func says(e ast.Expr) bool {
	switch e.(type) {
	case *ast.BinaryExpr, *ast.IndexExpr, *ast.SliceExpr, *ast.UnaryExpr, *ast.CallExpr:
		return true
	}
	return false
}

// inspect is ast.Inspect with the nodes around each, the innermost last.
func inspect(n ast.Node, do func(n ast.Node, stack []ast.Node)) {
	ast.PreorderStack(n, nil, func(n ast.Node, stack []ast.Node) bool {
		do(n, stack)
		return true
	})
}
