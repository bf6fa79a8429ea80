package compile

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"slices"
	"strconv"

	"cudalab/grader/suite/gaps"
)

// lentEnd ends the names that are lent to a student's package, so that none of the student's own is in the way; its
// letter is on no keyboard.
const lentEnd = "\u01c3"

// lendMissing lends a submission the skeleton's functions in the place of those that the contract has by now and the
// submission has not, so that what there is can be judged.
func (s *submission) lendMissing() {
	declared := map[string]bool{}
	for _, f := range s.files {
		for _, d := range f.syntax.Decls {
			collect(d, declared)
		}
	}
	called := s.called()
	missing := slices.DeleteFunc(slices.Clone(called), func(name string) bool { _, ok := declared[name]; return ok })
	for _, name := range missing {
		if len(missing) < len(called) {
			s.lend(name, nil)
		}
	}
}

// called are the student's functions that the runner calls.
func (s *submission) called() (names []string) {
	for _, m := range ofTheExercise.FindAllStringSubmatch(s.Exercise.Main, -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

// lend lends a submission the skeleton's function of a name, in a file of its own: it does nothing but answer its first
// gap. Where the submission has the name in another way, instead is the error that says so. It is not lent where the
// skeleton has no gap there, or where nothing of the student's would be left to judge.
func (s *submission) lend(name string, instead *CompileError) bool {
	open := gaps.Within(s.Skeleton, name)
	if len(open) == 0 || len(s.lent)+1 >= len(s.called()) {
		return false
	}
	text, declared := placeholder(s.Skeleton, name, open[0].ID)
	if text == nil {
		return false
	}
	for i := range open {
		open[i].Line, open[i].Lacks = 0, name+" is not in the files"
		if instead != nil {
			open[i].File, open[i].Line = instead.File, instead.Line
			open[i].Lacks = fmt.Sprintf("%s should be declared as: %s, but is not", name, declared)
		}
	}
	f := &file{name: "lent-" + name + ".go", text: text}
	for slices.ContainsFunc(s.files, func(other *file) bool { return other.name == f.name }) {
		f.name = "lent-" + f.name
	}
	f.path = f.name
	s.parse(f)
	s.files, s.lent, s.gaps = append(s.files, f), append(s.lent, name), append(s.gaps, open...)
	return true
}

// placeholder is a file with the function of a name as the skeleton declares it, which answers a gap, and the
// declaration. It is nil where the function's last result is no error.
func placeholder(skeleton []byte, name, gap string) (text []byte, declared string) {
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, "", skeleton, parser.SkipObjectResolution)
	if err != nil {
		return nil, ""
	}
	d := function(syntax, name, false)
	if d == nil || d.Type.Results == nil {
		return nil, ""
	}
	declared = signature(set, d, skeleton)
	var results []*ast.Field
	for _, r := range d.Type.Results.List {
		for range max(len(r.Names), 1) {
			results = append(results, &ast.Field{Names: []*ast.Ident{ast.NewIdent("_")}, Type: r.Type})
		}
	}
	last := results[len(results)-1]
	if id, is := last.Type.(*ast.Ident); !is || id.Name != "error" {
		return nil, ""
	}
	last.Names[0].Name, d.Type.Results.List = "err", results
	imports, paths := "", importNames(syntax)
	use := func(pkg string) {
		if p, ok := paths[pkg]; ok {
			imports += fmt.Sprintf("import %s %s\n", pkg+lentEnd, strconv.Quote(p))
			delete(paths, pkg)
		}
	}
	use("contract")
	ast.Inspect(d.Type, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := selector.X.(*ast.Ident); ok {
				use(pkg.Name)
				pkg.Name += lentEnd
			}
		}
		return true
	})
	var signature bytes.Buffer
	if err := printer.Fprint(&signature, token.NewFileSet(), d.Type); err != nil {
		return nil, ""
	}
	text = fmt.Appendf(nil, "package %s\n\n%s\nfunc %s%s {\n\terr = contract%s.TODO(%q)\n\treturn\n}\n", syntax.Name.Name,
		imports, name+lentEnd, bytes.TrimPrefix(signature.Bytes(), []byte("func")), lentEnd, gap)
	return text, declared
}

// main is the expression that makes the suite, with what is lent.
func (s *submission) main() string {
	return ofTheExercise.ReplaceAllStringFunc(s.Exercise.Main, func(call string) string {
		if slices.Contains(s.lent, call[len("exercise."):]) {
			return call + lentEnd
		}
		return call
	})
}

// lendInstead lends functions to submissions in which nothing is wrong but that functions of the contract's names have
// other signatures. It reports whether the runner is to be made once more.
func (b *builder) lendInstead(submissions []*submission) (lent bool, err error) {
	for _, s := range submissions {
		if len(s.errors) == 0 {
			continue
		}
		if slices.ContainsFunc(s.errors, func(e CompileError) bool { return !s.lend(e.function, &e) }) {
			s.gaps = nil
			continue
		}
		s.errors, b.done[s], lent = nil, false, true
		if err := b.work.add(s); err != nil {
			return false, err
		}
	}
	return lent, nil
}
