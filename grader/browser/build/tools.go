package build

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The compiler and the linker are those of the Go installation at hand, less what they hold for other processors and
// for measuring themselves: a third of what a browser would have to fetch. Nothing of Go's is changed or copied but in
// the overlay of one build. Where a release of Go no longer looks as described here, its tools are built whole.
const (
	compileMain = `package main

import (
	"cmd/compile/internal/base"
	"cmd/compile/internal/gc"
	"cmd/compile/internal/wasm"
	"internal/buildcfg"
	"log"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("compile: ")
	buildcfg.Check()
	gc.Main(wasm.Init)
	base.Exit(0)
}
`
	linkMain = `package main

import (
	"cmd/link/internal/ld"
	"cmd/link/internal/wasm"
	"internal/buildcfg"
)

func main() {
	buildcfg.Check()
	arch, theArch := wasm.Init()
	ld.Main(arch, theArch)
}
`
)

// withoutCounters is the tag with which Go's own build leaves the counting of usage out.
const withoutCounters = "cmd_go_bootstrap"

// goTool builds one of Go's tools for the browser.
func (s *site) goTool(ctx context.Context, name string) (file string, err error) {
	file = filepath.Join(s.temp, name+".wasm")
	overlay, err := s.trimmed()
	if err != nil {
		return "", err
	}
	flags := []string{"build", "-tags", withoutCounters, "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", file}
	if _, err = s.ask(ctx, append(flags, "-overlay", overlay, "cmd/"+name)...); err == nil {
		return file, nil
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if _, err = s.ask(ctx, append(flags, "cmd/"+name)...); err != nil {
		return "", fmt.Errorf("building Go's %s for the browser: %w", name, err)
	}
	return file, nil
}

// trimmed writes the overlay with which the tools are built.
func (s *site) trimmed() (overlay string, err error) {
	replace := map[string]string{}
	put := func(below string, text []byte) error {
		file := filepath.Join(s.temp, "trimmed-"+strings.ReplaceAll(below, "/", "-"))
		replace[filepath.Join(s.goroot, "src", filepath.FromSlash(below))] = file
		return os.WriteFile(file, text, 0o600)
	}
	edit := func(below string, change func(*ast.File)) error {
		text, err := edited(filepath.Join(s.goroot, "src", filepath.FromSlash(below)), change)
		if err != nil {
			return nil // a release that has no such file has to do without the cut
		}
		return put(below, text)
	}
	for _, err := range []error{
		put("cmd/compile/main.go", []byte(compileMain)),
		put("cmd/link/main.go", []byte(linkMain)),
		edit("cmd/compile/internal/ssa/config.go", onlyWasm),
		edit("cmd/compile/internal/gc/util.go", withoutProfiles),
		edit("cmd/link/internal/ld/main.go", withoutProfiles),
	} {
		if err != nil {
			return "", err
		}
	}
	return s.overlay("trimmed.json", replace)
}

// edited is a file of Go's with a change, and without the imports that it no longer needs.
func edited(file string, change func(*ast.File)) ([]byte, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, nil, 0)
	if err != nil {
		return nil, err
	}
	change(f)
	dropImports(f)
	var text bytes.Buffer
	err = format.Node(&text, set, f)
	return text.Bytes(), err
}

// onlyWasm leaves the one case that the browser needs in the switch over architectures, and with the others gone the
// linker leaves their rewrite rules out.
func onlyWasm(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.SwitchStmt)
		if !ok || !slices.ContainsFunc(s.Body.List, func(c ast.Stmt) bool { return isCase(c, "wasm") }) {
			return true
		}
		s.Body.List = slices.DeleteFunc(s.Body.List, func(c ast.Stmt) bool {
			return c.(*ast.CaseClause).List != nil && !isCase(c, "wasm")
		})
		return false
	})
}

func isCase(s ast.Stmt, value string) bool {
	c, ok := s.(*ast.CaseClause)
	return ok && slices.ContainsFunc(c.List, func(e ast.Expr) bool {
		l, ok := e.(*ast.BasicLit)
		return ok && l.Value == strconv.Quote(value)
	})
}

// withoutProfiles empties the function that measures the tool itself.
func withoutProfiles(f *ast.File) {
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && d.Name.Name == "startProfile" {
			d.Body.List = nil
		}
	}
}

// dropImports takes the imports out that nothing in the file uses any more. Functions that only an emptied one called
// are not imports, and Go minds them not.
func dropImports(f *ast.File) {
	used := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok {
				used[id.Name] = true
			}
		}
		return true
	})
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			g.Specs = slices.DeleteFunc(g.Specs, func(s ast.Spec) bool {
				i := s.(*ast.ImportSpec)
				path, _ := strconv.Unquote(i.Path.Value)
				name := path[strings.LastIndexByte(path, '/')+1:]
				if i.Name != nil {
					name = i.Name.Name
				}
				return name != "_" && name != "." && !used[name]
			})
		}
	}
}
