// Package guarded makes guarded programs: each does what a wrong program of the corpus does where a predicate of its
// input holds, and what the solution does elsewhere. A suite that lets one pass does not look there.
//
// All wrong programs that are edited from one right program are in one program with it: a function that they have
// otherwise chooses between its forms, by what was decided when the call of the grader came in. Which wrong program it
// is, and which predicate, is written into the program file, so that one build does for all.
//
// Only tests use it. `go test ./grader/proof/guarded -run TestGuarded -lesson ring` tries 150 drawn ones of a lesson.
package guarded

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"

	"cudalab/grader/proof/corpus"
)

// Program is a program of Go, and what can be chosen in it.
type Program struct {
	Base      corpus.Program
	Text      string
	Wrong     []Wrong
	functions []*function
}

// Wrong is a wrong program that a guarded program may be.
type Wrong struct {
	corpus.Program
	number  int
	comesTo map[string]bool // the exported functions of which a call comes to what is wrong
	whole   bool            // an instance is wrong as a whole or not at all: it keeps something that the base's does not
}

// unguarded is a wrong program of which there is no guarded one.
type unguarded struct {
	corpus.Program
	Why error
}

// Of makes the guarded programs of an exercise of the course at root, one for each right program from which wrong ones
// are edited that are asked for.
func Of(root, exercisePackage string, asked func(corpus.Program) bool) ([]*Program, []unguarded, error) {
	all, err := corpus.Programs(root, exercisePackage)
	if err != nil {
		return nil, nil, err
	}
	var texts []string
	for _, p := range all {
		texts = append(texts, p.Text)
	}
	l, err := newLoader(root, exercisePackage, texts)
	if err != nil {
		return nil, nil, err
	}
	var made []*Program
	var left []unguarded
	for _, base := range all {
		var wrong []corpus.Program
		for _, p := range all {
			of := p.Base
			if of == "" {
				of = string(corpus.Solution)
			}
			if p.Kind == corpus.Wrong && of == base.String() && asked(p) {
				wrong = append(wrong, p)
			}
		}
		if len(wrong) == 0 {
			continue
		}
		p, without, err := l.combine(base, wrong)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", base, err)
		}
		left = append(left, without...)
		if len(p.Wrong) > 0 {
			made = append(made, p)
		}
	}
	return made, left, nil
}

// combine makes one program of a right one and those of the wrong ones that can stand beside it.
func (l *loader) combine(base corpus.Program, wrong []corpus.Program) (*Program, []unguarded, error) {
	var good []corpus.Program
	var left []unguarded
	for _, w := range wrong {
		if _, err := l.write(base, []corpus.Program{w}); err != nil {
			left = append(left, unguarded{w, err})
		} else {
			good = append(good, w)
		}
	}
	p, err := l.write(base, good)
	return p, left, err
}

// write writes a program, and sees to it that it compiles.
func (l *loader) write(base corpus.Program, wrong []corpus.Program) (*Program, error) {
	right, err := l.load(base)
	if err != nil {
		return nil, err
	}
	p := &Program{Base: base, functions: right.functions()}
	var differences []*difference
	for i, w := range wrong {
		loaded, err := l.load(w)
		if err != nil {
			return nil, err
		}
		d, err := differ(i+1, right, loaded)
		if err != nil {
			return nil, err
		}
		made := Wrong{Program: w, number: d.number, comesTo: map[string]bool{}}
		for _, f := range p.functions {
			made.comesTo[f.name] = d.comesTo(right, f.name)
		}
		made.whole = made.isWhole(d, p.functions)
		differences, p.Wrong = append(differences, d), append(p.Wrong, made)
	}
	if p.Text, err = write(right, p.functions, differences); err != nil {
		return nil, err
	}
	syntax, err := parser.ParseFile(l.set, "guarded "+base.String(), p.Text, parser.SkipObjectResolution)
	if err == nil {
		_, err = (&types.Config{Importer: l.importer}).Check(l.path, l.set, []*ast.File{syntax}, nil)
	}
	return p, err
}

// isWhole reports whether what makes an instance and what works on it are wrong together, or keep something of their
// own.
func (w *Wrong) isWhole(d *difference, functions []*function) bool {
	if len(d.fields) > 0 || slices.ContainsFunc(d.added, func(own *declaration) bool {
		group, ok := own.node.(*ast.GenDecl)
		return ok && group.Tok == token.VAR
	}) {
		return true
	}
	makes, works := false, false
	for _, f := range functions {
		makes = makes || f.makes != "" && w.comesTo[f.name]
		works = works || f.of != "" && w.comesTo[f.name]
	}
	return makes && works
}
