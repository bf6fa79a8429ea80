package carry

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"cudalab/grader/suite/gaps"
)

// source is a Go file in parts.
type source struct {
	all     []string // lines
	chunks  []*chunk // the declarations but for imports, in order, and what stands before and behind them
	gaps    []gap    // in order
	imports []spec
	file    *ast.File
}

// chunk is a declaration with its comments and what else stands before it: the lines from, to exclusively.
type chunk struct {
	key      string
	from, to int
}

// gap is a TODO of a skeleton's: its comment, and the statement that calls contract.TODO.
type gap struct {
	id       string
	chunk    string // the key of the declaration that it stands in
	from, to int
	lines    []string
}

// spec is an import.
type spec struct{ name, path string }

// read takes a file apart, laid out as gofmt does.
func read(text []byte) (*source, error) {
	text, err := format.Source(text)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	line := func(p token.Pos) int { return set.PositionFor(p, false).Line - 1 }
	s := &source{all: strings.Split(strings.TrimRight(string(text), "\n"), "\n"), file: file}
	s.add("the package clause", 0, line(file.Name.End())+1)
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			after := line(d.End()) + 1
			s.chunks = append(s.chunks, &chunk{"", after, after}) // imports are left out: an empty chunk ends behind them
			continue
		}
		s.add(keyOf(d), s.end(), line(d.End())+1)
		s.addGaps(d, line)
	}
	s.add("the end of the file", s.end(), len(s.all))
	for _, i := range file.Imports {
		name := ""
		if i.Name != nil {
			name = i.Name.Name
		}
		s.imports = append(s.imports, spec{name, i.Path.Value})
	}
	return s, nil
}

// add adds a chunk. A second one of a name, as of func init, has another key.
func (s *source) add(key string, from, to int) {
	for s.chunk(key) != nil {
		key += " (another)"
	}
	s.chunks = append(s.chunks, &chunk{key, from, max(from, to)})
}

func (s *source) end() int { return s.chunks[len(s.chunks)-1].to }

// addGaps adds the gaps of a declaration.
func (s *source) addGaps(d ast.Decl, line func(token.Pos) int) {
	key := s.chunks[len(s.chunks)-1].key
	ast.Inspect(d, func(n ast.Node) bool {
		var list []ast.Stmt
		switch n := n.(type) {
		case *ast.BlockStmt:
			list = n.List
		case *ast.CaseClause:
			list = n.Body
		}
		for _, stmt := range list {
			ids := gaps.In(stmt)
			if len(ids) != 1 || innerBlockHas(stmt, ids[0]) || s.gap(ids[0]) != nil {
				continue
			}
			g := gap{id: ids[0], chunk: key, from: line(stmt.Pos()), to: line(stmt.End()) + 1}
			for _, c := range s.file.Comments {
				if line(c.End()) == g.from-1 && line(c.Pos()) > s.chunks[len(s.chunks)-1].from {
					g.from = line(c.Pos())
				}
			}
			g.lines = s.all[g.from:g.to]
			s.gaps = append(s.gaps, g)
		}
		return true
	})
}

// innerBlockHas reports whether it is a statement within a statement that has the gap. The guard of a gap is one that
// begins with it.
func innerBlockHas(stmt ast.Stmt, id string) bool {
	found := false
	ast.Inspect(stmt, func(n ast.Node) bool {
		if b, ok := n.(*ast.BlockStmt); ok && n != stmt {
			found = found || slices.Contains(gaps.In(b), id)
		}
		return !found
	})
	return found
}

// keyOf tells declarations apart: "func (*Allocator) Free", "type class".
func keyOf(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil && len(d.Recv.List) > 0 {
			return "func (" + types.ExprString(d.Recv.List[0].Type) + ") " + d.Name.Name
		}
		return "func " + d.Name.Name
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				return "type " + spec.Name.Name
			case *ast.ValueSpec:
				return d.Tok.String() + " " + spec.Names[0].Name
			}
		}
		return "empty " + d.Tok.String()
	}
	return "a declaration"
}

func (s *source) chunk(key string) *chunk {
	for _, c := range s.chunks {
		if c.key == key && key != "" {
			return c
		}
	}
	return nil
}

func (s *source) gap(id string) *gap {
	for i := range s.gaps {
		if s.gaps[i].id == id {
			return &s.gaps[i]
		}
	}
	return nil
}

// lines are a chunk's.
func (s *source) lines(c *chunk) []string { return s.all[c.from:c.to] }

// code are all lines but those of imports, without their indentation.
func (s *source) code() (lines []string) {
	for _, c := range s.chunks {
		for _, line := range s.lines(c) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// words are a gap's, without its ID: what is to be done there.
func words(g gap) string {
	text := strings.Join(strings.Fields(strings.ReplaceAll(strings.Join(g.lines, " "), "//", " ")), " ")
	return strings.ReplaceAll(strings.ReplaceAll(text, "TODO("+g.id+")", ""), `TODO("`+g.id+`")`, "")
}
