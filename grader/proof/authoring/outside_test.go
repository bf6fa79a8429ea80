package authoring

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/verdict"
)

// away is a course outside of this repository with its own cudalab in it.
type away struct {
	dir    string
	status int // of the last command
}

// newAway is the course in testdata/outside, built as its own module.
func newAway(t *testing.T) *away {
	t.Helper()
	a := &away{dir: filepath.Join(t.TempDir(), "a course outside")}
	require.NoError(t, os.CopyFS(a.dir, os.DirFS("testdata/outside")))
	here, err := filepath.Abs(root)
	require.NoError(t, err)
	read := func(file string) string {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		return string(text)
	}
	// A handout is for every system, and may have modules that no test on this one has needed yet.
	download := exec.Command("go", "mod", "download")
	download.Dir = here
	said, err := download.CombinedOutput()
	require.NoError(t, err, "%s", said)
	// What go mod tidy would add.
	_, requires, found := strings.Cut(read(filepath.Join(root, "go.mod")), "\nrequire (")
	require.True(t, found)
	mod := strings.Replace(read(filepath.Join(a.dir, "go.mod")), "../../../../..", fmt.Sprintf("%q", here), 1)
	a.write(t, "go.mod", mod+"\nrequire ("+requires)
	a.write(t, "go.sum", read(filepath.Join(root, "go.sum")))
	a.build(t)
	return a
}

func (a *away) write(t *testing.T, file, text string) {
	t.Helper()
	path := filepath.Join(a.dir, filepath.FromSlash(file))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func (a *away) build(t *testing.T) {
	t.Helper()
	// As make builds it. Without paths in what is compiled, the handout's modules need not be compiled again.
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false", "-ldflags=-s -w",
		"-o", "bin/cudalab", "./cmd/cudalab")
	build.Dir = a.dir
	build.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOWORK=off")
	said, err := build.CombinedOutput()
	require.NoError(t, err, "%s", said)
}

// cudalab runs the course's cudalab in the course, and answers all that it says.
func (a *away) cudalab(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(a.dir, "bin", "cudalab"), args...)
	cmd.Dir, cmd.Env = a.dir, append(os.Environ(), "CUDALAB_ROOT=", "GOPROXY=off")
	said, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	a.status = cmd.ProcessState.ExitCode()
	return string(said)
}

// check checks a program in the place of the exercise.
func (a *away) check(t *testing.T, code string) (r verdict.Report) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tally.go"), []byte(code), 0o644))
	said := a.cudalab(t, "check", "tally", "--dir", dir, "--device", "sim", "--json")
	require.NoError(t, json.Unmarshal([]byte(said), &r), said)
	return r
}

// A course outside of this repository, whose module requires cudalab, works as this one does.
func TestACourseOutside(t *testing.T) {
	a := newAway(t)
	solution, err := os.ReadFile(filepath.Join(a.dir, "solutions/tally/tally.go"))
	require.NoError(t, err)

	t.Run("check", func(t *testing.T) {
		said := a.cudalab(t, "check", "tally", "--solution", "--device", "sim")
		require.Zero(t, a.status, said)
		require.Contains(t, said, "100")
		said = a.cudalab(t, "check", "tally", "--device", "sim")
		require.Equal(t, 1, a.status, said)
		require.Contains(t, said, "TODO(1a)")
	})
	t.Run("a finding points to the student's line", func(t *testing.T) {
		beyond := strings.Replace(string(solution), "block, s, t.Result,", "block, s, t.Result+8,", 1)
		r := a.check(t, beyond)
		require.Equal(t, verdict.Failed, r.Status)
		line := 0
		for _, c := range r.Checks {
			for _, f := range c.Findings {
				if f.Rule == "out-of-bounds" {
					line = f.Line
				}
			}
		}
		before, _, found := strings.Cut(beyond, "return kernels.Tally(")
		require.True(t, found)
		require.Equal(t, strings.Count(before, "\n")+1, line, "%+v", r.Checks)
	})
	t.Run("the solution is not to be imported", func(t *testing.T) {
		r := a.check(t, "package tally\n\nimport \"example.com/outside/solutions/tally\"\n\nvar Run = tally.Run\n")
		require.Equal(t, verdict.Refused, r.Status)
		require.Contains(t, r.Checks[0].Findings[0].Message, "is the reference solution")
	})
	t.Run("hint", func(t *testing.T) {
		require.Contains(t, a.cudalab(t, "hint", "tally"), "Which N is no number of additions?")
	})
	t.Run("grade", func(t *testing.T) {
		a.write(t, "../handed in/ada/tally/tally.go", string(solution))
		said := a.cudalab(t, "grade", "../handed in", "-o", "../results", "--device", "sim", "--insecure")
		require.Zero(t, a.status, said)
		grades, err := os.ReadFile(filepath.Join(a.dir, "../results/grades.csv"))
		require.NoError(t, err, said)
		require.Regexp(t, `(?m)^ada,.*100`, string(grades))
	})
	t.Run("handout", func(t *testing.T) {
		said := a.cudalab(t, "handout", "../handout")
		require.Zero(t, a.status, said)
		h := &away{dir: filepath.Join(filepath.Dir(a.dir), "handout")}
		require.NoDirExists(t, filepath.Join(h.dir, "solutions"))
		require.NoFileExists(t, filepath.Join(h.dir, "lessons/tally.solution.md"))
		require.NoDirExists(t, filepath.Join(h.dir, "modules/cudalab/solutions"))
		h.build(t)
		require.Contains(t, h.cudalab(t, "check", "tally", "--device", "sim"), "TODO(1a)")
		h.write(t, "exercises/tally/tally.go", string(solution))
		said = h.cudalab(t, "check", "tally", "--device", "sim")
		require.Zero(t, h.status, said)
	})
}
