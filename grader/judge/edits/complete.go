package edits

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"cudalab/grader/suite/gaps"
)

// Filled is a function that is as the solution has it, in one line.
type Filled struct {
	*ast.FuncDecl
	Line int
}

// Complete is a file in which each function that nothing is written in is as the solution has it. All other lines are
// as they were. It is not ok where that cannot be done.
func Complete(own, skeleton, solution string) (text string, filled []Filled, ok bool) {
	mine, err := parse(own)
	if err != nil {
		return "", nil, false
	}
	before, err := parse(skeleton)
	if err != nil {
		return "", nil, false
	}
	theirs, err := parse(solution)
	if err != nil {
		return "", nil, false
	}
	from := mine.FileStart
	between := func(to token.Pos) string { return own[from-mine.FileStart : to-mine.FileStart] }
	for _, d := range mine.Decls {
		f, isFunc := d.(*ast.FuncDecl)
		if !isFunc || !isOpen(f, before) {
			continue
		}
		solved := named(theirs, FunctionName(f))
		if solved == nil {
			return "", nil, false
		}
		line, ok := oneLine(solution[solved.Pos()-theirs.FileStart : solved.End()-theirs.FileStart])
		if !ok {
			return "", nil, false
		}
		text += between(f.Type.Pos()) + line
		from = f.Type.Pos()
		text += strings.Repeat("\n", strings.Count(between(f.End()), "\n"))
		from = f.End()
		filled = append(filled, Filled{f, 1 + strings.Count(own[:f.Type.Pos()-mine.FileStart], "\n")})
	}
	text, ok = imported(text+between(mine.FileEnd), theirs)
	return text, filled, ok && len(filled) > 0
}

func parse(text string) (*ast.File, error) {
	return parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
}

// isOpen reports whether a function has all the gaps that it has in the skeleton.
func isOpen(f *ast.FuncDecl, skeleton *ast.File) bool {
	left := gaps.In(f)
	given := named(skeleton, FunctionName(f))
	return len(left) > 0 && given != nil && slices.Equal(left, gaps.In(given))
}

// named is a file's function of a name; nil where there is none.
func named(file *ast.File, name string) *ast.FuncDecl {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && FunctionName(f) == name {
			return f
		}
	}
	return nil
}

// oneLine is code in a line, without its comments.
func oneLine(code string) (string, bool) {
	var s scanner.Scanner
	set := token.NewFileSet()
	failed := false
	s.Init(set.AddFile("", -1, len(code)), []byte(code), func(token.Position, string) { failed = true }, 0)
	var all []string
	for {
		_, tok, text := s.Scan()
		switch {
		case tok == token.EOF:
			return strings.Join(all, " "), !failed
		case tok == token.SEMICOLON:
			text = ";"
		case text == "":
			text = tok.String()
		}
		if strings.Contains(text, "\n") {
			return "", false // a raw string
		}
		all = append(all, text)
	}
}

// imported is a file's text with those of another file's imports that it needs besides its own, and without those of
// its own that it does not need.
func imported(text string, other *ast.File) (string, bool) {
	file, err := parse(text)
	if err != nil {
		return "", false
	}
	used := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok {
				used[id.Name] = true
			}
		}
		return true
	})
	for _, spec := range slices.Backward(file.Imports) {
		if name := ImportName(spec); !used[name] && name != "_" && name != "." {
			from, to := spec.Pos()-file.FileStart, spec.End()-file.FileStart
			text = text[:from] + text[to:]
		}
		delete(used, ImportName(spec))
	}
	end := file.Name.End() - file.FileStart
	for _, spec := range other.Imports {
		if name := ImportName(spec); used[name] {
			text = text[:end] + fmt.Sprintf("; import %s %s", name, spec.Path.Value) + text[end:]
		}
	}
	return text, true
}

// ImportName is the name that a file has for what it imports.
func ImportName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	of, _ := strconv.Unquote(spec.Path.Value)
	return path.Base(of)
}
