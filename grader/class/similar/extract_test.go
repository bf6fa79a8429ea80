package similar_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"go/types"
	"math/rand/v2"
	"slices"
	"strings"
)

// extracted moves up to three pieces of the functions into functions of their own.
func extracted(c *checker, r *rand.Rand, text string) (string, bool) {
	moved := 0
	for n := range 3 {
		s := c.open(text)
		var pieces []piece
		for _, d := range s.file.Decls {
			if f, isFunc := d.(*ast.FuncDecl); isFunc && f.Body != nil && !strings.HasPrefix(f.Name.Name, "stepOf") {
				pieces = append(pieces, s.pieces(f)...)
			}
		}
		r.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
		for _, p := range pieces {
			if made, ok := c.whole(p.extract(text, fmt.Sprintf("stepOf%d", n)), true); ok {
				text = made
				moved++
				break
			}
		}
	}
	return text, moved > 0
}

// piece is statements in a row that may become a function.
type piece struct {
	*source
	in   *ast.FuncDecl
	list []ast.Stmt
	tail []ast.Stmt // of its block, behind it
}

func (p piece) size() int { return int(p.list[len(p.list)-1].End() - p.list[0].Pos()) }

// pieces are those of a function: no less than 60 bytes, and not all of a body.
func (s *source) pieces(f *ast.FuncDecl) []piece {
	var found []piece
	ast.Inspect(f.Body, func(n ast.Node) bool {
		block, isBlock := n.(*ast.BlockStmt)
		if !isBlock {
			_, closure := n.(*ast.FuncLit)
			return !closure
		}
		for i := range block.List {
			for j := i + 1; j <= len(block.List); j++ {
				p := piece{source: s, in: f, list: block.List[i:j], tail: block.List[j:]}
				if whole := block == f.Body && j-i == len(block.List); !whole && p.size() >= 60 {
					found = append(found, p)
				}
			}
		}
		return true
	})
	return found
}

// extract is the program's text with the piece as a function; "" where that cannot be.
func (p piece) extract(text, name string) string {
	begin, end := p.list[0].Pos(), p.list[len(p.list)-1].End()
	inside := func(pos token.Pos) bool { return begin <= pos && pos < end }
	local := func(id *ast.Ident) *types.Var {
		v, isVar := cmpObject(p.info, id).(*types.Var)
		if !isVar || v.IsField() || v.Parent() == nil || v.Parent() == p.pkg.Scope() || v.Parent() == types.Universe {
			return nil
		}
		return v
	}
	var params, outs []*types.Var
	var returns []*ast.ReturnStmt
	possible := true
	written := map[*types.Var]bool{}
	for _, stmt := range p.list {
		ast.Inspect(stmt, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit, *ast.BranchStmt, *ast.DeferStmt, *ast.LabeledStmt:
				possible = false
			case *ast.ReturnStmt:
				returns = append(returns, n)
			case *ast.AssignStmt:
				for _, left := range n.Lhs {
					if id, isName := left.(*ast.Ident); isName {
						if v := local(id); v != nil && !inside(v.Pos()) {
							written[v] = true
						}
					}
				}
			case *ast.IncDecStmt:
				if id, isName := n.X.(*ast.Ident); isName && local(id) != nil && !inside(local(id).Pos()) {
					written[local(id)] = true
				}
			case *ast.Ident:
				if v := local(n); v != nil && !inside(v.Pos()) && !slices.Contains(params, v) {
					params = append(params, v)
				}
			}
			return true
		})
	}
	for _, stmt := range p.tail {
		ast.Inspect(stmt, func(n ast.Node) bool {
			if id, isName := n.(*ast.Ident); isName {
				if v := local(id); v != nil && inside(v.Pos()) && !slices.Contains(outs, v) {
					outs = append(outs, v)
				}
			}
			return true
		})
	}
	fresh := len(outs)
	for _, v := range params {
		if written[v] {
			outs = append(outs, v)
		}
	}
	results := p.info.Defs[p.in.Name].Type().(*types.Signature).Results()
	fails := results.Len() > 0 && types.TypeString(results.At(results.Len()-1).Type(), nil) == "error"
	if !possible || len(returns) > 0 && (len(outs) > 0 || !fails) || fresh > 0 && fresh < len(outs) {
		return ""
	}
	code := text[p.offset(begin):p.offset(end)]
	var head string // of what a return answers beside its error
	for i := len(returns) - 1; i >= 0; i-- {
		r := returns[i]
		if len(r.Results) != results.Len() || types.ExprString(r.Results[results.Len()-1]) == "nil" {
			return ""
		}
		last := r.Results[results.Len()-1]
		head = text[p.offset(r.Pos()):p.offset(last.Pos())]
		from := p.offset(begin)
		code = code[:p.offset(r.Pos())-from] + "return " +
			text[p.offset(last.Pos()):p.offset(last.End())] + code[p.offset(r.End())-from:]
	}
	var names, arguments, kinds []string
	for _, v := range outs {
		names, kinds = append(names, v.Name()), append(kinds, p.typeOf(v))
	}
	var given []string
	for _, v := range params {
		given, arguments = append(given, v.Name()+" "+p.typeOf(v)), append(arguments, v.Name())
	}
	call := fmt.Sprintf("%s(%s)", name, strings.Join(arguments, ", "))
	answer := "(" + strings.Join(kinds, ", ") + ")"
	switch {
	case len(returns) > 0:
		call = fmt.Sprintf("if err := %s; err != nil {\n%serr\n}", call, head)
		code, answer = code+"\nreturn nil", "error"
	case fresh > 0:
		call = strings.Join(names, ", ") + " := " + call
	case len(outs) > 0:
		call = strings.Join(names, ", ") + " = " + call
	}
	if len(outs) > 0 {
		code += "\nreturn " + strings.Join(names, ", ")
	}
	made := text[:p.offset(begin)] + call + text[p.offset(end):] +
		fmt.Sprintf("\nfunc %s(%s) %s {\n%s\n}\n", name, strings.Join(given, ", "), answer, code)
	tidy, err := format.Source([]byte(made))
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(tidy)) + "\n"
}

func (s *source) offset(pos token.Pos) int { return s.set.Position(pos).Offset }

func (s *source) typeOf(v *types.Var) string {
	return types.TypeString(v.Type(), func(p *types.Package) string {
		if p == s.pkg {
			return ""
		}
		return p.Name()
	})
}

func cmpObject(info *types.Info, id *ast.Ident) types.Object {
	if obj := info.Defs[id]; obj != nil {
		return obj
	}
	return info.Uses[id]
}
