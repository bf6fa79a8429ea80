// Package mutants makes mutants of the solutions: programs that differ from one in a single place, as a slip of the
// hand would leave it. Nearly all of them are wrong, so a suite that lets one pass has a question it does not ask. It
// also writes the solutions in other styles, as right as they were: a suite that fails one of those goes by how it was written.
//
// Only tests use it. `go test ./grader/proof/mutants -run TestMutants -mutants all` checks all of them on the simulator.
package mutants

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// Mutant is one changed solution. All of them compile, and no two of a solution are the same program.
type Mutant struct {
	// ID says what is changed: the function, the operator, the text before and after. It stays the same as long as that
	// text does, however the lines around it move. Where one function has several with the same texts they are numbered.
	ID   string
	File string // the one that is changed, without its folder
	Line int    // where the change begins, from 1 on
	Text string // the whole file
}

// change is what an operator does: the text from one position to another is replaced.
type change struct {
	from, to token.Pos
	text     string
	shown    ast.Node // what the ID quotes of the source; the change lies in it
}

// operator makes the changes of one kind at a node. Stack are the nodes around it, the innermost last.
type operator struct {
	name string
	at   func(c *code, n ast.Node, stack []ast.Node) []change
}

var operators = slices.Concat(expressionOperators, statementOperators, callOperators)

// Of makes the mutants of a package of solutions, in the course at root. Where a change leaves a variable or an import
// without use, that is dropped as well; what still does not compile is left out.
func Of(root, exercisePackage string) ([]Mutant, error) {
	c, err := load(root, exercisePackage)
	if err != nil {
		return nil, err
	}
	var all []Mutant
	for _, f := range c.files {
		all = append(all, c.mutants(f)...)
	}
	return all, nil
}

func (c *code) mutants(f *file) []Mutant {
	var all []Mutant
	times := map[string]int{}
	seen := map[string]bool{plain(f.text): true}
	ast.PreorderStack(f.syntax, nil, func(n ast.Node, stack []ast.Node) bool {
		if c.isWords(n, stack) {
			return false
		}
		for _, o := range operators {
			for _, ch := range o.at(c, n, stack) {
				text := f.with(ch)
				if seen[plain(text)] {
					continue
				}
				seen[plain(text)] = true
				id := fmt.Sprintf("%s: %s: %s", functionOf(stack), o.name, f.describe(ch))
				if times[id]++; times[id] > 1 {
					id = fmt.Sprintf("%s #%d", id, times[id])
				}
				if text, ok := c.compile(f, text); ok {
					all = append(all, Mutant{id, f.name, c.set.Position(ch.from).Line, text})
				}
			}
		}
		return true
	})
	slices.SortStableFunc(all, func(a, b Mutant) int { return cmp.Compare(a.Line, b.Line) })
	return all
}

// isWords reports whether a node is a value that goes into the text of an error. Nobody judges those.
func (c *code) isWords(n ast.Node, stack []ast.Node) bool {
	if len(stack) == 0 {
		return false
	}
	call, ok := stack[len(stack)-1].(*ast.CallExpr)
	if !ok || n == call.Fun || c.text(call.Fun) != "fmt.Errorf" {
		return false
	}
	_, format := n.(*ast.BasicLit)
	return !format && !isError(c.typeOf(n.(ast.Expr)))
}

// with is the file's text with a change.
func (f *file) with(ch change) string {
	return f.between(f.syntax.FileStart, ch.from) + ch.text + f.between(ch.to, f.syntax.FileEnd)
}

// describe is what a change makes of what it shows, "n + 1 => n - 1", each no longer than its first line. The question
// for an error is shown with the call before it.
func (f *file) describe(ch change) string {
	from, to := ch.shown.Pos(), ch.shown.End()
	before := firstLine(f.between(from, to))
	after := firstLine(ch.text)
	if from <= ch.from && ch.to <= to {
		whole := firstLine(f.between(from, ch.from) + ch.text + f.between(ch.to, to))
		if whole != before {
			after = whole
		}
	}
	if s, ok := ch.shown.(*ast.IfStmt); ok && s.Init == nil && f.previous[s] != nil && strings.HasPrefix(before, "if err ") {
		before = firstLine(f.between(f.previous[s].Pos(), f.previous[s].End())) + "; " + before
	}
	return before + " => " + cmp.Or(after, "nothing")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return plain(line)
}

// plain is a text without what its layout adds.
func plain(text string) string { return strings.Join(strings.Fields(text), " ") }

// functionOf is the function that a node is in, methods as "Arena.Alloc", by the nodes around it.
func functionOf(stack []ast.Node) string {
	for _, n := range stack {
		f, ok := n.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if f.Recv == nil {
			return f.Name.Name
		}
		receiver := f.Recv.List[0].Type
		if star, ok := receiver.(*ast.StarExpr); ok {
			receiver = star.X
		}
		return receiver.(*ast.Ident).Name + "." + f.Name.Name
	}
	return "package"
}
