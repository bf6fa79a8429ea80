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

	"cudalab/grader/suite/returned"
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

// end is the return statement that a call has answered at.
type end struct {
	function  *ast.FuncDecl
	statement *ast.ReturnStmt
	around    []ast.Node // it, behind what it is in
}

func (e *end) IsValid() bool { return e.statement != nil }

// ending is the return statement of a function that is in one of some lines; where it returns the answer of another
// function, that one's.
func (c *Code) ending(function string, lines returned.Lines) (found end) {
	names := []string{function}
	for i := 0; i < len(names); i++ {
		for _, f := range c.funcs[names[i]] {
			var around []ast.Node
			ast.Inspect(f.Body, func(n ast.Node) bool {
				if n == nil {
					around = around[:len(around)-1]
					return true
				}
				if _, within := n.(*ast.FuncLit); within {
					return false
				}
				around = append(around, n)
				r, ok := n.(*ast.ReturnStmt)
				if !ok {
					return true
				}
				if !slices.Contains(lines[:], int32(c.set.Position(r.Pos()).Line)) {
					return true
				}
				found = end{f, r, slices.Clone(around)}
				if len(r.Results) == 1 {
					if call, ok := r.Results[0].(*ast.CallExpr); ok && !slices.Contains(names, named(call.Fun)) {
						names = append(names, named(call.Fun))
					}
				}
				return true
			})
		}
	}
	return found
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

// answer is the only return statement of some functions, or of what they return the answer of, whose first result is
// fit: or where
// that result is given its value.
func (c *Code) answer(of []*ast.FuncDecl, fit func(ast.Expr) bool) token.Pos {
	var found []token.Pos
	seen := map[*ast.FuncDecl]bool{}
	var look func(f *ast.FuncDecl)
	look = func(f *ast.FuncDecl) {
		if seen[f] {
			return
		}
		seen[f] = true
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch r := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ReturnStmt:
				if len(r.Results) == 0 {
					break
				}
				if call, ok := r.Results[0].(*ast.CallExpr); ok && len(c.funcs[named(call.Fun)]) > 0 {
					for _, g := range c.funcs[named(call.Fun)] {
						look(g)
					}
				} else if fit(r.Results[0]) {
					found = append(found, origin(f, r.Results[0], r.Pos()))
				}
			}
			return true
		})
	}
	for _, f := range of {
		look(f)
	}
	if len(found) != 1 {
		return token.NoPos
	}
	return found[0]
}

func isNil(e ast.Expr) bool {
	name, ok := e.(*ast.Ident)
	return ok && name.Name == "nil"
}

// isMade reports whether a result is made of something: it is neither a constant nor nil.
func isMade(e ast.Expr) bool {
	_, constant := e.(*ast.BasicLit)
	return !constant && !isNil(e)
}

// origin is where a value comes from: where the variable that it is was given it, if that is one place in the
// function, or else
// the place itself.
func origin(f *ast.FuncDecl, value ast.Expr, at token.Pos) token.Pos {
	name, ok := value.(*ast.Ident)
	if !ok {
		return at
	}
	var given []token.Pos
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for _, to := range a.Lhs {
				if id, ok := to.(*ast.Ident); ok && id.Name == name.Name {
					given = append(given, a.Pos())
				}
			}
		}
		return true
	})
	if len(given) == 1 {
		return given[0]
	}
	return at
}

// sameLines is how near to each other several statements are one place to a reader.
const sameLines = 8

// keeper is where what a function does changes a number that the code tells of itself under the name of a field; where
// it changes
// nothing of that, where the number is told.
func (c *Code) keeper(function string, within []*ast.FuncDecl, field string) (token.Pos, string) {
	told, kept := c.telling(field)
	for _, fields := range [][]string{{field}, kept} { // where it is told it may be kept as well
		var changes []token.Pos
		for _, f := range within {
			ast.Inspect(f.Body, func(n ast.Node) bool {
				if at, ok := changing(f, n, fields); ok {
					changes = append(changes, at)
				}
				return true
			})
		}
		if at := c.one(changes); at.IsValid() {
			return at, function + " changes " + field + " in this line."
		}
	}
	return c.one(slices.DeleteFunc(told, func(at token.Pos) bool { // else what is missing stands nowhere
		return !slices.ContainsFunc(within, func(f *ast.FuncDecl) bool { return f.Pos() <= at && at < f.End() })
	})), field + " is worked out here."
}

// telling is where the code gives a field of its account a value, and the fields of its own that are part of that.
func (c *Code) telling(field string) (told []token.Pos, kept []string) {
	value := func(at token.Pos, e ast.Expr) {
		told = append(told, at)
		ast.Inspect(e, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name != field {
				kept = append(kept, s.Sel.Name)
				return false
			}
			return true
		})
	}
	for _, fs := range c.funcs {
		for _, f := range fs {
			ast.Inspect(f.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.KeyValueExpr:
					if named(n.Key) == field {
						value(n.Pos(), n.Value)
					}
				case *ast.AssignStmt:
					if s, ok := n.Lhs[0].(*ast.SelectorExpr); ok && s.Sel.Name == field && len(n.Rhs) == 1 {
						value(n.Pos(), n.Rhs[0])
					}
				}
				return true
			})
		}
	}
	return told, kept
}

// changing is where a node of a function changes one of some fields.
func changing(f *ast.FuncDecl, n ast.Node, fields []string) (token.Pos, bool) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			if slices.Contains(fields, ofField(to)) {
				if len(n.Rhs) == len(n.Lhs) {
					return origin(f, n.Rhs[i], n.Pos()), true
				}
				return n.Pos(), true
			}
		}
	case *ast.IncDecStmt:
		return n.Pos(), slices.Contains(fields, ofField(n.X))
	}
	return token.NoPos, false
}

// ofField is the field that an assignment to an expression changes, or a part of it; "" where it is none.
func ofField(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			return x.Sel.Name
		default:
			return ""
		}
	}
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
