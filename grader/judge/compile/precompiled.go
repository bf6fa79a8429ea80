package compile

import (
	"context"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"cudalab/grader/machine/child"
)

// Precompiled is all that a runner of a course consists of but the exercises, compiled. With it a build runs the compiler
// and the linker alone: go build would load some hundred packages before, each time, to find that they have not changed,
// and hash what comes out. That makes a third more of work (a runner of six exercises on two cores: 0.93 s of CPU time
// instead of 0.67), which is worth saving where many runners of one course are built in a row.
type Precompiled struct {
	tools    string // the folder of Go's compiler and linker
	env      []string
	lang     string // the version of Go that the course is written in
	debug    string // what go build sets for the runtime of a program of the course's
	archives string // for an importcfg: a line for every package
}

// toolTime is how long the compiler or the linker may take over a package, or a runner, before go build gets it, which has
// words for whoever's code makes that take longer.
const toolTime = 10 * time.Second

// Precompile has go build's cache filled with the packages of a request, and looks up where they are. They stay as they
// are now for as long as the Precompiled is in use. Its error says that go build itself is better left to build.
func Precompile(ctx context.Context, q Request) (*Precompiled, error) {
	q, err := complete(q)
	if err != nil {
		return nil, err
	}
	tool, err := goTool(q)
	if err != nil {
		return nil, err
	}
	ask := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, tool, args...)
		cmd.Dir, cmd.Env = q.Root, environment("")
		said, err := cmd.Output()
		return strings.TrimSpace(string(said)), err
	}
	defer tell(q.Preparing)()
	a := newAPI(q.Root)
	p := &Precompiled{lang: version.Lang("go" + goNeeded(q.Root))}
	settings := []string{"GOTOOLDIR", "GOAMD64", "GOARM64"}
	said, err := ask(append([]string{"env"}, settings...)...)
	values := strings.Split(said+"\n\n", "\n") // an empty one at the end is cut off
	if err != nil || values[0] == "" {
		return nil, fmt.Errorf("go env: %w", err)
	}
	p.tools, p.env = values[0], append(environment(""), "GOROOT=") // -trimpath has go build hide where Go is
	for i, name := range settings[1:] {
		p.env = append(p.env, name+"="+values[1+i])
	}
	if p.debug, err = ask("list", "-f", "{{.DefaultGODEBUG}}", a.module+"/cmd/cudalab"); err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	list := []string{"list", "-export", "-deps", "-trimpath", "-f", "{{with .Export}}packagefile {{$.ImportPath}}={{.}}{{end}}"}
	if p.archives, err = ask(append(list, a.packages(q.Exercises)...)...); err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	return p, nil
}

// assemble makes a runner of the submissions from what is precompiled. It is not ok where there is nothing, or where
// anything stands in the way, be it an error in a submission: it is go build that has the words for that.
func (b *builder) assemble(ctx context.Context, submissions []*submission) (ok bool) {
	const separators = ";=" // of what -trimpath and an importcfg list
	if b.Precompiled == nil || strings.ContainsAny(b.work.dir, separators) || b.work.join(submissions) != nil {
		return false
	}
	packages := b.Precompiled.archives
	for _, s := range submissions {
		packages += fmt.Sprintf("\npackagefile %s=%s", importPath(s), b.work.archive(s.Package))
	}
	if os.WriteFile(b.work.config(), []byte(packages), 0o600) != nil {
		return false
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var compilers sync.WaitGroup
	for _, s := range submissions {
		compilers.Go(func() {
			if !b.run(ctx, "compile", b.compileArgs(importPath(s), b.work.archive(s.Package), b.work.exercise(s))...) {
				cancel()
			}
		})
	}
	compilers.Wait()
	main := b.work.archive("main")
	return ctx.Err() == nil &&
		b.run(ctx, "compile", b.compileArgs("main", main, b.work.main(submissions))...) &&
		b.run(ctx, "link", b.linkArgs(main)...) &&
		os.Rename(b.work.runner(), b.slot.binary) == nil
}

func importPath(s *submission) string { return s.api.module + "/exercises/" + s.Package }

// compileArgs are the compiler's arguments for a package, as go build gives them.
func (b *builder) compileArgs(path, archive string, files []written) []string {
	var renamed, real []string
	for _, f := range files {
		renamed = append(renamed, f.real+"=>"+f.virtual)
		real = append(real, f.real)
	}
	return append([]string{"-o", archive, "-p", path, "-lang", b.Precompiled.lang, "-complete", "-nolocalimports", "-pack",
		"-importcfg", b.work.config(), "-trimpath", strings.Join(renamed, ";")}, real...)
}

// linkArgs are the linker's. What it leaves when it is stopped must not lie where go build is to write: go build does not
// replace a file that is no program. The build ID is one for all: nobody looks for a runner by it, but macOS wants one.
func (b *builder) linkArgs(main string) []string {
	args := []string{"-o", b.work.runner(), "-importcfg", b.work.config(), "-buildmode=exe", "-buildid=runner", "-s", "-w"}
	if b.Precompiled.debug != "" {
		args = append(args, "-X=runtime.godebugDefault="+b.Precompiled.debug)
	}
	return append(args, main)
}

// run runs the compiler or the linker.
func (b *builder) run(ctx context.Context, tool string, args ...string) (ok bool) {
	limits := b.Limits
	limits.Wall = min(limits.Wall, toolTime)
	p, err := child.Start(ctx, child.Command{Path: filepath.Join(b.Precompiled.tools, tool), Args: args, Dir: b.work.dir,
		Env: b.Precompiled.env, Limits: limits})
	if err != nil {
		return false
	}
	r := p.Wait()
	return r.Reason == child.Exited && r.ExitCode == 0
}
