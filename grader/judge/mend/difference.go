package mend

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"cudalab/grader/judge/edits"
)

// differ finds where a function of the student's and one of the solution's are not alike, and what would make each
// place so.
type differ struct {
	own, theirs *function
	*translator
	found []*candidate
	// What only one of them has, to be taken for what has moved.
	only  []hunk
	lacks []hunk
}

// hunk is a change with the text that it is about, without its layout and with parameters by their place.
type hunk struct {
	key string
	edits.Change
}

// differences are the candidates by which a function would be more like the solution's.
func differences(own, theirs *function) []*candidate {
	d := &differ{own: own, theirs: theirs, translator: translate(theirs, own)}
	d.blocks(own.decl.Body.List, theirs.decl.Body.List, own.decl.Body)
	for _, a := range d.only {
		for _, b := range d.lacks {
			if a.key == b.key && !(a.From <= b.From && b.From <= a.To) {
				there := edits.Change{From: b.From, To: b.From, Text: "\n" + own.Text(a.Shown) + "\n", Shown: a.Shown}
				d.add("order", 0, a.Change, there)
			}
		}
	}
	return d.found
}

func (d *differ) add(what string, rank int, changes ...edits.Change) {
	d.found = append(d.found, &candidate{changes: changes, guided: true, hunk: true, what: what, rank: rank,
		function: d.own})
}

// key is a node's text in which the names that both functions must have are the same.
func key(f *function, n ast.Node) string {
	if n == nil || reflect.ValueOf(n).IsNil() {
		return ""
	}
	bound := f.bound()
	text, from := "", n.Pos()
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			o := f.Info.Uses[id]
			if i := slices.Index(bound, o); o != nil && i >= 0 {
				text += f.TextBetween(from, id.Pos()) + "$" + string(rune('a'+i))
				from = id.End()
			}
		}
		return true
	})
	return edits.Plain(text + f.TextBetween(from, n.End()))
}

// blocks compares two lists of statements.
func (d *differ) blocks(own, theirs []ast.Stmt, in ast.Node) {
	a, b := keys(d.own, own), keys(d.theirs, theirs)
	place := func(i int) token.Pos { // where a statement before own[i] goes
		switch {
		case i > 0:
			return own[i-1].End()
		case len(own) > 0:
			return own[0].Pos()
		}
		switch in := in.(type) {
		case *ast.BlockStmt:
			return in.Lbrace + 1
		case *ast.CaseClause:
			return in.Colon + 1
		}
		return in.End()
	}
	i, j := 0, 0
	for _, m := range append(matches(a, b), [2]int{len(a), len(b)}) {
		d.run(own, theirs, i, m[0], j, m[1], place)
		i, j = m[0]+1, m[1]+1
	}
}

// run compares lists of statements of which none are alike.
func (d *differ) run(own, theirs []ast.Stmt, i, iEnd, j, jEnd int, place func(int) token.Pos) {
	pairs := pair(d.own, d.theirs, own[i:iEnd], theirs[j:jEnd])
	other := map[int]int{} // own's by theirs
	mine := map[int]bool{}
	for _, p := range pairs {
		other[j+p[1]], mine[i+p[0]] = i+p[0], true
		d.nodes(own[i+p[0]], theirs[j+p[1]])
	}
	for k := i; k < iEnd; k++ {
		if !mine[k] {
			gone := edits.Change{From: own[k].Pos(), To: own[k].End(), Shown: own[k]}
			d.only = append(d.only, hunk{key(d.own, own[k]), gone})
			d.add("needless", 3, gone)
		}
	}
	at := i
	for k := j; k < jEnd; k++ {
		if o, paired := other[k]; paired {
			at = o + 1
			continue
		}
		where := place(at)
		text, ok := d.text(theirs[k], where)
		lacks := edits.Change{From: where, To: where, Text: text, Shown: theirs[k]}
		d.lacks = append(d.lacks, hunk{key(d.theirs, theirs[k]), lacks})
		if ok {
			d.insert(where, text, own, at)
			if at < iEnd && !mine[at] { // in the place of one that the solution has not
				d.add("statement", 1, edits.Change{From: own[at].Pos(), To: own[at].End(), Text: text, Shown: own[at]})
			}
		}
	}
	if jEnd-j > 1 && iEnd > i || iEnd-i > 1 && jEnd > j { // all at once
		var texts []string
		for _, s := range theirs[j:jEnd] {
			text, ok := d.text(s, own[i].Pos())
			if !ok {
				return
			}
			texts = append(texts, text)
		}
		all := strings.Join(texts, "\n")
		d.add("statement", 4, edits.Change{From: own[i].Pos(), To: own[iEnd-1].End(), Text: all, Shown: own[i]})
	}
}

func (d *differ) insert(where token.Pos, text string, own []ast.Stmt, at int) {
	var beside ast.Node = d.own.decl
	if at > 0 && at <= len(own) {
		beside = own[at-1]
	} else if len(own) > 0 {
		beside = own[0]
	}
	d.add("missing", 0, edits.Change{From: where, To: where, Text: "\n" + text + "\n", Shown: beside})
}

// nodes compares two nodes that stand for each other.
func (d *differ) nodes(a, b ast.Node) {
	if isNil(a) || isNil(b) || key(d.own, a) == key(d.theirs, b) {
		return
	}
	if block, ok := a.(*ast.BlockStmt); ok {
		if other, ok := b.(*ast.BlockStmt); ok {
			d.blocks(block.List, other.List, block)
			return
		}
	}
	if clause, ok := a.(*ast.CaseClause); ok {
		if other, ok := b.(*ast.CaseClause); ok {
			d.lists(exprs(clause.List), exprs(other.List))
			d.blocks(clause.Body, other.Body, clause)
			return
		}
	}
	if reflect.TypeOf(a) == reflect.TypeOf(b) {
		switch a := a.(type) {
		case *ast.IfStmt:
			b := b.(*ast.IfStmt)
			d.nodes(a.Init, b.Init)
			d.nodes(a.Cond, b.Cond)
			d.nodes(a.Body, b.Body)
			d.nodes(a.Else, b.Else)
			return
		case *ast.ForStmt:
			b := b.(*ast.ForStmt)
			d.nodes(a.Init, b.Init)
			d.nodes(a.Cond, b.Cond)
			d.nodes(a.Post, b.Post)
			d.nodes(a.Body, b.Body)
			return
		case *ast.CallExpr:
			b := b.(*ast.CallExpr)
			if key(d.own, a.Fun) == key(d.theirs, b.Fun) {
				d.lists(exprs(a.Args), exprs(b.Args))
				d.replace(a, b, 2)
				return
			}
		}
		if x, y := children(a), children(b); len(x) > 0 && len(x) == len(y) && sameTokens(a, b) {
			for i := range x {
				d.nodes(x[i], y[i])
			}
			switch a.(type) {
			case *ast.ExprStmt, *ast.ReturnStmt, *ast.AssignStmt, *ast.DeferStmt, *ast.BinaryExpr, *ast.CallExpr:
				d.replace(a, b, 2)
			}
			return
		}
	}
	d.replace(a, b, 1)
}

// lists compares arguments: one by one where there are as many, and else as a whole.
func (d *differ) lists(a, b []ast.Node) {
	if len(a) != len(b) {
		return
	}
	for i := range a {
		d.nodes(a[i], b[i])
	}
}

func (d *differ) replace(a, b ast.Node, rank int) {
	if _, isField := b.(*ast.FieldList); isField {
		return
	}
	if id, ok := a.(*ast.Ident); ok && (d.own.Info.Defs[id] != nil || d.own.Info.Uses[id] == nil || d.isOwnMember(id)) {
		return
	}
	if text, ok := d.text(b, a.Pos()); ok && edits.Plain(text) != edits.Plain(d.own.Text(a)) {
		d.add("expression", rank, edits.Change{From: a.Pos(), To: a.End(), Text: text, Shown: a})
	}
}

// isOwnMember reports whether an identifier is a field or method, which is not said without what it is of.
func (d *differ) isOwnMember(id *ast.Ident) bool {
	o := d.own.Info.Uses[id]
	v, isVar := o.(*types.Var)
	f, isFunc := o.(*types.Func)
	return isVar && v.IsField() || isFunc && f.Signature().Recv() != nil
}

func isNil(n ast.Node) bool { return n == nil || reflect.ValueOf(n).IsNil() }

func exprs(list []ast.Expr) (all []ast.Node) {
	for _, e := range list {
		all = append(all, e)
	}
	return all
}

// children are the nodes right below one.
func children(n ast.Node) (all []ast.Node) {
	depth := 0
	ast.Inspect(n, func(m ast.Node) bool {
		if m == nil {
			depth--
			return false
		}
		if depth++; depth == 2 {
			all = append(all, m)
			depth--
			return false
		}
		return true
	})
	return all
}

// sameTokens reports whether two nodes of one kind have the same tokens of their own.
func sameTokens(a, b ast.Node) bool {
	switch a := a.(type) {
	case *ast.BinaryExpr:
		return a.Op == b.(*ast.BinaryExpr).Op
	case *ast.UnaryExpr:
		return a.Op == b.(*ast.UnaryExpr).Op
	case *ast.AssignStmt:
		return a.Tok == b.(*ast.AssignStmt).Tok
	case *ast.IncDecStmt:
		return a.Tok == b.(*ast.IncDecStmt).Tok
	case *ast.BranchStmt:
		return a.Tok == b.(*ast.BranchStmt).Tok
	case *ast.BasicLit, *ast.Ident:
		return false
	}
	return true
}

func keys(f *function, list []ast.Stmt) (all []string) {
	for _, s := range list {
		all = append(all, key(f, s))
	}
	return all
}

// matches are the indices of what two lists have in common, as many as can be in one order.
func matches(a, b []string) (all [][2]int) {
	long := make([][]int, len(a)+1)
	for i := range long {
		long[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				long[i][j] = long[i+1][j+1] + 1
			} else {
				long[i][j] = max(long[i+1][j], long[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			all = append(all, [2]int{i, j})
			i, j = i+1, j+1
		case long[i+1][j] >= long[i][j+1]:
			i++
		default:
			j++
		}
	}
	return all
}

// pair finds statements that most likely stand for each other, in one order: they are of one kind and share their
// words.
func pair(f, g *function, a, b []ast.Stmt) (all [][2]int) {
	value := make([][]float64, len(a)+1)
	for i := range value {
		value[i] = make([]float64, len(b)+1)
	}
	at := func(i, j int) float64 {
		if reflect.TypeOf(a[i]) != reflect.TypeOf(b[j]) {
			return 0
		}
		if s := similarity(words(key(f, a[i])), words(key(g, b[j]))); s >= 0.4 {
			return s
		}
		return 0
	}
	alike := make([][]float64, len(a))
	for i := range a {
		alike[i] = make([]float64, len(b))
		for j := range b {
			alike[i][j] = at(i, j)
		}
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			value[i][j] = max(value[i+1][j], value[i][j+1], value[i+1][j+1]+alike[i][j])
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case alike[i][j] > 0 && value[i][j] == value[i+1][j+1]+alike[i][j]:
			all = append(all, [2]int{i, j})
			i, j = i+1, j+1
		case value[i][j] == value[i+1][j]:
			i++
		default:
			j++
		}
	}
	return all
}

// words are the names, numbers and signs of a text.
func words(text string) map[string]int {
	all := map[string]int{}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ()[]{},.:;\t\n", r) }) {
		all[w]++
	}
	return all
}

// similarity is from 0, for nothing in common, to 1.
func similarity(a, b map[string]int) float64 {
	both, all := 0, 0
	for w, n := range a {
		both += min(n, b[w])
		all += n
	}
	for _, n := range b {
		all += n
	}
	if all == 0 {
		return 0
	}
	return 2 * float64(both) / float64(all)
}
