package lessontest

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/verdict"
)

// earnsNothing sees to it that code in which everything is there and does nothing has no points: no check may be passed
// by what was never tried.
func earnsNothing(t *testing.T, r verdict.Report) {
	t.Helper()
	require.Equal(t, verdict.Failed, r.Status, describe(r))
	require.Zero(t, r.Score, describe(r))
}

// idle is a program with the bodies of its exported functions and methods taken out: they return zero values.
func idle(t *testing.T, program string) string {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", program, 0)
	require.NoError(t, err)
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.IsExported() {
			f.Body = &ast.BlockStmt{List: []ast.Stmt{zeros(f.Type.Results)}}
		}
	}
	used := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				used[x.Name] = true
			}
		}
		return true
	})
	file.Decls = slices.DeleteFunc(file.Decls, func(d ast.Decl) bool {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.IMPORT {
			return false
		}
		g.Specs = slices.DeleteFunc(g.Specs, func(s ast.Spec) bool {
			name, err := strconv.Unquote(s.(*ast.ImportSpec).Path.Value)
			require.NoError(t, err)
			return !used[path.Base(name)]
		})
		return len(g.Specs) == 0
	})
	var text bytes.Buffer
	require.NoError(t, format.Node(&text, files, file))
	return text.String()
}

// zeros returns a zero value of each type.
func zeros(results *ast.FieldList) *ast.ReturnStmt {
	r := &ast.ReturnStmt{}
	if results == nil {
		return r
	}
	for _, field := range results.List {
		for range max(len(field.Names), 1) {
			r.Results = append(r.Results, &ast.StarExpr{X: &ast.CallExpr{Fun: ast.NewIdent("new"),
				Args: []ast.Expr{field.Type}}})
		}
	}
	return r
}
