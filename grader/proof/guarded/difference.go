package guarded

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"strings"
)

// difference is what a wrong program has otherwise than its base, in a form that can stand beside the base.
type difference struct {
	*program
	number  int
	changed map[string]*declaration // functions and methods that do something else
	added   []*declaration          // what the base has not, or as something else: it gets names of its own
	fields  map[string][]*ast.Field // what the base's structs have to hold besides, by the struct
	renamed map[types.Object]bool   // what gets a name of its own: what is added, and fields
}

// errExported is the reason why a program whose exported functions or types are others cannot stand beside its base.
var errExported = errors.New("it exports something else than the program that it is edited from")

// differ compares a wrong program with its base.
func differ(number int, base, wrong *program) (*difference, error) {
	d := &difference{program: wrong, number: number, changed: map[string]*declaration{},
		fields: map[string][]*ast.Field{}, renamed: map[types.Object]bool{}}
	for before := -1; before != len(d.renamed); { // what names something renamed is another thing, too
		before = len(d.renamed)
		clear(d.changed)
		clear(d.fields)
		d.added = nil
		for _, own := range wrong.declarations {
			d.compare(base, own)
		}
	}
	for _, own := range d.added {
		name := own.name[strings.LastIndex(own.name, ".")+1:]
		if ast.IsExported(name) && base.find(own.name) != nil {
			return nil, fmt.Errorf("%s: %w", own.name, errExported)
		}
	}
	if len(d.changed) == 0 && len(d.added) == 0 {
		return nil, errors.New("no function of it is another")
	}
	return d, nil
}

// compare enters what one declaration is.
func (d *difference) compare(base *program, own *declaration) {
	was := base.find(own.name)
	f, isFunction := own.node.(*ast.FuncDecl)
	method := isFunction && f.Recv != nil
	switch {
	case method && d.isRenamed(d.types.Scope().Lookup(receiver(f))):
		d.added = append(d.added, own) // under its own name: the type has another
	case was == nil || !sameKind(was, own):
		d.add(own)
	case isFunction:
		if d.signature(f) != base.signature(was.node.(*ast.FuncDecl)) || d.names(f.Type) || f.Recv != nil && d.names(f.Recv) {
			d.add(own)
		} else if own.text != was.text || d.names(f) {
			d.changed[own.name] = own
		}
	case structOf(own) != nil && structOf(was) != nil:
		d.merge(own.name, structOf(was), structOf(own))
	case own.text != was.text || d.names(own.node):
		d.add(own)
	}
}

func (d *difference) add(own *declaration) {
	d.added = append(d.added, own)
	for _, o := range d.declared(own) {
		d.renamed[o] = true
	}
}

// merge enters the fields that a struct has otherwise.
func (d *difference) merge(name string, was, own *ast.StructType) {
	known := map[string]string{}
	for _, field := range was.Fields.List {
		for _, id := range field.Names {
			known[id.Name] = plain(d.text(field.Type))
		}
	}
	for _, field := range own.Fields.List {
		for _, id := range field.Names {
			if known[id.Name] != plain(d.text(field.Type)) || d.names(field.Type) {
				d.fields[name] = append(d.fields[name], &ast.Field{Names: []*ast.Ident{id}, Type: field.Type})
				d.renamed[d.info.Defs[id]] = true
			}
		}
	}
}

// names reports whether a node names something that gets another name.
func (d *difference) names(n ast.Node) bool {
	for _, o := range d.uses(n) {
		if d.isRenamed(o) {
			return true
		}
	}
	return false
}

func (d *difference) isRenamed(o types.Object) bool { return o != nil && d.renamed[o] }

func sameKind(a, b *declaration) bool {
	fa, isA := a.node.(*ast.FuncDecl)
	fb, isB := b.node.(*ast.FuncDecl)
	if !isA || !isB {
		return isA == isB
	}
	return (fa.Recv == nil) == (fb.Recv == nil)
}

// signature is the receiver's type, and those of parameters and results, whatever they are called.
func (p *program) signature(f *ast.FuncDecl) string {
	text := ""
	if f.Recv != nil {
		text = plain(p.text(f.Recv.List[0].Type))
	}
	s := p.info.Defs[f.Name].(*types.Func).Signature()
	for _, list := range []*types.Tuple{s.Params(), s.Results()} {
		for v := range list.Variables() {
			text += " " + types.TypeString(v.Type(), func(*types.Package) string { return "" })
		}
		text += ";"
	}
	return fmt.Sprint(text, s.Variadic())
}

// rename gives everything its own name that needs one. The program is no other one's base from then on.
func (d *difference) rename() {
	for _, own := range d.changed {
		name := own.node.(*ast.FuncDecl).Name
		name.Name = d.named(name.Name)
	}
	for _, ids := range []map[*ast.Ident]types.Object{d.info.Defs, d.info.Uses} {
		for id, o := range ids {
			if o != nil && d.renamed[origin(o)] {
				id.Name = d.named(o.Name())
			}
		}
	}
}

func (d *difference) named(name string) string { return fmt.Sprintf("wrong%d_%s", d.number, name) }

// reached are the functions and methods of the program that a call of one comes to, itself among them.
func (p *program) reached(name string) map[string]bool {
	found := map[string]bool{}
	var follow func(name string)
	follow = func(name string) {
		d := p.find(name)
		if d == nil || found[name] {
			return
		}
		found[name] = true
		for _, o := range p.uses(d.node) {
			if f, ok := o.(*types.Func); ok {
				follow(functionName(f))
			}
		}
	}
	follow(name)
	return found
}

// functionName is a function's name as in declaration.name.
func functionName(f *types.Func) string {
	recv := f.Signature().Recv()
	if recv == nil {
		return f.Name()
	}
	t := recv.Type()
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem()
	}
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Name() + "." + f.Name()
	}
	return f.Name()
}

// comesTo reports whether a call of an exported function comes to something that is wrong. It is asked before rename.
func (d *difference) comesTo(base *program, function string) bool {
	reached := d.reached(function)
	maps.Copy(reached, base.reached(function))
	for name := range d.changed {
		if reached[name] {
			return true
		}
	}
	return false
}
