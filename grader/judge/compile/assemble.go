package compile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"cudalab/grader/machine/child"
)

// assemble makes a runner of the submissions from what is precompiled: the compiler for each package that is not, under
// a limit of its own, and the linker. What they find in a student's code goes into that submission. It is not ok where
// there is nothing precompiled, or where anything stands in the way that is no student's: it is go build that has the
// words for that.
func (b *builder) assemble(ctx context.Context, submissions []*submission) (made, ok bool, err error) {
	const separators = ";=" // of what -trimpath and an importcfg list
	if b.Precompiled == nil || strings.ContainsAny(b.work.dir, separators) || b.work.join(submissions) != nil {
		return false, false, nil
	}
	if b.writeConfig(submissions) != nil {
		return false, false, nil
	}
	if ok, err := b.compileAll(ctx, submissions); err != nil || !ok {
		return false, ok, err
	}
	for _, s := range submissions {
		if s.bad() {
			return false, true, nil
		}
	}
	main := b.work.archive("main")
	r, err := b.run(ctx, "compile", b.compileArgs("main", main, b.work.main(submissions))...)
	if err != nil || !good(r) {
		return false, false, err
	}
	r, err = b.run(ctx, "link", b.linkArgs(main)...)
	if err != nil || !good(r) {
		return false, false, err
	}
	made = os.Rename(b.work.runner(), b.slot.binary) == nil
	return made, made, nil
}

// writeConfig writes the importcfg of a runner.
func (b *builder) writeConfig(submissions []*submission) error {
	packages := b.Precompiled.archives
	for _, s := range submissions {
		packages += fmt.Sprintf("\npackagefile %s=%s", importPath(s), b.work.archive(s.name()))
	}
	return os.WriteFile(b.work.config(), []byte(packages), 0o600)
}

// compilers is how many packages of a submission are compiled at one time: each may take all the memory of a limit.
const compilers = 2

// compileAll compiles the students' packages that are not compiled yet. The same text in several exercises is compiled
// in one of them first: a limit that it runs into there it runs into everywhere.
func (b *builder) compileAll(ctx context.Context, submissions []*submission) (ok bool, err error) {
	var alike [][]*submission
	at := map[[32]byte]int{}
	for _, s := range submissions {
		if b.done[s] {
			continue
		}
		d := s.digest()
		if _, known := at[d]; !known {
			at[d] = len(alike)
			alike = append(alike, nil)
		}
		alike[at[d]] = append(alike[at[d]], s)
	}
	var mu sync.Mutex
	ok = true
	free := make(chan struct{}, compilers)
	var all sync.WaitGroup
	for _, group := range alike {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			for _, s := range group {
				compiled, failed := b.compileOne(ctx, s)
				mu.Lock()
				if err == nil {
					err = failed
				}
				ok = ok && (compiled || s.bad())
				b.done[s] = compiled
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return ok, err
}

// compileOne compiles one student's package. Neither compiled nor bad it is where the compiler's words are not about
// the student's code.
func (b *builder) compileOne(ctx context.Context, s *submission) (compiled bool, err error) {
	if limit := b.Precompiled.limit(s, nil); limit != nil {
		s.errors = []CompileError{*limit}
		return false, nil
	}
	r, err := b.run(ctx, "compile", b.compileArgs(importPath(s), b.work.archive(s.name()), b.work.exercise(s))...)
	if err != nil || good(r) {
		return err == nil, err
	}
	limit, err := ended(ctx, r, b.Limits)
	if limit != nil {
		s.errors = []CompileError{*b.Precompiled.limit(s, limit)}
	}
	const unread = "could not import " // also where an archive is not what it was
	text := string(r.Stdout) + string(r.Stderr)
	if limit != nil || err != nil || strings.Contains(text, unread) || !b.Precompiled.whole() {
		return false, err
	}
	found, _ := b.work.parse(output{importPath(s), text})
	b.explain(found)
	return false, nil
}

// limit is the limit that a submission's code has run into before; now, where it is not nil, is one that it has run
// into now.
func (p *Precompiled) limit(s *submission, now *CompileError) *CompileError {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now != nil {
		p.limits[s.digest()] = now
	}
	return p.limits[s.digest()]
}

// compileArgs are the compiler's arguments for a package, as go build gives them.
func (b *builder) compileArgs(path, archive string, files []written) []string {
	var renamed, real []string
	for _, f := range files {
		renamed = append(renamed, f.real+"=>"+f.virtual)
		real = append(real, f.real)
	}
	return append([]string{"-o", archive, "-p", path, "-lang", b.Precompiled.lang, "-complete", "-nolocalimports", "-pack",
		"-e", noDWARF, "-importcfg", b.work.config(), "-trimpath", strings.Join(renamed, ";")}, real...)
}

// noDWARF has the compiler write nothing for debuggers, which no runner is for: the archives are a quarter
// smaller, and linking takes 100 ms of CPU time instead of 125 (ring, on a cloud machine).
const (
	noDWARF     = "-dwarf=false"
	archiveFlag = "-gcflags=all=" + noDWARF // go build's flag for every package that a runner consists of
)

// linkArgs are the linker's. What it leaves when it is stopped must not lie where go build is to write: go build does
// not replace a file that is no program. The build ID is one for all: nobody looks for a runner by it, but macOS wants
// one.
func (b *builder) linkArgs(main string) []string {
	args := []string{"-o", b.work.runner(), "-importcfg", b.work.config(), "-buildmode=exe", "-buildid=runner", "-w"}
	if hasGo {
		// without it WebAssembly keeps the names of functions, by which the page finds an endless recursion
		args = append(args, "-s")
	}
	if b.Precompiled.debug != "" {
		args = append(args, "-X=runtime.godebugDefault="+b.Precompiled.debug)
	}
	return append(args, main)
}

// run runs the compiler or the linker. Its error is the context's, or one of the machine's.
func (b *builder) run(ctx context.Context, tool string, args ...string) (child.Result, error) {
	limits := b.Limits
	limits.Output = maxOutput
	p, err := child.Start(ctx, child.Command{Path: filepath.Join(b.Precompiled.tools, tool), Args: args, Dir: b.work.dir,
		Env: append(environment(""), b.Precompiled.settings...), Limits: limits})
	if err != nil {
		return child.Result{Reason: child.Exited, ExitCode: -1}, ctx.Err() // go build has words for tools that are not there
	}
	return p.Wait(), nil
}
