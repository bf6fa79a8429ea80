package cli

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suites/course"
)

// runnerMain is the runner's main function as grader/judge/compile writes it for an exercise.
const runnerMain = `package main

import (
	exercise "cudalab/exercises/%[1]s"
	"cudalab/grader/judge/runner"
	suite "cudalab/grader/suites/%[1]s"
	solution "cudalab/solutions/%[1]s"
)

func main() { runner.Main(%s) }
`

var pause = flag.Duration("pause", 0, "how `long` nobody saves before each check of BenchmarkWait: a system that has "+
	"given memory back meanwhile is slower")

// BenchmarkWait is a student's wait, from a saved one-line change to the verdict on the simulated device, beside what
// no tool could save: a bare go build of the same program and the start of an empty process. The two take turns, and
// the ratio is between the medians.
func BenchmarkWait(b *testing.B) {
	root, err := filepath.Abs("../../..")
	require.NoError(b, err)
	cudalab := filepath.Join(b.TempDir(), "cudalab")
	run := func(b *testing.B, name string, args ...string) {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%s %v: %v\n%s", name, args, err, text)
		}
	}
	run(b, "go", "build", "-o", cudalab, "-ldflags=-s -w", "./cmd/cudalab")
	c, err := course.Open(root)
	require.NoError(b, err)
	for _, e := range c.Exercises {
		b.Run(e.Name, func(b *testing.B) {
			dir := b.TempDir()
			solution, err := os.ReadFile(filepath.Join(root, e.SolutionFolder(), e.Package+".go"))
			require.NoError(b, err)
			code := filepath.Join(dir, "code")
			require.NoError(b, os.Mkdir(code, 0o755))
			saved := filepath.Join(code, e.Package+".go")
			n := os.Getpid() * 1000
			save := func() {
				n++
				text := fmt.Sprintf("%s\nfunc saved() int { return %d }\n", solution, n)
				require.NoError(b, os.WriteFile(saved, []byte(text), 0o644))
			}
			mainFile := filepath.Join(dir, "main.go")
			require.NoError(b, os.WriteFile(mainFile, fmt.Appendf(nil, runnerMain, e.Package, e.Main(true)), 0o644))
			overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
				filepath.Join(root, "grader/judge/runner/bare/main.go"): mainFile,
				filepath.Join(root, e.Folder(), e.Package+".go"):        saved,
			}})
			require.NoError(b, err)
			overlayFile := filepath.Join(dir, "overlay.json")
			require.NoError(b, os.WriteFile(overlayFile, overlay, 0o644))

			timed := func(f func()) time.Duration {
				save()
				time.Sleep(*pause)
				start := time.Now()
				f()
				return time.Since(start)
			}
			check := func() { run(b, cudalab, "check", e.Name, "--device", "sim", "--dir", code) }
			bare := func() {
				run(b, "go", "build", "-o", filepath.Join(dir, "runner"), "-overlay", overlayFile, "-ldflags=-s -w",
					"./grader/judge/runner/bare")
				run(b, "true")
			}
			timed(check)
			timed(bare)
			var checks, bares []time.Duration
			for b.Loop() {
				checks = append(checks, timed(check))
				bares = append(bares, timed(bare))
			}
			slices.Sort(checks)
			slices.Sort(bares)
			c, g := checks[len(checks)/2], bares[len(bares)/2]
			b.ReportMetric(float64(c.Microseconds())/1e3, "check-ms")
			b.ReportMetric(float64(g.Microseconds())/1e3, "bare-ms")
			b.ReportMetric(float64(c)/float64(g), "ratio")
		})
	}
}
