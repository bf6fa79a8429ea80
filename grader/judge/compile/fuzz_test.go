package compile

import (
	"bytes"
	"go/build"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzPolicy hands in any bytes as the exercise's file, under any name.
func FuzzPolicy(f *testing.F) {
	for _, name := range []string{"sample.go", "sample_linux.go", "_sample.go", "ä läb.go", "a:1.go", "sample_test.go",
		"sample.s"} {
		f.Add([]byte(header), name)
	}
	for _, body := range []string{
		"func f() {\n\tgo f()\n}\n", "\n//go:linkname f runtime.f\nfunc f()\n", "\n//go:embed secret\nvar s string\n",
		"//line other.go:7\nvar x = /*line other.go:7:1*/ 3\n", "func init() { cuda.StreamCreate() }\n",
		"type t[T any] struct{}\n\nfunc (t[T]) f() int { cuda.StreamCreate(); return 1 }\n\nvar s = t[int]{}.f()\n",
		"func f() { (contract.ErrArgument), x = nil, &contract.Table[3].y; contract.Count++ }\n",
		"func f() { for _, contract.E = range l {} }\n",
	} {
		f.Add([]byte(header+body), "sample.go")
	}
	for _, text := range []string{
		"package sample\n\nimport harmless \"unsafe\"\nimport `os`\nimport . \"strings\"\nimport _ \"C\"\n",
		"//go:build linux\n\n// +build linux\n\npackage sample\n", "\ufeffpackage sample\r\n", "package sample\n// gr\xfcn\n",
		"package sample;import\"fmt\";import(\"math/bits\";\"cudalab/kernels/\")", "package slab\n\nfunc {\n",
	} {
		f.Add([]byte(text), "sample.go")
	}
	api := newAPI(course)
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		dir := t.TempDir()
		if filepath.Base(name) != name || os.WriteFile(filepath.Join(dir, name), text, 0o600) != nil {
			t.Skip("no name of a file")
		}
		s := read(sample(dir), api)
		require.NoError(t, s.err)
		lines := 1 + bytes.Count(text, []byte("\n"))
		for _, r := range s.refusals {
			require.Contains(t, []string{dir, filepath.Join(dir, name)}, r.File)
			require.LessOrEqual(t, r.Line, lines)
			require.NotEmpty(t, r.Rule)
			for _, sentence := range []string{r.Message, r.Why, r.Fix} {
				require.True(t, strings.HasSuffix(sentence, "."), sentence)
			}
		}
		for _, e := range s.errors {
			require.Equal(t, filepath.Join(dir, name), e.File)
			require.True(t, 1 <= e.Line && e.Line <= lines, "%d of %d lines", e.Line, lines)
			require.NotEmpty(t, e.Message)
		}
		_, err := parser.ParseFile(token.NewFileSet(), "", text, 0)
		switch {
		case len(s.files) > 0:
			require.Equal(t, err != nil, len(s.errors) > 0, "the parser says %v", err)
		default:
			require.NotEmpty(t, s.refusals, "a folder without a file that is taken is refused")
		}
		if !s.bad() {
			requireHarmless(t, api, dir, name, text)
		}
	})
}

// requireHarmless holds what the policy has let through to it by other means: package compile, which the go command
// reads files with, and the tokens.
func requireHarmless(t *testing.T, api *api, dir, name string, text []byte) {
	for _, platform := range [][2]string{{"linux", "amd64"}, {"windows", "arm64"}, {"plan9", "386"}} {
		everywhere := build.Default
		everywhere.GOOS, everywhere.GOARCH, everywhere.CgoEnabled = platform[0], platform[1], true
		p, err := everywhere.ImportDir(dir, 0)
		require.NoError(t, err)
		require.Equal(t, []string{name}, p.GoFiles)
		require.Equal(t, "sample", p.Name)
		require.Empty(t, p.EmbedPatterns)
		require.Empty(t, p.Directives)
		for _, path := range p.Imports {
			require.True(t, slices.Contains(api.courses, path) || slices.Contains(standard, path), path)
		}
	}
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile(name, -1, len(text)), text, nil, scanner.ScanComments)
	for {
		_, kind, literal := s.Scan()
		switch {
		case kind == token.EOF:
			return
		case kind == token.COMMENT && strings.HasPrefix(literal, "//go:"):
			directive, _, _ := strings.Cut(strings.TrimSpace(literal), " ")
			require.Contains(t, harmless, directive)
		}
		require.NotEqual(t, token.GO, kind)
	}
}
