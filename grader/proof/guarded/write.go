package guarded

import (
	"bytes"
	_ "embed"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"

	"cudalab/grader/judge/edits"
)

// support is what the functions of a guarded program need, as Go without a package clause.
//
//go:embed support.txt
var support string

// write writes the program that is its base and all wrong ones, each behind its number. The wrong programs are renamed,
// and the base's functions as well.
func write(base *program, functions []*function, wrong []*difference) (string, error) {
	paths := map[string]string{"fmt": "fmt"} // by the name in the program
	for _, p := range append([]*program{base}, programsOf(wrong)...) {
		for _, spec := range p.file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return "", err
			}
			name := path[strings.LastIndex(path, "/")+1:]
			if spec.Name != nil {
				name = spec.Name.Name
			}
			if other, taken := paths[name]; taken && other != path {
				return "", fmt.Errorf("%s and %s are both imported as %s", other, path, name)
			}
			paths[name] = path
		}
	}
	var body bytes.Buffer
	base.note()
	for _, d := range wrong {
		d.note()
		d.rename()
		for _, own := range d.added {
			fmt.Fprintf(&body, "%s\n\n", d.text(own.node))
		}
		for _, name := range slices.Sorted(maps.Keys(d.changed)) {
			fmt.Fprintf(&body, "%s\n\n", d.text(d.changed[name].node))
		}
	}
	for _, own := range base.declarations {
		if f, ok := own.node.(*ast.FuncDecl); ok {
			writeFunction(&body, base, own.name, f, functionNamed(functions, own.name), wrong)
			continue
		}
		if s := structOf(own); s != nil {
			extend(s, own.name, functions, wrong)
		}
		fmt.Fprintf(&body, "%s\n\n", base.text(own.node))
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "package %s\n\nimport (\n", base.file.Name.Name)
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		if name == "fmt" || strings.Contains(body.String(), name+".") {
			fmt.Fprintf(&b, "\t%s %q\n", name, paths[name])
		}
	}
	fmt.Fprintf(&b, ")\n\nconst functions_ = %d\n\n%s\n%s", len(functions), support, body.Bytes())
	text, err := format.Source(b.Bytes())
	if err != nil {
		return b.String(), err
	}
	return string(text), nil
}

func programsOf(wrong []*difference) (all []*program) {
	for _, d := range wrong {
		all = append(all, d.program)
	}
	return all
}

func functionNamed(functions []*function, name string) *function {
	for _, f := range functions {
		if f.name == name {
			return f
		}
	}
	return nil
}

// extend gives a struct of the base's the fields that the wrong programs need, and an instance what the guard does.
func extend(s *ast.StructType, name string, functions []*function, wrong []*difference) {
	add := func(fields ...*ast.Field) { s.Fields.List = append(s.Fields.List, fields...) }
	for _, d := range wrong {
		add(d.fields[name]...)
	}
	if slices.ContainsFunc(functions, func(f *function) bool { return f.of == name }) {
		add(&ast.Field{Names: []*ast.Ident{ast.NewIdent("guard_")}, Type: ast.NewIdent("instance_")})
	}
	s.Fields.Opening, s.Fields.Closing = token.NoPos, token.NoPos // lines of several programs are in it
}

// writeFunction writes a function of the base's, and what chooses between it and the wrong programs'.
func writeFunction(b *bytes.Buffer, base *program, name string, f *ast.FuncDecl, entry *function, wrong []*difference) {
	var wrongs []*difference
	for _, d := range wrong {
		if d.changed[name] != nil {
			wrongs = append(wrongs, d)
		}
	}
	if entry == nil && len(wrongs) == 0 {
		fmt.Fprintf(b, "%s\n\n", base.text(f))
		return
	}
	s := edits.SignatureOf(f, base.text)
	own := f.Name.Name
	fmt.Fprintf(b, "func %s%s(%s) (%s) {\n", s.Receiver, own, s.Parameters, s.Results)
	if entry != nil {
		writeGuard(b, entry, s, base.info.Defs[f.Name].(*types.Func).Signature())
	}
	choose := func(name string) { b.WriteString(s.Call(name)) }
	if len(wrongs) > 0 {
		fmt.Fprintln(b, "switch wrong_ {")
		for _, d := range wrongs {
			fmt.Fprintf(b, "case %d:\nenter_()\n", d.number)
			choose(d.named(own))
		}
		fmt.Fprintln(b, "}")
	}
	choose("right_" + own)
	fmt.Fprintf(b, "}\n\n")
	f.Name.Name = "right_" + own
	fmt.Fprintf(b, "%s\n\n", base.text(f))
	f.Name.Name = own
	if entry != nil {
		receiver := strings.TrimSuffix(s.Receiver, ") ")
		if receiver != "" {
			receiver = strings.TrimPrefix(receiver, "(") + ", "
		}
		fmt.Fprintf(b, "func value%d_(v_ int64, %s%s) int64 {\nconst f_ = %d\n_ = f_\nswitch v_ {\n",
			entry.index, receiver, s.Parameters, entry.index)
		for i, o := range entry.observed {
			fmt.Fprintf(b, "case %d: // %s\nreturn int64(%s)\n", i, o.name, o.expression)
		}
		fmt.Fprintf(b, "}\nreturn 0\n}\n\n")
	}
}

// writeGuard writes what decides, when an input comes in, by which program it is worked on.
func writeGuard(b *bytes.Buffer, f *function, s edits.Signature, signature *types.Signature) {
	fmt.Fprintf(b, "const f_ = %d\n", f.index)
	values := s.Arguments
	if f.of != "" {
		values = "r_, " + values
		fmt.Fprintln(b, "if !inside_ && r_ != nil {\nnow_ := r_.guard_.wrong\nr_.guard_.calls[f_]++")
	} else {
		fmt.Fprintln(b, "if !inside_ {\nnow_ := int64(0)")
	}
	value := fmt.Sprintf("value%d_(%%s, %s)", f.index, strings.TrimSuffix(values, ", "))
	if f.variadic() {
		value = fmt.Sprintf("value%d_(%%s, %s)", f.index, values)
	}
	fmt.Fprintln(b, "calls_[f_]++")
	fmt.Fprintf(b, "if guard_[function_] == f_ && holds_(%s) {\nnow_ = guard_[number_]\n",
		fmt.Sprintf(value, "guard_[variable_]"))
	if f.of != "" {
		fmt.Fprintln(b, "if guard_[mode_] == sticky_ {\nr_.guard_.wrong = now_\n}")
	}
	fmt.Fprintf(b, "}\nif guard_[mode_] == recording_ {\nfor v := range int64(%d) {\nrecord_(f_, v, %s)\n}\n}\n",
		len(f.observed), fmt.Sprintf(value, "v"))
	fmt.Fprintln(b, "inside_, wrong_ = true, now_\ndefer func() {\ninside_, wrong_ = false, 0")
	for i, name := range s.Named {
		switch {
		case name == s.Failed:
			fmt.Fprintf(b, "a_(b_(%s != nil))\n", name)
		case isInteger(signature.Results().At(i).Type()):
			fmt.Fprintf(b, "a_(%s)\n", name)
		}
	}
	fmt.Fprintln(b, "told_()")
	if s.Failed != "" {
		fmt.Fprintf(b, "if %s != nil {\nerrors_++\n", s.Failed)
		if f.of != "" {
			fmt.Fprintln(b, "r_.guard_.errors++")
		}
		fmt.Fprintln(b, "}")
	}
	if f.makes != "" {
		fmt.Fprintln(b, "if r0 != nil {\nr0.guard_.wrong = now_\n}")
	}
	fmt.Fprintln(b, "}()\n}")
}

func (f *function) variadic() bool {
	params := f.node.Type.Params.List
	if len(params) == 0 {
		return false
	}
	_, is := params[len(params)-1].Type.(*ast.Ellipsis)
	return is
}
