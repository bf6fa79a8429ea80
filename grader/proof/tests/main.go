// Command tests runs the tests that need no GPU, in two halves: `tests quick` is what says within minutes whether
// the tree is sound, `tests rest` is all that this leaves, and `tests share` is a share of that, drawn by the commit.
// halves.go declares which test is in which half. It prints what go test prints, the command that repeats each test
// that failed, and what took longest.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"cudalab/grader/proof/sample"
)

func main() {
	if len(os.Args) != 2 || parts[os.Args[1]] == "" {
		fmt.Fprintln(os.Stderr, "usage: tests quick|rest|share")
		os.Exit(2)
	}
	passed, err := runHalf(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "tests:", err)
	}
	if err != nil || !passed {
		os.Exit(1)
	}
}

// parts are what each half, or share, runs of a sampled test.
var parts = map[string]string{"quick": sample.Drawn, "rest": sample.Others, "share": sample.Share}

// runHalf runs one half; it fails unless every package that was started has passed.
func runHalf(half string) (passed bool, err error) {
	seed, err := drawnBy(".")
	if err != nil {
		return false, err
	}
	fmt.Printf("What is a sample is drawn by %s.\n", seed)
	packages, err := testsByPackage(".")
	if err != nil {
		return false, err
	}
	cc := exec.Command("cc", "--version").Run() == nil
	var calls []call
	switch half {
	case "quick":
		calls = quick()
	case "rest":
		calls = others(packages, cc, whole)
	case "share":
		calls = others(packages, cc, shareBy(seed))
	}
	in, out := io.Pipe()
	go func() {
		for _, c := range calls {
			cmd := exec.Command("go", c.arguments()...)
			cmd.Stdout, cmd.Stderr = out, os.Stderr
			cmd.Env = append(os.Environ(), c.environment(half, seed)...)
			cmd.Run() // what failed is in what it prints
		}
		out.Close()
	}()
	return report(in, os.Stdout)
}

// call is one call of go test.
type call struct {
	race     bool
	run      []string // the names of the tests that are run; none: all
	skip     []string // and not run
	packages []string // as folders
}

func (c call) arguments() []string {
	// lint vets everything.
	args := []string{"test", "-vet=off", "-timeout", "40m", "-json"}
	if c.race {
		args = append(args, "-race")
	}
	if len(c.run) > 0 {
		args = append(args, "-run", exactly(c.run))
	}
	if len(c.skip) > 0 {
		args = append(args, "-skip", exactly(c.skip))
	}
	return append(args, c.packages...)
}

func exactly(names []string) string { return "^(" + strings.Join(names, "|") + ")$" }

// environment is what a call's environment has besides this process's own. Where nothing is raced, the compiler is
// given the flags of cudalab and of the programs that students' code becomes, which the tests build: so everything
// is compiled once. What tests judge is large and soon garbage, as in cudalab itself.
func (c call) environment(half, seed string) []string {
	set := []string{sample.Variable + "=" + parts[half] + " " + seed, "GOGC=400"}
	if c.race {
		return append(set, "CGO_ENABLED=1", "GORACE=atexit_sleep_ms=0")
	}
	return append(set, "CGO_ENABLED=0", "GOFLAGS=-trimpath -gcflags=all=-dwarf=false")
}

// whole takes all.
func whole(_ string, all []string) []string { return all }

// shareBy takes a share that a seed draws.
func shareBy(seed string) func(kind string, all []string) []string {
	return func(kind string, all []string) (some []string) {
		for _, i := range sample.ShareOf(seed, kind, len(all)) {
			some = append(some, all[i])
		}
		return some
	}
}

// quick are the calls of the first half.
func quick() []call { return []call{{skip: rest, packages: []string{"./..."}}} }

// others are the calls of the second half, or of what is taken of each kind of it. With a C compiler, which the race
// detector needs, what has goroutines is raced.
func others(packages map[string]*tests, cc bool, take func(kind string, all []string) []string) (calls []call) {
	var raced []string
	if cc {
		raced = take("raced", racing(packages))
		alone := take("raced alone", racedAlone)
		calls = append(calls, call{race: true, packages: raced}, call{race: true, run: alone, packages: having(packages,
			alone)})
	}
	names := slices.Concat(take("rest", rest), sampled)
	left := slices.DeleteFunc(having(packages, names), func(p string) bool { return slices.Contains(raced, p) })
	plain := call{run: names, packages: left}
	if cc {
		plain.skip = racedAlone
	}
	return append(calls, plain)
}
