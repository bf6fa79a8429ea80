package mend

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/edits"
	"cudalab/grader/suite/verdict"
)

// candidates are all there are, the most likely first, each once.
func (s *Search) candidates() (all []*candidate) {
	own := functionsOf(s.code)
	var solution []*function
	if s.solution != nil {
		solution = functionsOf(s.solution)
	}
	far, read := s.distances(own)
	limits := limitsOf(solution)
	for _, f := range own {
		if s.Code[0].IsSolved(s.path(f), lineOf(f.Code, f.decl.Pos())) {
			continue
		}
		var some []*candidate
		if theirs := functionNamed(solution, f.name); theirs != nil {
			some = append(some, differences(f, theirs)...)
		}
		some = append(some, expressions(f, solution)...)
		some = append(some, arguments(f, solution)...)
		some = append(some, operated(f)...)
		some = append(some, templated(f, limits)...)
		some = slices.DeleteFunc(some, f.fills)
		for _, c := range some {
			c.rank = c.rank*2 + 3*far[f] + s.prior(c.what)
			switch near := s.near(c); {
			case near == 0:
				c.rank -= 3
			case near <= 2:
				c.rank--
			}
			if s.writes(c, read) {
				c.rank -= 2
			}
		}
		all = append(all, some...)
	}
	if n := len(only(all, func(c *candidate) bool { return c.hunk })); n <= fewHunks {
		for _, c := range all {
			if c.hunk {
				c.rank -= ahead
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(s.near(a), s.near(b)))
	})
	seen, kinds := map[string]*candidate{}, map[string]int{}
	return slices.DeleteFunc(all, func(c *candidate) bool {
		f := c.function
		text := f.name + edits.Plain(withChanges(f.file, f.decl.Pos(), f.decl.End(), c.changes))
		if text == f.name+edits.Plain(f.Text(f.decl)) {
			return true
		}
		if first := seen[text]; first != nil {
			first.hunk = first.hunk || c.hunk
			return true
		}
		seen[text] = c
		kinds[c.what]++
		return kinds[c.what] > Budget/mostKind
	})
}

// fills reports whether a candidate is about what is still to be written: that is no mistake, and what fills a gap is
// no cause.
func (f *function) fills(c *candidate) bool {
	gap := f.gap()
	return gap.IsValid() && slices.ContainsFunc(c.changes, func(ch edits.Change) bool { return ch.To >= gap })
}

// gap is where the first gap of a function begins: behind the statement before it; invalid where there is none.
func (f *function) gap() (at token.Pos) {
	inspect(f.decl.Body, func(n ast.Node, stack []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || f.Text(call.Fun) != "contract.TODO" || at.IsValid() {
			return
		}
		for _, around := range stack {
			block, ok := around.(*ast.BlockStmt)
			if !ok {
				continue
			}
			at = block.Lbrace + 1
			for _, s := range block.List {
				if s.End() <= call.Pos() {
					at = s.End()
				}
			}
		}
	})
	return at
}

// Where code and solution part in so few places, it is most likely one of these, wherever the findings are.
const fewHunks, ahead = 24, 20

// mostKind is the part of all that may be of one kind: one in so many.
const mostKind = 5

// near is how far a candidate is from the next line that a finding is about.
func (s *Search) near(c *candidate) int { return s.target.near(s.path(c.function), c.line()) }

// path is a function's file, as findings name it.
func (s *Search) path(f *function) string {
	return s.Code[0].Shown(filepath.Join(s.Code[0].Folder(s.Root), f.file.Name))
}

// distances are, by function, how far it is from one that a finding is about, at most 2: nearer are those that call
// it, that it calls, and that write what it reads. What is read there are names of fields.
func (s *Search) distances(all []*function) (far map[*function]int, read map[string]bool) {
	far, read = map[*function]int{}, map[string]bool{}
	for _, f := range all {
		far[f] = 2
		from, to := lineOf(f.Code, f.decl.Pos()), lineOf(f.Code, f.decl.End())
		for l := range s.target.lines[s.path(f)] {
			if from <= l && l <= to {
				far[f] = 0
			}
		}
		if far[f] == 0 {
			f.fields(f.decl.Body, read)
		}
	}
	for _, f := range all {
		written := map[string]bool{}
		f.assignments(func(_ ast.Stmt, place, _ ast.Expr, _ token.Token) { f.fields(place, written) })
		for _, g := range all {
			if far[g] == 0 && far[f] == 2 && (f.reaches(g) || g.reaches(f)) {
				far[f] = 1
			}
		}
		for name := range written {
			if read[name] {
				far[f] = min(far[f], 1)
			}
		}
	}
	return far, read
}

// fields are the names of the package's own fields in a piece of code.
func (f *function) fields(n ast.Node, into map[string]bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if x, ok := n.(*ast.SelectorExpr); ok {
			if o := f.Info.Uses[x.Sel]; o != nil && o.Pkg() == f.Types && isField(o) {
				into[x.Sel.Name] = true
			}
		}
		return true
	})
}

// writes reports whether what a candidate changes assigns to one of some fields.
func (s *Search) writes(c *candidate, names map[string]bool) (found bool) {
	at := c.changes[0]
	if at.From == at.To { // a statement that is put in
		left, _, _ := strings.Cut(strings.TrimSpace(at.Text), " ")
		return slices.ContainsFunc(sortedKeys(names), func(name string) bool { return strings.Contains(left, "."+name) })
	}
	ast.Inspect(c.function.decl.Body, func(n ast.Node) bool {
		if n == nil || n.Pos() > at.From || at.To > n.End() {
			return false
		}
		var places []ast.Expr
		switch n := n.(type) {
		case *ast.AssignStmt:
			places = n.Lhs
		case *ast.IncDecStmt:
			places = []ast.Expr{n.X}
		}
		for _, place := range places {
			written := map[string]bool{}
			c.function.fields(place, written)
			for name := range written {
				found = found || names[name]
			}
		}
		return true
	})
	return found
}

// reaches reports whether a function calls another.
func (f *function) reaches(g *function) bool {
	name := g.decl.Name.Name
	for called := range f.calls {
		if called == name || strings.HasSuffix(called, "."+name) && g.decl.Recv != nil {
			return true
		}
	}
	return false
}

// ranks are the operators' places among all: first what one slips in most often, last what is hardly ever a repair.
var ranks = map[string]int{"boundary": 2, "constant": 3, "other variable": 3, "other constant": 2, "range": 3,
	"slice bound": 3, "swap of statements": 3, "deletion": 5, "wrong sentinel": 6, "result": 6, "at once": 6, "logic": 5,
	"branch": 6, "condition": 7, "loop once": 7, "field left out": 7, "error left out": 7, "no else": 7,
	"default stream": 7, "unwrapped error": 8}

// prior is what the rules of the errors say for a kind of candidate, or against it.
func (s *Search) prior(what string) int {
	switch what {
	case "wait", "order":
		if !s.target.about(verdict.OrderRules) {
			return 2
		}
	case "release", "deferred":
		if !s.target.about(verdict.EndRules) {
			return 4
		}
		return -2
	case "flag", "count", "container":
		if s.target.about(verdict.OrderRules) {
			return 2
		}
	}
	return 0
}

// operated are the candidates of the operators.
func operated(f *function) (all []*candidate) {
	inspect(f.decl.Body, func(n ast.Node, stack []ast.Node) {
		stack = append([]ast.Node{f.file.Syntax, f.decl}, stack...)
		for _, o := range edits.Operators {
			for _, ch := range o.At(f.Code, n, stack) {
				all = append(all, &candidate{changes: []edits.Change{ch}, what: o.Name, rank: cmp.Or(ranks[o.Name], 4),
					function: f})
			}
		}
	})
	return all
}

// importer imports what both packages need.
func (s *Search) importer(set *token.FileSet) (types.Importer, error) {
	if s.Precompiled != nil {
		return edits.From(s.Precompiled.Archives(), set), nil
	}
	e := s.Code[0].Exercise
	own := compile.Module(s.Root) + "/exercises/" + e.Package
	return edits.Compiled(s.Root, set, own, compile.Steps, "errors", "fmt", "math", "math/bits", "slices")
}
