package compile

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"strconv"
	"strings"

	"cudalab/grader/suite/gaps"
)

// placeholder is a file with functions as the skeleton declares them, each of which does nothing but answer its first
// gap.
type placeholder struct {
	skeleton []byte
	set      *token.FileSet
	syntax   *ast.File
	paths    map[string]string // of the packages that are not imported yet, by their names
	types    map[string]string // what the skeleton's types are called here
	imports  string
	body     bytes.Buffer
}

// newPlaceholder is an empty one; nil where the skeleton does not parse.
func newPlaceholder(skeleton []byte) *placeholder {
	p := &placeholder{skeleton: skeleton, set: token.NewFileSet(), types: map[string]string{}}
	var err error
	if p.syntax, err = parser.ParseFile(p.set, "", skeleton, parser.SkipObjectResolution); err != nil {
		return nil
	}
	p.paths = importNames(p.syntax)
	return p
}

// text is the file.
func (p *placeholder) text() []byte {
	return fmt.Appendf(nil, "package %s\n\n%s%s", p.syntax.Name.Name, p.imports, p.body.Bytes())
}

// shouldBe says of a function, or of a type's method, that it is declared otherwise.
func (p *placeholder) shouldBe(name string) string {
	_, method, found := strings.Cut(name, ".")
	if !found {
		method = name
	}
	if d := declared(p.syntax, name); d != nil {
		return fmt.Sprintf("%s should be declared as: %s, but is not", method, signature(p.set, d, p.skeleton))
	}
	return method + " is not declared as it should be"
}

// wholeType adds a type of the skeleton's, with all its methods, under a name of its own. It answers their gaps.
func (p *placeholder) wholeType(name string) (open []gaps.Gap) {
	p.types[name] = name + lentEnd
	fmt.Fprintf(&p.body, "\ntype %s struct{}\n", p.types[name])
	for _, d := range p.syntax.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && gaps.Receiver(d) == name && d.Name.IsExported() {
			method := name + "." + d.Name.Name
			p.method(method, p.types[name])
			open = append(open, gaps.Within(p.skeleton, method)...)
		}
	}
	return open
}

// function adds a function, under a name of its own.
func (p *placeholder) function(name string) {
	p.write(name, "func "+name+lentEnd, declared(p.syntax, name))
}

// method adds a method to a type of a name.
func (p *placeholder) method(name, of string) {
	_, method, _ := strings.Cut(name, ".")
	p.write(name, fmt.Sprintf("func (*%s) %s", of, method), declared(p.syntax, name))
}

// write writes a function that begins like that and has the signature of d: it answers its gap as its error, or panics
// with it where it has none.
func (p *placeholder) write(name, begin string, d *ast.FuncDecl) {
	gap := contractTODO + `("")`
	if open := gaps.Within(p.skeleton, name); len(open) > 0 {
		gap = fmt.Sprintf("%s(%q)", contractTODO, open[0].ID)
	}
	does := "panic(" + gap + ")"
	if d.Type.Results != nil {
		var results []*ast.Field
		for _, r := range d.Type.Results.List {
			for range max(len(r.Names), 1) {
				results = append(results, &ast.Field{Names: []*ast.Ident{ast.NewIdent("_")}, Type: r.Type})
			}
		}
		last := results[len(results)-1]
		if id, is := last.Type.(*ast.Ident); is && id.Name == "error" {
			last.Names[0].Name = "err"
			does = "err = " + gap + "\n\treturn"
		}
		d.Type.Results.List = results
	}
	p.use("contract")
	ast.Inspect(d.Type, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if pkg, ok := n.X.(*ast.Ident); ok {
				p.use(pkg.Name)
				pkg.Name += lentEnd
			}
			return false
		case *ast.Ident:
			if called, ok := p.types[n.Name]; ok {
				n.Name = called
			}
		}
		return true
	})
	var signature bytes.Buffer
	if err := printer.Fprint(&signature, token.NewFileSet(), d.Type); err != nil {
		return // the file does not compile then
	}
	fmt.Fprintf(&p.body, "\n%s%s {\n\t%s\n}\n", begin, bytes.TrimPrefix(signature.Bytes(), []byte("func")), does)
}

const contractTODO = "contract" + lentEnd + ".TODO"

// use imports a package of the skeleton's.
func (p *placeholder) use(pkg string) {
	if path, ok := p.paths[pkg]; ok {
		p.imports += fmt.Sprintf("import %s %s\n", pkg+lentEnd, strconv.Quote(path))
		delete(p.paths, pkg)
	}
}
