package compile

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"time"

	"cudalab/grader/machine/child"
)

// hasGo says that there is no go command: a browser has Go's compiler and linker, and the packages that they need.
const hasGo = false

// How much time each of the tools may take. A browser tells no CPU time, so that whether the code or the machine keeps
// the compiler busy cannot be told either: what takes longer than this is not put down to the student.
const (
	buildTime    = 2 * time.Minute
	compilerTime = 0
)

// build does what go build would: it compiles one package after another and links them, as far as nothing is wrong. How
// the first that is ended is the result; said is what the tools say by package.
func (b *builder) build(ctx context.Context, submissions []*submission) (r child.Result, said []output, err error) {
	if b.Precompiled == nil {
		return r, nil, errors.New("a browser builds from precompiled packages alone")
	}
	if err := b.writeConfig(submissions); err != nil {
		return r, nil, err
	}
	r = child.Result{Reason: child.Exited}
	step := func(path, tool string, args ...string) error {
		one, err := b.run(ctx, tool, args...)
		if err == nil && !good(one) {
			said = append(said, output{path, string(one.Stdout) + string(one.Stderr)})
			if good(r) {
				r = child.Result{Reason: one.Reason, ExitCode: one.ExitCode}
			}
		}
		return err
	}
	for _, s := range submissions { // each, whatever becomes of the others, as go build does
		if err := step(importPath(s), "compile", b.compileArgs(importPath(s), b.work.archive(s.name()),
			b.work.exercise(s))...); err != nil {
			return r, nil, err
		}
	}
	main := b.work.archive("main")
	if good(r) {
		if err := step(b.work.mainPath(), "compile", b.compileArgs("main", main, b.work.main(submissions))...); err != nil {
			return r, nil, err
		}
	}
	if good(r) {
		if err := step(b.work.mainPath(), "link", b.linkArgs(main)...); err != nil {
			return r, nil, err
		}
	}
	if good(r) {
		err = os.Rename(b.work.runner(), b.slot.binary)
	}
	return r, said, err
}

// Given is what a page brings: the folders of Go's compiler and linker and of the compiled packages, which lie there by
// their import paths.
func Given(tools, lang, debug, folder string, packages []string) *Precompiled {
	p := &Precompiled{tools: tools, lang: lang, debug: debug, limits: map[[sha256.Size]byte]*CompileError{}}
	for _, name := range packages {
		p.archives += "packagefile " + name + "=" + filepath.Join(folder, name+".a") + "\n"
	}
	return p
}
