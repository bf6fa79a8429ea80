package authoring

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"cudalab/lessons"
)

// kernel looks at the kernels of a lesson's own, if it does not do with those of others.
func (r *review) kernel(e lessons.Exercise) {
	source := "kernels/" + e.Package + ".cu"
	if _, err := fs.Stat(r.course, source); err != nil {
		if !r.launches(e) {
			r.add(source, "there is no kernel of this lesson's, and it launches none of another's",
				"Write one in CUDA C++, which the exercise launches through package kernels, or launch one that is there")
		}
		return
	}
	ptx, ok := r.text("kernels/"+e.Package+".ptx", "PTX of the lesson's kernel",
		"Compile it: make kernels, or kernels/build.sh, with the clang that it names")
	if !ok {
		return
	}
	file := "kernels/" + e.Package + ".go"
	known := r.kernels()
	for _, m := range entries.FindAllStringSubmatch(ptx, -1) {
		switch name, found := known[m[1]]; {
		case !found:
			r.add(file, fmt.Sprintf("nothing defines the kernel %s of %s", m[1], source),
				fmt.Sprintf("Write var %s = device.NewKernel(device.Spec{Entry: %[1]q, ...}), and a function that launches it",
					m[1]))
		case name != "":
			r.add(file, fmt.Sprintf("the kernel %s is not listed, so nobody sees whether a GPU's driver takes it", m[1]),
				fmt.Sprintf("Write func init() { listed.Add(%s) }, with the package cudalab/kernels/listed", name))
		}
	}
}

var launched = regexp.MustCompile(`\bkernels\.[A-Z]\w*\(`)

// launches reports whether a lesson's solution or its suite launches a kernel.
func (r *review) launches(e lessons.Exercise) bool {
	for _, folder := range []string{"solutions/", "grader/suites/"} {
		files, _ := fs.Glob(r.course, folder+e.Package+"/*.go")
		for _, file := range files {
			if text, err := fs.ReadFile(r.course, file); err == nil && launched.Match(text) {
				return true
			}
		}
	}
	return false
}

var entries = regexp.MustCompile(`(?m)^\.visible \.entry (\w+)\(`)

// kernels are the kernels that the course's package kernels defines, by the names of their entry points: the variable
// that holds one, or "" where that is listed.
func (r *review) kernels() map[string]string {
	defined, added := map[string]string{}, map[string]bool{}
	files, _ := fs.Glob(r.course, "kernels/*.go")
	for _, name := range files {
		text, err := fs.ReadFile(r.course, name)
		if err != nil || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		if err != nil {
			continue // the compiler says so
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				// The entry point stands among what the variable is made with, be it by a function of the package's own.
				for i, value := range n.Values {
					ast.Inspect(value, func(in ast.Node) bool {
						if b, ok := in.(*ast.BasicLit); ok && b.Kind == token.STRING && i < len(n.Names) {
							defined[strings.Trim(b.Value, "\"`")] = n.Names[i].Name
						}
						return true
					})
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Add" && fmt.Sprint(f.X) == "listed" {
					for _, a := range n.Args {
						added[fmt.Sprint(a)] = true
					}
				}
			}
			return true
		})
	}
	for entry, name := range defined {
		if added[name] {
			defined[entry] = ""
		}
	}
	return defined
}

// launchers looks for what students can launch and kernels' own tests do not try with whatever there is. What tries it
// is kernels/hostile_test.go; a course without it does without.
func (r *review) launchers() {
	if _, err := fs.Stat(r.course, "kernels/hostile_test.go"); err != nil {
		return
	}
	files, _ := fs.Glob(r.course, "kernels/*.go")
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, _ := fs.ReadFile(r.course, name)
		file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		if err != nil {
			continue // the compiler says so
		}
		test := strings.TrimSuffix(name, ".go") + "_test.go"
		tests, _ := fs.ReadFile(r.course, test)
		tried := launcher.FindAllString(string(tryingCall.Find(tests)), -1)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && f.Recv == nil && f.Name.IsExported() && !slices.Contains(tried, "kernels."+f.Name.Name) {
				r.add(test, fmt.Sprintf("nothing tries kernels.%s with whatever a student may pass", f.Name.Name),
					fmt.Sprintf("Write func init() { tries(kernels.%s) }", f.Name.Name))
			}
		}
	}
}

var (
	tryingCall = regexp.MustCompile(`\btries\([^)]*\)`)
	launcher   = regexp.MustCompile(`\bkernels\.\w+`)
)
