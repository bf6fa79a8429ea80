package markdown

import (
	"go/scanner"
	"go/token"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// The colours of code.
var (
	commentLook = look{color: ansi.BrightBlack}
	keywordLook = look{color: ansi.Blue}
	typeLook    = look{color: ansi.Cyan}
	stringLook  = look{color: ansi.Green}
	numberLook  = look{color: ansi.Magenta}
)

// goTypes and cpp are the words that look as types and as keywords.
var (
	goTypes = strings.Fields("any bool byte error float32 float64 int int8 int16 int32 int64 rune string uint uint8 " +
		"uint16 uint32 uint64 uintptr")
	cpp = strings.Fields("auto bool char const double else extern float for if int long namespace return sizeof static " +
		"struct switch template typename unsigned using void while __global__ __device__ __shared__ __host__")
)

// highlight is code in lines, in colours where they help to read the language. C++ has the comments, strings and
// numbers of Go, so one scanner does for both, which takes a part of a program as well as a whole one.
func (l layout) highlight(code, language string) []string {
	code = strings.Trim(code, "\n")
	if language != "go" && language != "cpp" {
		return strings.Split(code, "\n")
	}
	var s scanner.Scanner
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(code))
	s.Init(file, []byte(code), func(token.Position, string) {}, scanner.ScanComments)
	var b strings.Builder
	done := 0
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			break
		}
		k, ok := lookOf(tok, literal, language)
		if !ok {
			continue
		}
		at := file.Offset(pos)
		b.WriteString(code[done:at])
		done = at + len(literal)
		for i, line := range strings.Split(code[at:done], "\n") {
			if i > 0 {
				b.WriteString("\n")
			}
			b.WriteString(l.show(line, k))
		}
	}
	return strings.Split(b.String()+code[done:], "\n")
}

// lookOf is how a token looks, where it has a look of its own.
func lookOf(t token.Token, literal, language string) (look, bool) {
	switch {
	case t == token.COMMENT:
		return commentLook, true
	case t == token.STRING, t == token.CHAR:
		return stringLook, true
	case t == token.INT, t == token.FLOAT, t == token.IMAG:
		return numberLook, true
	case language == "go" && t.IsKeyword(), language == "cpp" && (t == token.IDENT || t.IsKeyword()) &&
		slices.Contains(cpp, literal):
		return keywordLook, true
	case language == "go" && t == token.IDENT && slices.Contains(goTypes, literal):
		return typeLook, true
	}
	return look{}, false
}
