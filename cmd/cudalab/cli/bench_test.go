package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// runnerMain is the runner's main function as grader/judge/compile writes it for the exercise.
const runnerMain = `package main

import (
	exercise "cudalab/exercises/asyncpipeline"
	"cudalab/grader/judge/runner"
	suite "cudalab/grader/suites/asyncpipeline"
	solution "cudalab/solutions/asyncpipeline"
)

func main() { runner.Main(suite.Lesson.Suite(suite.Of(exercise.Run), suite.Of(solution.Run))) }
`

// BenchmarkWait is a student's wait, from a saved one-line change to the verdict on the simulated device, beside what
// no tool could save: a bare go build of the same program and the start of an empty process. The two take turns, and
// the ratio is between the medians.
func BenchmarkWait(b *testing.B) {
	root, err := filepath.Abs("../../..")
	require.NoError(b, err)
	dir := b.TempDir()
	cudalab := filepath.Join(dir, "cudalab")
	run := func(name string, args ...string) {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%s %v: %v\n%s", name, args, err, text)
		}
	}
	run("go", "build", "-o", cudalab, "-ldflags=-s -w", "./cmd/cudalab")

	solution, err := os.ReadFile(filepath.Join(root, "solutions/asyncpipeline/asyncpipeline.go"))
	require.NoError(b, err)
	code := filepath.Join(dir, "code")
	require.NoError(b, os.Mkdir(code, 0o755))
	saved := filepath.Join(code, "asyncpipeline.go")
	n := os.Getpid() * 1000
	save := func() {
		n++
		text := strings.Replace(string(solution), `"no streams: %w"`, fmt.Sprintf(`"no streams (%d): %%w"`, n), 1)
		require.NotEqual(b, string(solution), text)
		require.NoError(b, os.WriteFile(saved, []byte(text), 0o644))
	}

	mainFile := filepath.Join(dir, "main.go")
	require.NoError(b, os.WriteFile(mainFile, []byte(runnerMain), 0o644))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(root, "grader/judge/runner/bare/main.go"):         mainFile,
		filepath.Join(root, "exercises/asyncpipeline/asyncpipeline.go"): saved,
	}})
	require.NoError(b, err)
	overlayFile := filepath.Join(dir, "overlay.json")
	require.NoError(b, os.WriteFile(overlayFile, overlay, 0o644))

	timed := func(f func()) time.Duration {
		save()
		start := time.Now()
		f()
		return time.Since(start)
	}
	check := func() { run(cudalab, "check", "async-pipeline", "--device", "sim", "--dir", code) }
	bare := func() {
		run("go", "build", "-o", filepath.Join(dir, "runner"), "-overlay", overlayFile, "-ldflags=-s -w", "./grader/judge/runner/bare")
		run("true")
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
}
