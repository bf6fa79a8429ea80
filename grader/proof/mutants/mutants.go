// Package mutants makes mutants of the solutions: programs that differ from one in a single place, as a slip of the
// hand would leave it. Nearly all of them are wrong, so a suite that lets one pass has a question it does not ask. It
// also writes the solutions in other styles, as right as they were: a suite that fails one of those goes by how it was
// written.
//
// Only tests use it. `go test ./grader/proof/mutants -run TestMutants -mutants all` checks all of them on the
// simulator.
package mutants

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"cudalab/grader/judge/edits"
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

// Of makes the mutants of a package of solutions, in the course at root. Where a change leaves a variable or an import
// without use, that is dropped as well; what still does not compile is left out.
func Of(root, exercisePackage string) ([]Mutant, error) {
	c, err := load(root, exercisePackage)
	if err != nil {
		return nil, err
	}
	var all []Mutant
	for _, f := range c.Files {
		all = append(all, mutantsIn(c, f)...)
	}
	return all, nil
}

func mutantsIn(c *edits.Code, f *edits.File) []Mutant {
	var all []Mutant
	times := map[string]int{}
	seen := map[string]bool{edits.Plain(f.Text): true}
	ast.PreorderStack(f.Syntax, nil, func(n ast.Node, stack []ast.Node) bool {
		if isWords(c, n, stack) {
			return false
		}
		for _, o := range edits.Operators {
			for _, ch := range o.At(c, n, stack) {
				text := f.With(ch)
				if seen[edits.Plain(text)] {
					continue
				}
				seen[edits.Plain(text)] = true
				id := fmt.Sprintf("%s: %s: %s", functionOf(stack), o.Name, describe(f, ch))
				if times[id]++; times[id] > 1 {
					id = fmt.Sprintf("%s #%d", id, times[id])
				}
				if text, ok := c.Compile(f, text); ok {
					all = append(all, Mutant{id, f.Name, c.Set.Position(ch.From).Line, text})
				}
			}
		}
		return true
	})
	slices.SortStableFunc(all, func(a, b Mutant) int { return cmp.Compare(a.Line, b.Line) })
	return all
}

// isWords reports whether a node is a value that goes into the text of an error. Nobody judges those.
func isWords(c *edits.Code, n ast.Node, stack []ast.Node) bool {
	if len(stack) == 0 {
		return false
	}
	call, ok := stack[len(stack)-1].(*ast.CallExpr)
	if !ok || n == call.Fun || c.Text(call.Fun) != "fmt.Errorf" {
		return false
	}
	_, format := n.(*ast.BasicLit)
	return !format && !edits.IsError(c.TypeOf(n.(ast.Expr)))
}

// describe is what a change makes of what it shows, "n + 1 => n - 1", each no longer than its first line. The question
// for an error is shown with the call before it.
func describe(f *edits.File, ch edits.Change) string {
	from, to := ch.Shown.Pos(), ch.Shown.End()
	before := firstLine(f.Between(from, to))
	after := firstLine(ch.Text)
	if from <= ch.From && ch.To <= to {
		whole := firstLine(f.Between(from, ch.From) + ch.Text + f.Between(ch.To, to))
		if whole != before {
			after = whole
		}
	}
	if s, ok := ch.Shown.(*ast.IfStmt); ok && s.Init == nil && f.Previous[s] != nil && strings.HasPrefix(before,
		"if err ") {
		before = firstLine(f.Between(f.Previous[s].Pos(), f.Previous[s].End())) + "; " + before
	}
	return before + " => " + cmp.Or(after, "nothing")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return edits.Plain(line)
}

// functionOf is the function that a node is in, methods as "Arena.Alloc", by the nodes around it.
func functionOf(stack []ast.Node) string {
	for _, n := range stack {
		if f, ok := n.(*ast.FuncDecl); ok {
			return edits.FunctionName(f)
		}
	}
	return "package"
}

// load reads the solution of an exercise and works out its types.
func load(root, exercisePackage string) (*edits.Code, error) {
	return edits.Load(root, filepath.Join(root, "solutions", exercisePackage), "cudalab/solutions/"+exercisePackage,
		token.NewFileSet(), nil)
}
