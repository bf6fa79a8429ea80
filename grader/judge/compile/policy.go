package compile

import (
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/token"
	"path"
	"slices"
	"strings"
)

// checkFile holds one file to every rule that can be judged from that file alone.
func (s *submission) checkFile(f *file) {
	if name := f.syntax.Name; name.Name != s.Package {
		s.refuseAt(f, name.Pos(), Refusal{
			Rule:    RulePackage,
			Message: fmt.Sprintf("The file should say package %s, but it says package %s.", s.Package, name.Name),
			Why:     "All files of a folder are one package, and the grader imports it by its name.",
			Fix:     fmt.Sprintf("Write package %s, or move the file out of the folder.", s.Package),
		})
	}
	s.checkImports(f)
	s.checkComments(f)
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			s.refuseAt(f, n.Pos(), Refusal{
				Rule:    RuleGoStatement,
				Message: "An exercise should run in one goroutine, but this go statement starts another.",
				Why: "The parallelism of these lessons is the device's: calls only join a stream's queue and return, so one " +
					"goroutine keeps every stream busy, and the order of its calls is what the lesson is about.",
				Fix: "Call the function directly, and put independent work on different streams.",
			})
		case *ast.FuncDecl:
			if n.Body == nil {
				s.refuseAt(f, n.Pos(), Refusal{
					Rule:    RuleNoBody,
					Message: fmt.Sprintf("Every function should have a body in Go, but %s has none.", n.Name.Name),
					Why:     "Such a function is written in assembly or linked in from elsewhere, where nothing in it can be judged.",
					Fix:     "Give it a body in Go.",
				})
			}
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, left := range n.Lhs {
					s.checkForeignVariable(f, left)
				}
			}
		case *ast.IncDecStmt:
			s.checkForeignVariable(f, n.X)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				s.checkForeignVariable(f, n.Key)
				s.checkForeignVariable(f, n.Value)
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				s.checkForeignVariable(f, n.X)
			}
		}
		return true
	})
}

// checkForeignVariable refuses an expression that is being changed, or could be through its address, if it belongs to
// an imported package: a contract's error set to nil would equal an error that was never returned.
func (s *submission) checkForeignVariable(f *file, e ast.Expr) {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.SelectorExpr:
			if p := f.imported(x.X); p != "" {
				name := path.Base(p) + "." + x.Sel.Name
				s.refuseAt(f, x.Pos(), Refusal{
					Rule: RuleForeignVar,
					Message: fmt.Sprintf("%s belongs to another package and should stay as it is, but here it is changed or its "+
						"address is taken.", name),
					Why: "The grader and the solution use the same variable: a change would reach them too.",
					Fix: fmt.Sprintf("Copy %s into a variable of your own.", name),
				})
				return
			}
			e = x.X
		default:
			return
		}
	}
}

// imported is the path of the package that an expression names, or "". A variable of the same name hides the package.
func (f *file) imported(e ast.Expr) string {
	id, ok := e.(*ast.Ident)
	if !ok || id.Obj != nil {
		return ""
	}
	return f.imports[id.Name]
}

// harmless are the compiler directives that change nothing but how code is compiled, or nothing at all.
var harmless = []string{"//go:noinline", "//go:generate", "//go:fix"}

// checkComments refuses comments that are instructions to the compiler or the build.
func (s *submission) checkComments(f *file) {
	for _, group := range f.syntax.Comments {
		for _, c := range group.List {
			directive, _, _ := strings.Cut(c.Text, " ")
			switch {
			case constraint.IsGoBuild(c.Text), constraint.IsPlusBuild(c.Text) && c.Pos() < f.syntax.Package:
				s.refuseAt(f, c.Pos(), Refusal{
					Rule: RuleConstraint,
					Message: fmt.Sprintf("Every file should be part of every build, but the build constraint %q leaves this one out "+
						"of some.", c.Text),
					Why: "An exercise has to be the same program wherever it is graded.",
					Fix: "Delete the line.",
				})
			case strings.HasPrefix(c.Text, "//go:") && !slices.Contains(harmless, strings.TrimSpace(directive)):
				s.refuseAt(f, c.Pos(), Refusal{
					Rule: RuleDirective,
					Message: fmt.Sprintf("An exercise should have no instructions to Go's compiler or linker, but %s is one.",
						strings.TrimSpace(directive)),
					Why: "Such instructions can switch off the rules that keep packages apart.",
					Fix: "Delete the comment.",
				})
			case s.movesLines(c):
				s.refuseAt(f, c.Pos(), Refusal{
					Rule: RuleDirective,
					Message: "Lines should keep their numbers, but this comment, a line directive, makes the compiler believe that " +
						"it is in another file or line.",
					Why: "Findings point to the lines of your code, and those have to be the real ones.",
					Fix: "Delete the comment, or put a space behind its slashes if it was meant as plain text.",
				})
			}
		}
	}
}

// movesLines reports whether a comment is, or nearly is, a line directive: "//line" at the start of a line, "/*line"
// anywhere, with a colon.
func (s *submission) movesLines(c *ast.Comment) bool {
	if !strings.Contains(c.Text, ":") {
		return false
	}
	return strings.HasPrefix(c.Text, "/*line ") ||
		strings.HasPrefix(c.Text, "//line ") && s.set.PositionFor(c.Pos(), false).Column == 1
}
