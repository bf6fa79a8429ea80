package corpus

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"cudalab/grader/suite/gaps"
)

// fillUpTo is the skeleton with the gaps up to one filled by the code of the solution, and those behind it open: what a
// student has who has come so far and is right. Cuts tells, by the gap, which line of the solution is the first behind
// its code; that has to be known of a gap that is not the last of its function.
func fillUpTo(skeleton, solution, upTo string, cuts map[string]string) (string, error) {
	from, err := functionsOf(skeleton)
	if err != nil {
		return "", err
	}
	to, err := functionsOf(solution)
	if err != nil {
		return "", err
	}
	slices.Reverse(to) // so that what is replaced moves nothing that is still to be replaced
	text := solution
	for _, f := range to {
		i := slices.IndexFunc(from, func(s function) bool { return s.name == f.name })
		if i < 0 {
			return "", fmt.Errorf("the skeleton has no function %s", f.name)
		}
		body, err := from[i].filled(f, upTo, cuts)
		if err != nil {
			return "", err
		}
		text = text[:f.from] + body + text[f.to:]
	}
	return tidied(text)
}

// function is a function's declaration, or a method's, in a text.
type function struct {
	name     string
	from, to int // of its body, with the braces
	text     string
	gaps     []openGap
}

// openGap is a statement of a function's that answers a gap, and where it ends.
type openGap struct {
	id  string
	end int // in the function's text
}

func functionsOf(text string) ([]function, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var all []function
	for _, d := range file.Decls {
		d, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		f := function{name: d.Name.Name, from: set.Position(d.Body.Pos()).Offset, to: set.Position(d.Body.End()).Offset}
		if d.Recv != nil {
			var of bytes.Buffer
			_ = format.Node(&of, set, d.Recv.List[0].Type) // to a Buffer, which takes everything
			f.name = of.String() + "." + f.name
		}
		f.text = text[f.from:f.to]
		for _, s := range d.Body.List {
			for _, id := range gaps.In(s) {
				if !slices.ContainsFunc(f.gaps, func(g openGap) bool { return g.id == id }) {
					f.gaps = append(f.gaps, openGap{id, set.Position(s.End()).Offset - f.from})
				}
			}
		}
		all = append(all, f)
	}
	return all, nil
}

// filled is the body of a function of the skeleton with its gaps up to one filled as in the solution.
func (f *function) filled(solution function, upTo string, cuts map[string]string) (string, error) {
	open := slices.IndexFunc(f.gaps, func(g openGap) bool { return g.id > upTo })
	switch {
	case open < 0:
		return solution.text, nil
	case open == 0:
		return f.text, nil
	}
	last := f.gaps[open-1]
	first, told := cuts[last.id]
	if !told {
		return "", fmt.Errorf("%s has gaps behind %s: say in cuts.txt which line of the solution is the first behind "+
			"its code", f.name, last.id)
	}
	at := 0
	for line := range strings.Lines(solution.text) {
		if strings.TrimSpace(line) == first {
			return solution.text[:at] + strings.TrimLeft(f.text[last.end:], "\n"), nil
		}
		at += len(line)
	}
	return "", fmt.Errorf("cuts.txt says that the code for %s ends before a line that the solution's %s does not have: %q",
		last.id, f.name, first)
}

// tidied is a program without imports that nothing uses, in which each variable is used.
func tidied(text string) (string, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.ParseComments)
	if err != nil {
		return "", fmt.Errorf("%w in\n%s", err, text)
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
	type change struct {
		from, to int
		text     string
	}
	var changes []change
	offset := func(p token.Pos) int { return set.Position(p).Offset }
	imported := map[string]bool{}
	for _, s := range file.Imports {
		name, err := strconv.Unquote(s.Path.Value)
		if err != nil {
			return "", err
		}
		imported[path.Base(name)] = true
		if !used[path.Base(name)] {
			changes = append(changes, change{offset(s.Pos()), offset(s.End()), ""})
		}
	}
	if at := offset(file.Imports[0].Pos()); used["contract"] && !imported["contract"] {
		changes = append(changes, change{at, at, "\"cudalab/exercises/contract\"\n"})
	}
	for _, d := range file.Decls {
		d, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		for _, name := range unused(d) {
			changes = append(changes, change{offset(name.end), offset(name.end), "\n_ = " + name.name})
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return b.from - a.from })
	for _, c := range changes {
		text = text[:c.from] + c.text + text[c.to:]
	}
	tidy, err := format.Source([]byte(text))
	return string(tidy), err
}

// declared is a variable and the end of the statement that declares it.
type declared struct {
	name string
	end  token.Pos
}

// unused are the variables that a function declares and does not read, as far as names tell.
func unused(f *ast.FuncDecl) (all []declared) {
	names := map[string]bool{}
	written := map[*ast.Ident]bool{}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				if x, ok := x.(*ast.Ident); ok {
					written[x] = true
				}
			}
		case *ast.ValueSpec:
			for _, x := range n.Names {
				written[x] = true
			}
		case *ast.Ident:
			if !written[n] {
				names[n.Name] = true
			}
		}
		return true
	})
	for _, s := range f.Body.List {
		switch s := s.(type) {
		case *ast.AssignStmt:
			for _, x := range s.Lhs {
				if x, ok := x.(*ast.Ident); ok && s.Tok == token.DEFINE && x.Name != "_" && !names[x.Name] {
					all = append(all, declared{x.Name, s.End()})
				}
			}
		case *ast.DeclStmt:
			for _, spec := range s.Decl.(*ast.GenDecl).Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && s.Decl.(*ast.GenDecl).Tok == token.VAR {
					for _, x := range v.Names {
						if !names[x.Name] {
							all = append(all, declared{x.Name, s.End()})
						}
					}
				}
			}
		}
	}
	return all
}
