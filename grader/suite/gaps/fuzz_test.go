package gaps_test

import (
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/gaps"
)

// FuzzFind looks for gaps in any bytes, and holds what is found to the tokens.
func FuzzFind(f *testing.F) {
	skeletons, err := filepath.Glob("../../../lessons/*.skeleton.go.txt")
	require.NoError(f, err)
	require.NotEmpty(f, skeletons)
	for _, path := range skeletons {
		text, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(text)
	}
	for _, text := range []string{
		"package x\n\nvar a, b = c.TODO(`1a`), c.TODO(\"\\u0031b\",)\n",
		"package x\n\n// TODO(1a): TODO(1b): both. More.\n/* TODO(1b */\nfunc f() { c.TODO(\"1a\"); " +
			"c.d.TODO(\"1a\")(c.TODO(\"9\")) }\n",
		"package x\n\n//line y.go:100\nvar a = (c.TODO)(\"1a\"); var b = c.TODO(name); var c = c.TODO((\"2a\"), 3)\n",
		"package x\n\n//line y.go:100\nvar a = c.\n\tTODO(\"1a\")\n",
		"package x func",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "x.go")
		require.NoError(t, os.WriteFile(path, text, 0o600))
		found, err := gaps.Find(filepath.Dir(path))
		require.NoError(t, err)
		if _, err := parser.ParseFile(token.NewFileSet(), "", text, 0); err != nil {
			require.Empty(t, found)
			return
		}
		first := calls(text)
		var ids []string
		for _, gap := range found {
			require.Equal(t, path, gap.File)
			line, ok := first[gap.ID]
			require.True(t, ok, "the file has no call TODO(%q)", gap.ID)
			// c.⏎TODO
			require.True(t, 1 <= gap.Line && gap.Line <= line, "TODO(%q) is in line %d, not %d", gap.ID, line, gap.Line)
			ids = append(ids, gap.ID)
			delete(first, gap.ID)
		}
		require.Empty(t, first, "gaps that were not found")
		require.True(t, slices.IsSorted(ids), "%q", ids)
	})
}

// calls are the lines of the first x.TODO("1a") for each ID, by the tokens alone.
func calls(text []byte) map[string]int {
	type place struct {
		kind token.Token
		text string
		line int
	}
	set := token.NewFileSet()
	file := set.AddFile("x.go", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	var tokens []place
	for {
		pos, kind, text := s.Scan()
		if kind == token.EOF {
			break
		}
		tokens = append(tokens, place{kind, text, set.PositionFor(pos, false).Line})
	}
	lines := map[string]int{}
	kinds := []token.Token{token.PERIOD, token.IDENT, token.LPAREN, token.STRING}
	for i := range tokens {
		call := tokens[i:min(i+len(kinds)+2, len(tokens))]
		if len(call) <= len(kinds) || call[1].text != "TODO" ||
			!slices.EqualFunc(call[:len(kinds)], kinds, func(p place, kind token.Token) bool { return p.kind == kind }) {
			continue
		}
		end := call[len(kinds)].kind
		if end == token.RPAREN || end == token.COMMA && len(call) > 5 && call[5].kind == token.RPAREN {
			id, err := strconv.Unquote(call[3].text)
			if _, seen := lines[id]; err == nil && !seen {
				lines[id] = call[0].line
			}
		}
	}
	return lines
}
