package compile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"cudalab/grader/machine/child"
	"cudalab/grader/machine/lock"
)

// What a runner consists of but the student's own code, which is the standard library and the course, takes half a
// minute of CPU time to compile at first, and on a busy machine any number of minutes. No student is to answer for
// that, so it is compiled before, without a limit; of the lessons it is those alone that the runner is for.
const (
	patience = 700 * time.Millisecond // how long that may take before anybody is told
	effort   = 30 * time.Second       // of CPU time, where nothing is compiled yet
)

// Preparing is what a person is told who waits for that.
func Preparing() string {
	processors := runtime.GOMAXPROCS(0)
	took := max(effort/time.Duration(processors), 5*time.Second).Round(5 * time.Second)
	return fmt.Sprintf("Preparing: Go compiles what this lesson's checks are made of, once on this machine. The first "+
		"time that is its standard library as well, and takes about %v with %s, longer while other programs keep the "+
		"machine busy.", took, plural(processors, "processor"))
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// prepare sees to it that everything but the students' code is compiled. Where this machine remembers that it is, that
// takes no time. Anew, it does not believe that; news reports that something was missing after all. Only the context's
// error is one: what keeps it from being compiled the build itself has words for.
func (b *builder) prepare(ctx context.Context, anew bool) (news bool, err error) {
	if b.Precompiled != nil {
		return false, nil // it is what everything but the students' code has been compiled to
	}
	memory := filepath.Join(filepath.Dir(b.slot.binary), "compiled-"+cache(b.tool, b.slot.fallback, b.exercises))
	known := readMemory(memory)
	if known != nil && !anew {
		return false, nil
	}
	defer tell(b.Preparing)()
	// Whoever comes while another compiles would compile the same once more beside it.
	release, err := lock.Acquire(ctx, filepath.Join(filepath.Dir(memory), compiling))
	if err != nil {
		return false, ctx.Err()
	}
	defer release()
	if known == nil && readMemory(memory) != nil {
		return true, nil
	}
	p, err := child.Start(ctx, child.Command{Path: b.tool, Dir: b.Root, Env: environment(b.slot.fallback),
		Args: append([]string{"list", "-e", "-export", "-deps", "-trimpath", archiveFlag, "-f", "{{.Export}}"},
			b.api.packages(b.exercises)...)})
	if err != nil {
		return false, ctx.Err()
	}
	r := p.Wait()
	files := slices.DeleteFunc(strings.Split(string(r.Stdout), "\n"), func(line string) bool { return line == "" })
	if ctx.Err() != nil || r.Reason != child.Exited || r.ExitCode != 0 || r.Truncated || len(files) == 0 {
		return false, ctx.Err()
	}
	_ = os.WriteFile(memory, []byte(strings.Join(files, "\n")), 0o600) // without it the next build asks again
	return !slices.Equal(files, known), nil
}

// Packages are those that runners of these exercises in the course at root consist of, and all that they could
// import, but for the students' own.
func Packages(root string, exercises []Exercise) []string { return newAPI(root).packages(exercises) }

// packages are those of a runner of these exercises, and all that they could import, but for the students' own.
func (a *api) packages(exercises []Exercise) []string {
	packages := append([]string{cudalab + "/grader/judge/runner", returnedLine}, slices.Concat(a.courses, standard)...)
	for _, e := range exercises {
		packages = append(packages, a.module+"/grader/suites/"+e.Package)
		if e.Solution {
			packages = append(packages, a.module+"/solutions/"+e.Package)
		}
	}
	return packages
}

// compiling is the lock of whoever compiles for any runner: most of that is what every other needs.
const compiling = "compiling.lock"

// cache is a short name for the exercises, the Go that compiles and the cache that it fills, as far as can be told
// without asking it: the go command's file, the settings of Go's own, and where its cache lies. What that cannot tell
// costs a build nothing but a second try.
func cache(tool, fallback string, exercises []Exercise) string {
	h := sha256.New()
	for _, e := range exercises {
		fmt.Fprintln(h, e.Package, e.Solution)
	}
	for _, file := range []string{tool, goSettings()} {
		if s, err := os.Stat(file); err == nil {
			fmt.Fprintln(h, file, s.Size(), s.ModTime().UnixNano())
		}
	}
	for _, name := range []string{"GOCACHE", "GOFLAGS", "GOAMD64", "GOARM64"} {
		fmt.Fprintf(h, "%s=%s\n", name, os.Getenv(name))
	}
	if os.Getenv("GOCACHE") == "" { // then it lies where these say
		for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
			fmt.Fprintf(h, "%s=%s\n", name, os.Getenv(name))
		}
		fmt.Fprintln(h, fallback)
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// goSettings is the file that `go env -w` writes.
func goSettings() string {
	if file := os.Getenv("GOENV"); file != "" {
		return file
	}
	folder, _ := os.UserConfigDir() // without one there are no settings
	return filepath.Join(folder, "go", "env")
}

// readMemory are the compiled packages that a file lists, if all of them are still there: Go throws away what has not
// been used for days.
func readMemory(file string) []string {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	files := strings.Split(string(text), "\n")
	for _, f := range files {
		if _, err := os.Stat(f); err != nil {
			return nil
		}
	}
	return files
}

// tell calls f once so much time has passed that somebody will wonder, unless done is called before.
func tell(f func()) (done func()) {
	if f == nil {
		return func() {}
	}
	said := make(chan struct{})
	timer := time.AfterFunc(patience, func() { f(); close(said) })
	return func() {
		if !timer.Stop() {
			<-said // f is not to run any more once this has returned
		}
	}
}

// slow is the error where a build was stopped for a reason that may well be the machine's.
func slow(limits child.Limits) error {
	return &EnvironmentError{
		Problem: fmt.Sprintf("The build was not done after %v and was stopped: this machine is too busy, or too slow. That "+
			"says nothing about your code.", limits.Wall),
		Fix: "Try again when less runs on it. If that does not help, look for a huge array or constant in what you have " +
			"written last: the compiler works them out.",
	}
}
