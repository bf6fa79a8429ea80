// Package statements finds the statement of the code under test that an answer of one of its functions comes of: where
// an error is returned, or should have been, where the number is kept that is told wrongly, where a block's address is
// made. Where several statements could be meant it finds none: it never guesses.
package statements

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"

	"cudalab/grader/suite/verdict"
)

// Code is the syntax of a folder with Go files.
type Code struct {
	set   *token.FileSet
	funcs map[string][]*ast.FuncDecl // by name, methods with the functions
}

// Read reads the Go files of a folder. Those that do not parse are left out.
func Read(dir string) *Code {
	c := &Code{set: token.NewFileSet(), funcs: map[string][]*ast.FuncDecl{}}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return c
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if syntax, err := parser.ParseFile(c.set, file, text, parser.SkipObjectResolution); err == nil {
			c.add(syntax)
		}
	}
	return c
}

func (c *Code) add(file *ast.File) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			c.funcs[f.Name.Name] = append(c.funcs[f.Name.Name], f)
		}
	}
}

// Of finds the statement that a function's answer comes of, and says what it is in a sentence.
func (c *Code) Of(function string, look verdict.Look) (place verdict.Place, what string, ok bool) {
	within := c.reached(function)
	if len(within) == 0 {
		return verdict.Place{}, "", false
	}
	at, what := c.find(function, within, look)
	if !at.IsValid() {
		return verdict.Place{}, "", false
	}
	p := c.set.Position(at)
	return verdict.Place{File: p.Filename, Line: p.Line, Func: function}, what, true
}

func (c *Code) find(function string, within []*ast.FuncDecl, look verdict.Look) (token.Pos, string) {
	end := c.ending(function, look.Return)
	switch {
	case look.Line > 0:
		return c.inLine(within, look.Line), "The last of these operations is made here."
	case look.Call != "":
		at, guarded := c.only(within, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			return ok && named(call.Fun) == look.Call
		})
		switch {
		case guarded:
			return at, "cuda." + look.Call + " is called where this condition holds, but here it did not."
		case at.IsValid():
			return at, "cuda." + look.Call + " is called here, but it did not come to that."
		}
		return within[0].Pos(), function + " did not call cuda." + look.Call + "."
	case look.Field != "":
		if at, what := c.keeper(function, within, look.Field); at.IsValid() {
			return at, what
		}
	case look.Got != "":
		if end.IsValid() && mentions(end.statement, look.Got) {
			if at := condition(end.around); at.IsValid() {
				return at, "contract." + look.Got + " is returned where this condition holds."
			}
			return end.statement.Pos(), "contract." + look.Got + " is returned here."
		}
		switch at, guarded, several := c.returning(within, look.Got); {
		case several || !at.IsValid():
		case guarded:
			return at, "contract." + look.Got + " is returned where this condition holds."
		default:
			return at, "contract." + look.Got + " is returned here."
		}
	case look.Want != "":
		switch at, guarded, several := c.returning(within, look.Want); {
		case several:
			return at, "contract." + look.Want + " is returned where a condition holds from here on, but here none did."
		case guarded:
			return at, "contract." + look.Want + " is returned where this condition holds, but here it did not."
		}
		if at := c.answer(within[:1], isNil); at.IsValid() {
			return at, "It is returned here."
		}
	case look.Block, look.Answer:
		at := c.answer(within[:1], isMade)
		if end.IsValid() && len(end.statement.Results) > 0 && isMade(end.statement.Results[0]) {
			at = origin(end.function, end.statement.Results[0], end.statement.Pos())
		}
		switch {
		case at.IsValid() && look.Block:
			return at, "The block that it handed out comes from here."
		case at.IsValid():
			return at, "What it answered comes from here."
		}
	}
	if end.IsValid() {
		return end.statement.Pos(), "It returned here."
	}
	return token.NoPos, ""
}

// inLine is the first statement of some functions that begins in a line.
func (c *Code) inLine(within []*ast.FuncDecl, line int) (at token.Pos) {
	for _, f := range within {
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if _, ok := n.(ast.Stmt); ok && !at.IsValid() && c.set.Position(n.Pos()).Line == line {
				at = n.Pos()
			}
			return !at.IsValid()
		})
	}
	return at
}

// mostShown is how long an expression may be that is told within a sentence.
const mostShown = 40

// Argument is the i-th argument of the call of a name that begins in a line of a file, as it stands there; "" where
// there is none, or several, or where it is long.
func (c *Code) Argument(file string, line int, call string, i int) (text string) {
	several := false
	for _, fs := range c.funcs {
		for _, f := range fs {
			ast.Inspect(f, func(n ast.Node) bool {
				x, ok := n.(*ast.CallExpr)
				if !ok || named(x.Fun) != call || i >= len(x.Args) {
					return true
				}
				at := c.set.Position(x.Pos())
				if at.Line == line && filepath.Base(at.Filename) == filepath.Base(file) {
					several, text = several || text != "", types.ExprString(x.Args[i])
				}
				return true
			})
		}
	}
	if several || len(text) > mostShown {
		return ""
	}
	return text
}

// reached are the functions of a name and all that they call in the same package, directly or not.
func (c *Code) reached(function string) (all []*ast.FuncDecl) {
	names := []string{function}
	for i := 0; i < len(names); i++ {
		for _, f := range c.funcs[names[i]] {
			all = append(all, f)
			ast.Inspect(f.Body, func(n ast.Node) bool {
				if name := named(n); name != "" && c.funcs[name] != nil && !slices.Contains(names, name) {
					names = append(names, name)
				}
				return true
			})
		}
	}
	return all
}

// named is the name by which an expression may name a function: alone, or as a method.
func named(n ast.Node) string {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		return n.Sel.Name
	case *ast.Ident:
		return n.Name
	}
	return ""
}

// returning is where an error of the contract is returned: the condition around that, if there is one. Several places
// are the first of them where each has a condition and a reader sees them at once, and else none.
func (c *Code) returning(within []*ast.FuncDecl, name string) (at token.Pos, guarded, several bool) {
	long := slices.DeleteFunc(slices.Clone(within), func(f *ast.FuncDecl) bool {
		return len(f.Body.List) == 1 && len(within) > 1 // it says only what the error is; where it is called matters
	})
	places, bare := c.all(long, func(n ast.Node) bool {
		r, ok := n.(*ast.ReturnStmt)
		return ok && mentions(r, name)
	})
	if len(places) > 1 && !bare {
		at = c.one(places)
		return at, at.IsValid(), at.IsValid()
	}
	if len(places) == 1 {
		return places[0], !bare, false
	}
	return token.NoPos, false, false
}

// only is the one node of some functions that fits: the condition around it, if there is one. Several are none.
func (c *Code) only(within []*ast.FuncDecl, fits func(ast.Node) bool) (at token.Pos, guarded bool) {
	places, bare := c.all(within, fits)
	if len(places) != 1 {
		return token.NoPos, false
	}
	return places[0], !bare
}

// all are the nodes of some functions that fit: the conditions around them. Bare says that one of them has none.
func (c *Code) all(within []*ast.FuncDecl, fits func(ast.Node) bool) (places []token.Pos, bare bool) {
	for _, f := range within {
		var around []ast.Node
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if n == nil {
				around = around[:len(around)-1]
				return true
			}
			around = append(around, n)
			if fits(n) {
				at := condition(around)
				if !at.IsValid() {
					at, bare = n.Pos(), true
				}
				places = append(places, at)
			}
			return true
		})
	}
	return places, bare
}

func mentions(n ast.Node, name string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		found = found || n != nil && named(n) == name
		return !found
	})
	return found
}

// condition is the innermost condition that a statement is behind; around are the nodes around it, the outermost first.
func condition(around []ast.Node) token.Pos {
	for i, n := range slices.Backward(around) {
		switch n := n.(type) {
		case *ast.IfStmt:
			switch {
			case i+1 < len(around) && around[i+1] == n.Body:
				return n.Cond.Pos()
			case i+1 < len(around) && around[i+1] == n.Else:
				return token.NoPos
			}
		case *ast.CaseClause:
			if len(n.List) > 0 {
				return n.List[0].Pos()
			}
			return token.NoPos
		case *ast.FuncLit:
			return token.NoPos
		}
	}
	return token.NoPos
}

// one is the first of some places where they are one to a reader.
func (c *Code) one(places []token.Pos) token.Pos {
	if len(places) == 0 {
		return token.NoPos
	}
	first, last := c.set.Position(slices.Min(places)), c.set.Position(slices.Max(places))
	if first.Filename != last.Filename || last.Line-first.Line > sameLines {
		return token.NoPos
	}
	return slices.Min(places)
}
