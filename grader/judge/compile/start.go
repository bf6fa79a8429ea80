package compile

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
)

// starter looks for CUDA calls that would run before the exercise is called: in init functions, in the initialisers
// of package variables, and in whatever of the package those can reach. It goes by names, not types, and so believes
// too much rather than too little: a method is reached when any method of its name is, and what a function or variable
// that is reached only names is taken to be called.
type starter struct {
	api   *api
	body  map[string][]place // by the name of a function or package variable; methods as ".name"
	vars  map[any]bool       // the declarations of package variables
	clean map[string]bool    // functions and variables that are known to reach no CUDA call
	seen  map[string]bool    // and those that the search under way has come by
}

// place is a piece of syntax in its file.
type place struct {
	file *file
	node ast.Node
}

// checkStart refuses CUDA at the program's start.
func (s *submission) checkStart() {
	st := &starter{api: s.api, body: map[string][]place{}, vars: map[any]bool{}, clean: map[string]bool{}}
	type root struct {
		place
		what string
	}
	var roots []root
	for _, f := range s.files {
		if f.syntax == nil {
			continue
		}
		for _, d := range f.syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == "init" {
					roots = append(roots, root{place{f, d}, "The init function"})
					continue
				}
				name := d.Name.Name
				if d.Recv != nil {
					name = "." + name
				}
				st.body[name] = append(st.body[name], place{f, d})
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					v, ok := spec.(*ast.ValueSpec)
					if !ok || d.Tok != token.VAR {
						continue
					}
					st.vars[v] = true
					for i, value := range v.Values {
						name := v.Names[min(i, len(v.Names)-1)].Name
						st.body[name] = append(st.body[name], place{f, value})
						roots = append(roots, root{place{f, value}, "The initial value of the package variable " + name})
					}
				}
			}
		}
	}
	s.starts = slices.ContainsFunc(roots, func(r root) bool { return !r.inert() })
	for _, r := range roots {
		if len(s.refusals) == maxRefusals {
			return
		}
		if !r.calls() {
			continue // a table of functions is none of their calls
		}
		st.seen = map[string]bool{}
		call := st.find(r.place)
		if len(call) == 0 {
			// Only a search that found nothing has seen all there is to see.
			maps.Copy(st.clean, st.seen)
		} else {
			s.refuseAt(r.file, r.node.Pos(), Refusal{
				Rule:    RuleEarlyCUDA,
				Message: fmt.Sprintf("%s uses %s.", r.what, route(call)),
				Why: "It is worked out when the program starts: before the grader has chosen the device, given you streams or " +
					"begun to record, and once for all calls.",
				Fix: "Make CUDA calls only while one of the exercise's own functions is running, and keep what they made in " +
					"local variables or in the value that New returns.",
			})
		}
	}
}

// calls reports whether a piece of syntax calls anything while it is carried out.
func (p place) calls() bool {
	if _, function := p.node.(*ast.FuncDecl); function {
		return true
	}
	calls := false
	ast.Inspect(p.node, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit:
			return false // only the value: nobody has called it
		case *ast.CallExpr:
			calls = true
		}
		return !calls
	})
	return calls
}

// inert reports whether a value is made at the program's start without running anything that could fail, take long or
// leave something behind. It takes too little for inert rather than too much; an init function is not.
func (p place) inert() bool {
	inert := true
	ast.Inspect(p.node, func(n ast.Node) bool {
		switch n := n.(type) {
		case nil, *ast.BasicLit, *ast.Ident, *ast.CompositeLit, *ast.ParenExpr, *ast.ArrayType, *ast.Ellipsis,
			*ast.MapType:
			return true
		case *ast.KeyValueExpr:
			_, literal := n.Key.(*ast.BasicLit) // any other may be one that no map can hold
			inert = inert && literal
		case *ast.FuncLit:
			return false // only the value: nobody has called it
		case *ast.UnaryExpr:
			inert = inert && n.Op != token.ARROW
		case *ast.BinaryExpr:
			inert = inert && (n.Op == token.ADD || n.Op == token.SUB || n.Op == token.MUL)
		case *ast.SelectorExpr:
			inert = inert && p.file.imported(n.X) != ""
			return false
		case *ast.CallExpr:
			f, ok := n.Fun.(*ast.SelectorExpr)
			inert = inert && ok && p.file.imported(f.X) == "errors" && f.Sel.Name == "New"
		default:
			inert = false
		}
		return inert
	})
	return inert
}

// find is the way to the first CUDA function in a piece of syntax: functions of the package, then the function itself.
func (st *starter) find(p place) []string {
	var way []string
	ast.Inspect(p.node, func(n ast.Node) bool {
		if len(way) > 0 {
			return false
		}
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if pkg := p.file.imported(n.X); pkg != "" {
				if st.api.isFunction(pkg, n.Sel.Name) {
					way = []string{path.Base(pkg) + "." + n.Sel.Name}
				}
				return false
			}
			if way = st.follow("." + n.Sel.Name); len(way) == 0 {
				way = st.find(place{p.file, n.X})
			}
			return false
		case *ast.Ident:
			if n.Obj == nil || n.Obj.Kind == ast.Fun || st.vars[n.Obj.Decl] {
				way = st.follow(n.Name)
			}
		}
		return true
	})
	return way
}

func (st *starter) follow(name string) []string {
	if st.clean[name] || st.seen[name] {
		return nil
	}
	st.seen[name] = true
	for _, body := range st.body[name] {
		if decl, ok := body.node.(*ast.FuncDecl); ok {
			if decl.Body == nil {
				continue
			}
			body.node = decl.Body
		}
		if way := st.find(body); len(way) > 0 {
			return append([]string{strings.TrimPrefix(name, ".")}, way...)
		}
	}
	return nil
}

// route puts a way in words.
func route(way []string) string {
	last := way[len(way)-1]
	if len(way) == 1 {
		return last
	}
	return last + ", through " + strings.Join(way[:len(way)-1], ", which uses ")
}
