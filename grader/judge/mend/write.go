package mend

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/edits"
)

// program is the student's code with candidates: every function that one of them changes is there once as it was and
// once for each of them, and a function of its name goes on to the one that is chosen.
type program struct {
	code    *edits.Code
	imports map[string]string // that the solution has, by name
	copies  []*formed
	texts   []string // by file of the code
	keeps   bool     // it has package variables, which a candidate leaves as it likes
}

// formed is a function as a candidate has it.
type formed struct {
	*candidate
	file, text string // text has the function's name with the number
	of         *ast.FuncDecl
	index      int // of the file
	gone       bool
	mended     bool // in this round
	at         int  // where it stands in its file
}

// mark parts a function's name from a candidate's number; the letter is on no keyboard.
const mark = "\u01c3"

// stepsImport is what a file needs to know which candidate is chosen. Package compile adds it where code is made to
// count its steps.
const stepsImport = "; import " + compile.StepName + " \"" + compile.Steps + "\""

// write makes a program of as many of the candidates as compile, which get numbers from 1 on.
func write(code *edits.Code, imports map[string]string, all []*candidate) (*program, []*candidate, error) {
	p := &program{code: code, imports: imports, keeps: keeps(code)}
	var written []*candidate
	for _, c := range all {
		if c.number = len(written) + 1; p.form(c) {
			written = append(written, c)
		}
	}
	for range 8 {
		p.lay()
		bad, err := p.faulty()
		if err != nil {
			return nil, nil, err
		}
		if !bad {
			return p, p.left(written), nil
		}
	}
	return nil, nil, fmt.Errorf("mend: the candidates do not compile together")
}

// keeps reports whether a package has variables other than errors that it makes.
func keeps(code *edits.Code) bool {
	for _, name := range code.Types.Scope().Names() {
		if v, ok := code.Types.Scope().Lookup(name).(*types.Var); ok && !edits.IsError(v.Type()) {
			return true
		}
	}
	return false
}

// form makes a candidate's functions; it reports whether they can be read.
func (p *program) form(c *candidate) bool {
	var made []*formed
	for i, f := range p.code.Files {
		for _, d := range f.Syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			var within []edits.Change
			for _, ch := range c.changes {
				if fn.Body.Lbrace <= ch.From && ch.To <= fn.Body.Rbrace {
					within = append(within, ch)
				}
			}
			if len(within) == 0 {
				continue
			}
			text := f.Between(fn.Pos(), fn.Name.End()) + numbered(c.number) + withChanges(f, fn.Name.End(), fn.End(), within)
			made = append(made, &formed{candidate: c, file: f.Name, of: fn, index: i, text: text})
		}
	}
	for _, m := range made {
		if _, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+m.text, parser.SkipObjectResolution); err != nil {
			return false
		}
	}
	p.copies = append(p.copies, made...)
	return len(made) > 0
}

func numbered(n int) string { return fmt.Sprint(mark, n) }

// withChanges is a part of a file's text with changes in it.
func withChanges(f *edits.File, from, to token.Pos, changes []edits.Change) string {
	changes = slices.Clone(changes)
	slices.SortStableFunc(changes, func(a, b edits.Change) int { return cmp.Compare(a.From, b.From) })
	var b strings.Builder
	for _, ch := range changes {
		if ch.From < from {
			continue // it lies within another
		}
		b.WriteString(f.Between(from, ch.From) + ch.Text)
		from = ch.To
	}
	b.WriteString(f.Between(from, to))
	return b.String()
}

// lay writes the files.
func (p *program) lay() {
	p.texts = nil
	for i, f := range p.code.Files {
		var copies []*formed
		for _, c := range p.copies {
			if c.index == i && !c.gone {
				copies = append(copies, c)
			}
		}
		p.texts = append(p.texts, p.file(f, copies))
	}
}

// file is a file's text with the functions that candidates have otherwise.
func (p *program) file(f *edits.File, copies []*formed) string {
	var b strings.Builder
	b.WriteString(f.Between(f.Syntax.FileStart, f.Syntax.Name.End()))
	from := f.Syntax.Name.End()
	b.WriteString(p.missing(f, copies))
	for _, d := range f.Syntax.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		var chosen []int
		for _, c := range copies {
			if c.of == fn {
				chosen = append(chosen, c.number)
			}
		}
		if len(chosen) == 0 {
			continue
		}
		s := edits.SignatureOf(fn, p.code.Text)
		b.WriteString(f.Between(from, fn.Pos()))
		fmt.Fprintf(&b, "func %s%s%s(%s) (%s) {\n", s.Receiver, fn.Name.Name, s.Types, s.Parameters, s.Results)
		fmt.Fprintf(&b, "switch %s.Chosen {\n", compile.StepName)
		for _, n := range chosen {
			fmt.Fprintf(&b, "case %d:\n%s", n, s.Call(fn.Name.Name+numbered(n)))
		}
		fmt.Fprintf(&b, "}\n%s}\n\n", s.Call(fn.Name.Name+numbered(0)))
		b.WriteString(f.Between(fn.Pos(), fn.Name.End()) + numbered(0))
		from = fn.Name.End()
	}
	b.WriteString(f.Between(from, f.Syntax.FileEnd))
	for _, c := range copies {
		b.WriteString("\n\n")
		c.at = b.Len()
		b.WriteString(c.text)
	}
	b.WriteString("\n")
	return b.String()
}

// missing imports what copies of a file name and the file does not import.
func (p *program) missing(f *edits.File, copies []*formed) (text string) {
	has := map[string]bool{}
	for _, spec := range f.Syntax.Imports {
		has[edits.ImportName(spec)] = true
	}
	for _, name := range sortedKeys(p.imports) {
		if !has[name] && slices.ContainsFunc(copies, func(c *formed) bool { return names(c.text, name) }) {
			text += fmt.Sprintf("; import %s %q", name, p.imports[name])
		}
	}
	return text
}

// names reports whether a function names something of a package.
func names(function, pkg string) (found bool) {
	syntax, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+function, parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	ast.Inspect(syntax, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			id, ok := s.X.(*ast.Ident)
			found = found || ok && id.Name == pkg
		}
		return !found
	})
	return found
}

// faulty looks for what does not compile, mends it or takes it out, and reports whether there was anything.
func (p *program) faulty() (bool, error) {
	set, importer := token.NewFileSet(), p.code.Importer
	var files []*ast.File
	shifted := map[string]int{} // by file, how much what was put in for the import takes
	for i, text := range p.texts {
		f := p.code.Files[i]
		end := int(f.Syntax.Name.End() - f.Syntax.FileStart)
		if strings.Contains(text, compile.StepName) {
			text = text[:end] + stepsImport + text[end:]
			shifted[f.Name] = len(stepsImport)
		}
		syntax, err := parser.ParseFile(set, f.Name, text, parser.SkipObjectResolution)
		if err != nil {
			return false, err
		}
		files = append(files, syntax)
	}
	bad := false
	var hard error
	config := types.Config{Importer: importer, Error: func(err error) {
		e, ok := err.(types.Error)
		if !ok {
			return
		}
		at := set.PositionFor(e.Pos, false)
		c := p.copyAt(at.Filename, at.Offset-shifted[at.Filename])
		switch {
		case c == nil && !e.Soft:
			hard = err
		case c == nil:
		case c.gone || bad && e.Soft && c.mended:
		case !e.Soft:
			c.gone, bad = true, true
		default:
			const head = "package p\n"
			bad = true
			text, ok := edits.Repair(head+c.text, len(head)+at.Offset-shifted[at.Filename]-c.at)
			if !ok {
				c.gone = true
				return
			}
			c.text, c.mended = strings.TrimPrefix(text, head), true
		}
	}}
	for _, c := range p.copies {
		c.mended = false
	}
	_, _ = config.Check(p.code.Path, set, files, nil)
	if !bad && hard != nil {
		return false, hard
	}
	for _, c := range p.copies { // a candidate is there with all its functions or not at all
		if c.gone {
			for _, other := range p.copies {
				other.gone = other.gone || other.candidate == c.candidate
			}
		}
	}
	return bad, nil
}

// copyAt is the copy at an offset of a file; nil where there is none.
func (p *program) copyAt(file string, offset int) *formed {
	for _, c := range p.copies {
		if !c.gone && c.file == file && c.at <= offset && offset < c.at+len(c.text) {
			return c
		}
	}
	return nil
}

// left are the candidates that compile.
func (p *program) left(all []*candidate) []*candidate {
	gone := map[*candidate]bool{}
	for _, c := range p.copies {
		gone[c.candidate] = gone[c.candidate] || c.gone
	}
	return slices.DeleteFunc(all, func(c *candidate) bool { return gone[c] })
}

// alone is the code with one candidate, file by file.
func alone(code *edits.Code, imports map[string]string, c *candidate) (map[string]string, bool) {
	texts := map[string]string{}
	for _, f := range code.Files {
		var within []edits.Change
		for _, ch := range c.changes {
			if f.Syntax.FileStart <= ch.From && ch.To <= f.Syntax.FileEnd {
				within = append(within, ch)
			}
		}
		text := f.Text
		if len(within) > 0 {
			text = withChanges(f, f.Syntax.FileStart, f.Syntax.FileEnd, within)
			end := int(f.Syntax.Name.End() - f.Syntax.FileStart)
			for _, name := range sortedKeys(imports) {
				if !importsName(f, name) && names(text[end:], name) {
					text = text[:end] + fmt.Sprintf("; import %s %q", name, imports[name]) + text[end:]
				}
			}
			var ok bool
			if text, ok = code.Compile(f, text); !ok {
				return nil, false
			}
		}
		texts[f.Name] = text
	}
	return texts, true
}

func importsName(f *edits.File, name string) bool {
	return slices.ContainsFunc(f.Syntax.Imports, func(spec *ast.ImportSpec) bool { return edits.ImportName(spec) == name })
}
