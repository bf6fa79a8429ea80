package lessontest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/proof/corpus"
	"cudalab/grader/proof/sample"
	"cudalab/grader/suite/verdict"
)

// edgesFile has the legal arguments at the edge of what a lesson's functions take, each as a function and a condition
// on its parameters. It is not there where a lesson has none.
const edgesFile = "edges.txt"

// mostOfOneSlip is how many checks the refusal of one legal edge value may cost: the one whose claim it breaks, and one
// other.
const mostOfOneSlip = 2

// refusesEachEdge has the solution refuse each legal edge value in turn.
func (b bench) refusesEachEdge(t *testing.T, solution corpus.Program) {
	text, err := os.ReadFile(filepath.Join("testdata", edgesFile))
	if os.IsNotExist(err) {
		return
	}
	require.NoError(t, err)
	edges := strings.Split(strings.TrimSpace(string(text)), "\n")
	runs := sample.Of(b.exercise.Name+" edges", len(edges), 1)
	for i, edge := range edges {
		if !runs(i) {
			continue
		}
		t.Run(strings.ReplaceAll(edge, "/", " by "), func(t *testing.T) {
			function, condition, _ := strings.Cut(edge, "  ")
			p := solution
			p.Text = refusing(t, solution.Text, function, condition)
			judge := b.enter(t, p)
			t.Parallel()
			r := judge(t).report
			var lost []string
			refused := false
			for _, c := range r.Checks {
				if c.Status != verdict.Passed {
					lost = append(lost, c.ID)
				}
				refused = refused || slices.ContainsFunc(c.Findings, func(f verdict.Finding) bool { return f.Refused })
			}
			require.NotEmpty(t, lost, "nobody asks for this edge")
			require.LessOrEqual(t, len(lost), mostOfOneSlip, "%v\n%s", lost, describe(r))
			require.True(t, refused, "nobody names it: %s", describe(r))
		})
	}
}

// refusing is a program in which a function, or a method as "Type.Name", answers contract.ErrArgument where a condition
// holds.
func refusing(t *testing.T, text, function, condition string) string {
	t.Helper()
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "", text, 0)
	require.NoError(t, err)
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || nameOf(fn) != function {
			continue
		}
		var results []string
		for _, r := range fn.Type.Results.List {
			of := text[files.Position(r.Type.Pos()).Offset:files.Position(r.Type.End()).Offset]
			for range max(len(r.Names), 1) {
				results = append(results, fmt.Sprintf("*new(%s)", of))
			}
		}
		results[len(results)-1] = "contract.ErrArgument"
		at := files.Position(fn.Body.Lbrace).Offset + 1
		answer := strings.Join(results, ", ")
		return fmt.Sprintf("%s\n\tif %s {\n\t\treturn %s\n\t}%s", text[:at], condition, answer, text[at:])
	}
	require.Fail(t, "the solution has no "+function)
	return ""
}

// nameOf is a function's name, a method's with its type.
func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	of := fn.Recv.List[0].Type
	if p, ok := of.(*ast.StarExpr); ok {
		of = p.X
	}
	if id, ok := of.(*ast.Ident); ok {
		return id.Name + "." + fn.Name.Name
	}
	return ""
}
