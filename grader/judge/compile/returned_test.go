package compile

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Exported functions say where they return, and those whose answer they return; nothing else does.
func TestCodeTellsWhereItReturns(t *testing.T) {
	const file = `package p

func Run(n int) error {
	f := func() int { return 1 }
	if n < f() { return helper(n) }
	switch {
	case n > 2: return other()
	}
	for { return nil }
}
func helper(n int) error { return other() }
func other() error { return nil }
func alone() error { return nil }
`
	made := string(telling([]byte(file), false, true))
	require.Equal(t, strings.Count(file, "\n"), strings.Count(made, "\n"))
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "", made, parser.SkipObjectResolution)
	require.NoError(t, err)
	var told []string
	ast.Inspect(f, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			if of, ok := a.Lhs[0].(*ast.IndexExpr); ok {
				function, line := of.Index.(*ast.BasicLit).Value, a.Rhs[0].(*ast.BasicLit).Value
				told = append(told, function+":"+line)
			}
		}
		return true
	})
	require.Equal(t, []string{"0:5", "0:7", "0:9", "1:11", "2:12"}, told)
	const nothing = "package p\n\nfunc Run() {}\n" // an import that is not used would not compile
	require.Equal(t, nothing, string(telling([]byte(nothing), false, true)))
	require.Equal(t, "package p\n", string(telling([]byte("package p\n"), false, true)))
}
