package compile

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// cudalab is the module path of this repository. A course outside of it is a module that requires this one.
const cudalab = "cudalab"

// api knows the packages that exercises may use of the course and of cudalab, and what they export. It reads their
// sources when first asked: most builds never ask.
type api struct {
	root   string
	module string // the course's path
	// courses are the packages that exercises are about.
	courses []string
	cudalab string                     // the folder of module cudalab, once somebody has asked
	names   map[string]map[string]bool // by import path: the exported names, and whether each is a function
}

// The packages that exercises are about, in module cudalab and in the course's own.
const (
	cudaPath     = cudalab + "/native/cuda"
	contractRoom = "/exercises/contract"
	kernelsRoom  = "/kernels"
)

var moduleLine = regexp.MustCompile(`(?m)^module[ \t]+"?([^\s"]+)`)

// newAPI is of the course at root, whose go.mod names its module.
func newAPI(root string) *api {
	a := &api{root: root, module: Module(root), names: map[string]map[string]bool{}}
	a.courses = []string{cudalab + contractRoom, cudaPath, cudalab + kernelsRoom}
	if a.module != cudalab {
		a.courses = append(a.courses, a.module+contractRoom, a.module+kernelsRoom)
	}
	return a
}

// Module is the path of the module at root, as its go.mod says; cudalab where it does not.
func Module(root string) string {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if m := moduleLine.FindSubmatch(text); err == nil && m != nil {
		return string(m[1])
	}
	return cudalab
}

// own cuts the path of the module off that a package of the course's or of cudalab's is in.
func (a *api) own(importPath string) (below string, ok bool) {
	if below, ok = strings.CutPrefix(importPath, a.module+"/"); !ok {
		below, ok = strings.CutPrefix(importPath, cudalab+"/")
	}
	return below, ok
}

// isFunction reports whether a name is one of the functions that make CUDA calls.
func (a *api) isFunction(importPath, name string) bool {
	calls := importPath == cudaPath || importPath == cudalab+kernelsRoom || importPath == a.module+kernelsRoom
	return calls && a.exported(importPath)[name]
}

// exported are a package's exported names at package level; true for functions.
func (a *api) exported(importPath string) map[string]bool {
	if names, ok := a.names[importPath]; ok {
		return names
	}
	names := map[string]bool{}
	a.names[importPath] = names
	dir := a.folder(importPath)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return names
	}
	set := token.NewFileSet()
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".go" || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		// A file that does not parse is the compiler's to complain about.
		f, err := parser.ParseFile(set, filepath.Join(dir, e.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		for _, d := range f.Decls {
			collect(d, names)
		}
	}
	return names
}

// folder is where a package's sources are.
func (a *api) folder(importPath string) string {
	if below, ok := strings.CutPrefix(importPath, a.module+"/"); ok {
		return filepath.Join(a.root, filepath.FromSlash(below))
	}
	below, ok := strings.CutPrefix(importPath, cudalab+"/")
	if !ok {
		return filepath.Join(a.root, filepath.FromSlash(importPath)) // the standard library's: nothing is known of it
	}
	if a.cudalab == "" {
		a.cudalab = Cudalab(a.root)
	}
	return filepath.Join(a.cudalab, filepath.FromSlash(below))
}

// Cudalab is the folder of module cudalab as the course at root uses it; where go does not say, the course itself.
func Cudalab(root string) string {
	tool, env, err := GoCommand(root)
	if err != nil {
		return root
	}
	cmd := exec.Command(tool, "list", "-m", "-f", "{{.Dir}}", cudalab)
	cmd.Dir, cmd.Env = root, env
	said, err := cmd.Output()
	if dir := strings.TrimSpace(string(said)); err == nil && dir != "" {
		return dir
	}
	return root
}

func collect(d ast.Decl, names map[string]bool) {
	add := func(id *ast.Ident, function bool) {
		if id.IsExported() {
			names[id.Name] = function
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			add(d.Name, true)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				add(spec.Name, false)
			case *ast.ValueSpec:
				for _, id := range spec.Names {
					add(id, false)
				}
			}
		}
	}
}

func importPath(s *submission) string { return s.api.module + "/" + s.folder() }

// folder is where in the course an exercise's package seems to be. A numbered one's is a folder that is nowhere but in
// the overlay, and ends like the others: suites look for that in the names of functions.
func (e Exercise) folder() string {
	if e.Number == 0 {
		return "exercises/" + e.Package
	}
	return fmt.Sprintf("exercises/%d/exercises/%s", e.Number, e.Package)
}
