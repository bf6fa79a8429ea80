package mutants

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"cudalab/grader/judge/edits"
)

// style says one thing otherwise, wherever a solution says it, and means the same.
type style struct {
	name   string
	helper string // what it takes, behind the package clause and the end
	at     func(c *edits.Code, n ast.Node) (text string, ok bool)
}

var styles = []style{
	{"asks in place of waiting", `import asked "errors"` + `

func until(query func() error) error {
	for {
		if err := query(); !asked.Is(err, cuda.ErrorNotReady) {
			return err
		}
	}
}
`, asks},
	{"wraps every error", `import wraps "fmt"` + `

func wrapped(err error) error {
	if err == nil {
		return nil
	}
	return wraps.Errorf("it went wrong: %w", err)
}
`, wrapsErrors},
	{"calls by way of a function", `

func done(call func() error) error { return call() }
`, byFunction},
}

// Restyled is a solution in each of some other styles, as right as it was: what a suite says of one depends on how it
// was written. Of a style that there is no occasion for there is none.
func Restyled(root, exercisePackage string) ([]Mutant, error) {
	c, err := load(root, exercisePackage)
	if err != nil {
		return nil, err
	}
	var all []Mutant
	for _, f := range c.Files {
		for _, s := range styles {
			text := restyled(c, f, s)
			if text == f.Text {
				continue
			}
			compiled, ok := c.Compile(f, text)
			if !ok {
				return nil, fmt.Errorf("%s: %s: it does not compile:\n%s", f.Name, s.name, text)
			}
			all = append(all, Mutant{s.name, f.Name, 1, compiled})
		}
	}
	return all, nil
}

func restyled(c *edits.Code, f *edits.File, s style) string {
	var b strings.Builder
	done := f.Syntax.FileStart
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		if n == nil {
			return false
		}
		text, ok := s.at(c, n)
		if ok {
			b.WriteString(f.Between(done, n.Pos()) + text)
			done = n.End()
		}
		return !ok
	})
	if done == f.Syntax.FileStart {
		return f.Text
	}
	imports, functions, _ := strings.Cut(s.helper, "\n")
	clause := int(f.Syntax.Name.End() - f.Syntax.FileStart)
	text := b.String() + f.Between(done, f.Syntax.FileEnd)
	return text[:clause] + "\n\n" + imports + "\n" + text[clause:] + functions
}

func asks(c *edits.Code, n ast.Node) (string, bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return "", false
	}
	of, waits := strings.CutSuffix(c.Text(call.Fun), "Synchronize")
	if !waits || of != "cuda.Event" && of != "cuda.Stream" {
		return "", false
	}
	return fmt.Sprintf("until(func() error { return %sQuery(%s) })", of, c.Text(call.Args[0])), true
}

func wrapsErrors(c *edits.Code, n ast.Node) (string, bool) {
	r, ok := n.(*ast.ReturnStmt)
	if !ok || len(r.Results) == 0 {
		return "", false
	}
	last := r.Results[len(r.Results)-1]
	if t, known := c.Info.Types[last]; !known || t.IsNil() ||
		!types.Identical(t.Type, types.Universe.Lookup("error").Type()) {
		return "", false
	}
	return c.TextBetween(r.Pos(), last.Pos()) + "wrapped(" + c.Text(last) + ")", true
}

func byFunction(c *edits.Code, n ast.Node) (string, bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok || !strings.HasPrefix(c.Text(call.Fun), "cuda.") || !types.Identical(c.TypeOf(call),
		types.Universe.Lookup("error").Type()) {
		return "", false
	}
	return "done(func() error { return " + c.Text(call) + " })", true
}
