package lsp

import (
	"path/filepath"
	"runtime"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestSpan(t *testing.T) {
	const text = "package slab\r\n\n\tx := \"𝄞é\"; count := 1 // ü \n  \nлічильник := 2\n"
	at := func(line, from, to int) textRange { return textRange{position{line, from}, position{line, to}} }
	for name, c := range map[string]struct {
		line, column int
		want         textRange
	}{
		"a line":                        {1, 0, at(0, 0, 12)},
		"a word":                        {1, 9, at(0, 8, 12)},
		"an empty line":                 {2, 0, at(1, 0, 0)},
		"blanks around it":              {3, 0, at(2, 1, 28)},
		"a word behind a surrogate":     {3, 17, at(2, 13, 18)},
		"a byte within a character":     {3, 9, at(2, 7, 9)},
		"a column behind the line":      {3, 900, at(2, 29, 29)},
		"nothing but blanks":            {4, 0, at(3, 0, 0)},
		"a word of other letters":       {5, 1, at(4, 0, 9)},
		"a sign":                        {5, 20, at(4, 10, 11)},
		"a line behind the end":         {77, 0, at(4, 0, 14)},
		"a line before the beginning":   {0, 0, at(0, 0, 12)},
		"a line and a column of no use": {-3, -3, at(0, 0, 12)},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, span(text, c.line, c.column)) })
	}
	require.Equal(t, at(0, 0, 0), span("", 5, 5))
	require.Equal(t, at(0, 0, 3), span("a\xffb", 1, 0), "a byte that is no UTF-8")
}

// FuzzSpan asks for any place in any text: it lies within its line.
func FuzzSpan(f *testing.F) {
	f.Add("package slab\r\n\n\tx := \"𝄞é\"\n", 3, 8)
	f.Add("\xf0\x9d\n", 1, 2)
	f.Fuzz(func(t *testing.T, text string, line, column int) {
		r := span(text, line, column)
		require.GreaterOrEqual(t, r.Start.Line, 0)
		require.Equal(t, r.Start.Line, r.End.Line)
		require.True(t, 0 <= r.Start.Character && r.Start.Character <= r.End.Character, "%v", r)
		require.LessOrEqual(t, r.End.Character, utf16Length(text))
		if utf8.ValidString(text) {
			require.LessOrEqual(t, r.End.Character, 2*utf8.RuneCountInString(text))
		}
	})
}

func TestURIs(t *testing.T) {
	for _, uri := range []string{"untitled:Untitled-1", "http://x/y.go", "file://elsewhere/y.go", "file:", "%zz", "",
		"file:y.go"} {
		_, ok := pathOf(uri)
		require.False(t, ok, uri)
	}
	if runtime.GOOS == "windows" {
		got, ok := pathOf("file:///c%3A/a%20b/c.go")
		require.True(t, ok)
		require.Equal(t, `c:\a b\c.go`, got)
		return
	}
	got, ok := pathOf("file:///a%20b/%C3%9Cbung%231/../c.go")
	require.True(t, ok)
	require.Equal(t, "/a b/c.go", got)
	for _, path := range []string{"/a b/Übung#1?/c%41.go", filepath.Join(t.TempDir(), "x.go")} {
		got, ok := pathOf(uriOf(path))
		require.True(t, ok)
		require.Equal(t, path, got)
	}
}

func TestPlain(t *testing.T) {
	require.Equal(t, "`a_b` \\*Allocator.Free streams\\[0\\]", plain("`a_b` *Allocator.Free streams[0]"))
	require.Equal(t, "\\`a\\_b", plain("`a_b"))
}
