package handout_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class/handout"
	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/proof/corpus"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

// made is a handout with its own cudalab in it.
type made struct {
	course *course.Course // that it was made of
	dir    string
	binary string
}

func newHandout(t *testing.T, root string) made {
	t.Helper()
	c, err := course.Open(root)
	require.NoError(t, err)
	m := made{course: c, dir: filepath.Join(t.TempDir(), "deeper", "handout [2026]")}
	require.NoError(t, handout.Write(context.Background(), c, m.dir))
	m.binary = filepath.Join(m.dir, "bin", "cudalab")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false", "-o", m.binary,
		"./cmd/cudalab")
	build.Dir = m.dir
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOPROXY=off", "GOWORK=off")
	said, err := build.CombinedOutput()
	require.NoError(t, err, "%s", said)
	return m
}

// cudalab runs the handout's own cudalab in the handout.
func (m made) cudalab(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.Command(m.binary, args...)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "CUDALAB_ROOT=", "GOPROXY=off")
	var out, complaints strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return out.String(), complaints.String(), cmd.ProcessState.ExitCode()
}

// check has a program from a suite's corpus checked in the place of the exercise.
func (m made) check(t *testing.T, e course.Exercise, program string) verdict.Report {
	t.Helper()
	p, err := corpus.Find(m.course.Root, e.Package, program)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, e.Package+".go"), []byte(p.Text), 0o644))
	stdout, stderr, _ := m.cudalab(t, "check", e.Name, "--dir", dir, "--device", "sim", "--json", "--seed", "42")
	var r verdict.Report
	require.NoError(t, json.Unmarshal([]byte(stdout), &r), stderr)
	return r
}

// checked are the exercises whose programs are checked in a handout: one is judged by how its time compares with the
// baseline's and what was recorded, the other by itself.
var checked = []string{"async-pipeline", "slab"}

// rightAndSlow are the first right program of an exercise's corpus, and the first that is only too slow.
func rightAndSlow(t *testing.T, root string, e course.Exercise) (right, slow string) {
	t.Helper()
	all, err := corpus.Programs(root, e.Package)
	require.NoError(t, err)
	for _, p := range slices.Backward(all) {
		fails := p.Expect().Fails
		switch {
		case p.Kind == corpus.Right:
			right = p.String()
		case p.Kind == corpus.Wrong && len(fails) == 1 && (fails[0] == "speed" || fails[0] == "cost"):
			slow = p.String()
		}
	}
	require.NotEmpty(t, right)
	require.NotEmpty(t, slow)
	return right, slow
}

func TestHandout(t *testing.T) {
	m := newHandout(t, "../../..")
	t.Run("every exercise is its skeleton", func(t *testing.T) {
		stdout, stderr, status := m.cudalab(t, "check", "--all", "--device", "sim", "--json")
		require.Equal(t, 1, status, stderr)
		require.Equal(t, len(m.course.Exercises), strings.Count(stdout, `"status": "not-started"`), stdout)
	})
	for _, name := range checked {
		e, err := m.course.Find(name)
		require.NoError(t, err)
		right, slow := rightAndSlow(t, m.course.Root, e)
		t.Run(name+"/"+right, func(t *testing.T) {
			r := m.check(t, e, right)
			require.Equal(t, verdict.Passed, r.Status, "%+v", r.Checks)
			require.Equal(t, 100.0, r.Score)
		})
		t.Run(name+"/"+slow, func(t *testing.T) {
			r := m.check(t, e, slow)
			require.Equal(t, verdict.Failed, r.Status, "%+v", r.Checks)
			for _, c := range r.Checks {
				_, slow := rules(c)["too-slow"]
				_, grows := rules(c)["grows"]
				require.Equal(t, slow || grows, c.Status == verdict.Failed, "%+v", c)
			}
		})
	}
	t.Run("what takes the solutions says that there are none", func(t *testing.T) {
		for _, args := range [][]string{
			{"solution", "slab", "--give-up"}, {"check", "slab", "--solution"}, {"bench", "slab"}, {"bench", "--solution"},
		} {
			stdout, stderr, status := m.cudalab(t, args...)
			require.Equal(t, 2, status, args)
			require.Empty(t, stdout)
			require.Contains(t, stderr, "the solutions are not part of it", args)
		}
		_, stderr, status := m.cudalab(t, "grade", "exercises", "-o", filepath.Join(t.TempDir(), "results"), "--device",
			"sim")
		require.Equal(t, 3, status)
		require.Contains(t, stderr, "not with the copy that was handed out")
	})
	t.Run("doctor and make demo work", func(t *testing.T) {
		stdout, stderr, status := m.cudalab(t, "doctor")
		require.Equal(t, 0, status, stdout+stderr)
		require.Regexp(t, `ok +test build`, stdout)
		require.NotContains(t, stdout, "cudalab grade", "which refuses in a handout")
		cmd := exec.Command("make", "demo")
		cmd.Dir = m.dir
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", said)
		require.Contains(t, string(said), "async-pipeline")
	})
	t.Run("its site can be built", func(t *testing.T) {
		list := exec.Command("go", append([]string{"list", "-deps", "cudalab/grader/browser/engine", compile.Steps},
			check.Packages(m.dir, m.course.Exercises)...)...)
		list.Dir, list.Env = m.dir, append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOPROXY=off", "GOWORK=off")
		said, err := list.CombinedOutput()
		require.NoError(t, err, "%s", said)
	})
	t.Run("other processors have their files", func(t *testing.T) {
		for _, processor := range []string{"amd64", "arm64"} {
			require.FileExists(t, filepath.Join(m.dir, "grader/machine/sandbox/forkexec/fork_linux_"+processor+".s"))
		}
	})
	t.Run("no solution shows", func(t *testing.T) { m.showsNoSolution(t, m.dir) })
	t.Run("its cudalab carries no solution", m.carriesNoSolution) // the one that make has built
	t.Run("nothing sends readers to the solutions", m.leadsNowhere)
}

var link = regexp.MustCompile(`\]\(([^)#:]+)[^):]*\)`) // to another file of the course

// leadsNowhere reads what a handout has to read.
func (m made) leadsNowhere(t *testing.T) {
	chapters, err := fs.Glob(os.DirFS(m.dir), "lessons/*.md")
	require.NoError(t, err)
	links := 0
	for _, name := range append(chapters, "README.md") {
		file := filepath.Join(m.dir, filepath.FromSlash(name))
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NotRegexp(t, "cudalab (solution|bench|grade)", string(text), file)
		for _, to := range link.FindAllStringSubmatch(string(text), -1) {
			links++
			_, err := os.Stat(filepath.Join(filepath.Dir(file), to[1]))
			require.NoError(t, err, file)
		}
	}
	require.Greater(t, links, 10)
	for range 4 {
		stdout, stderr, status := m.cudalab(t, "hint", "slab", "--todo", "1a")
		require.Zero(t, status, stderr)
		require.NotContains(t, stdout, "cudalab solution")
	}
}

func rules(c verdict.Check) map[string]bool {
	found := map[string]bool{}
	for _, f := range c.Findings {
		found[f.Rule] = true
	}
	return found
}

// showsNoSolution compares every file with the lines of the solutions and of the right programs that are in no
// skeleton. A few lines are anybody's. Hints are left out: they end with nearly the code of their gap, for who asks for
// that much.
func (m made) showsNoSolution(t *testing.T, dir string) {
	telling := m.telling(t)
	files := 0
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path == m.binary {
			return err
		}
		files++
		if strings.HasSuffix(path, ".hints.md") {
			return nil
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		shown := map[string]int{}
		for line := range lines(string(text)) {
			if program, found := telling[line]; found {
				shown[program]++
			}
		}
		for program, n := range shown {
			require.LessOrEqualf(t, n, 3, "%s shows much of %s", path, program)
		}
		return nil
	}))
	require.Greater(t, files, 200)
	for _, gone := range []string{"solutions", "lessons/instructors", "lessons/slab.solution.md", corpus.Folder("slab"),
		"grader/proof/corpus"} {
		require.NoFileExists(t, filepath.Join(dir, gone))
		require.NoDirExists(t, filepath.Join(dir, gone))
	}
}

// carriesNoSolution has the handout's cudalab write its course, and searches that, and the program's own bytes.
func (m made) carriesNoSolution(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "course")
	stdout, stderr, status := m.cudalab(t, "init", dir)
	require.Zero(t, status, stderr)
	require.Contains(t, stdout, "The course is in "+dir)
	m.showsNoSolution(t, dir)
	for _, args := range [][]string{{"solution", "slab", "--give-up"}, {"check", "slab", "--solution"}} {
		stdout, stderr, status := m.cudalab(t, append(args, "--root", dir)...)
		require.Equal(t, 2, status)
		require.Empty(t, stdout)
		require.Contains(t, stderr, "the solutions are not part of it")
	}

	binary, err := os.ReadFile(m.binary)
	require.NoError(t, err)
	var handedOut bytes.Buffer // hints among it, which end with nearly the code of their gap
	require.NoError(t, filepath.WalkDir(m.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path == m.binary {
			return err
		}
		text, err := os.ReadFile(path)
		handedOut.Write(text)
		return err
	}))
	telling, begins := m.telling(t), map[[16]byte][]string{} // to look for each in all of the binary takes half a minute
	for line := range telling {
		begins[[16]byte([]byte(line))] = append(begins[[16]byte([]byte(line))], line)
	}
	for at := range len(binary) - 16 {
		for _, line := range begins[[16]byte(binary[at:])] {
			if bytes.HasPrefix(binary[at:], []byte(line)) {
				require.True(t, bytes.Contains(handedOut.Bytes(), []byte(line)), "%s has a line of %s: %s", m.binary,
					telling[line], line)
			}
		}
	}
}

// telling are the lines that show how an exercise may be solved, each with the program that it is from.
func (m made) telling(t *testing.T) map[string]string {
	known := map[string]bool{}
	for _, e := range m.course.Exercises {
		skeleton, err := e.Skeleton()
		require.NoError(t, err)
		for line := range lines(string(skeleton)) {
			known[line] = true
		}
	}
	telling := map[string]string{} // by line, the program that it is from
	for _, e := range m.course.Exercises {
		programs, err := corpus.Programs(m.course.Root, e.Package)
		require.NoError(t, err)
		for _, p := range programs {
			if p.Kind != corpus.Solution && p.Kind != corpus.Right {
				continue
			}
			for line := range lines(p.Text) {
				if !known[line] {
					telling[line] = e.Name + " " + p.String()
				}
			}
		}
	}
	require.Greater(t, len(telling), 300)
	return telling
}

// lines are those of a program's that say something, with their blanks as one each.
func lines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			line = strings.Join(strings.Fields(line), " ")
			if len(line) > 30 && !strings.HasPrefix(line, "//") && !yield(line) {
				return
			}
		}
	}
}

func TestFolders(t *testing.T) {
	c, err := course.Open("../../..")
	require.NoError(t, err)
	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, "notes"), nil, 0o644))
	file := filepath.Join(full, "notes")
	for dir, want := range map[string]string{
		full:                              "is not empty",
		c.Root:                            "lies within the course",
		filepath.Join(c.Root, "students"): "lies within the course",
		file:                              "cannot be read",
		filepath.Join(file, "below"):      "cannot be",
	} {
		err := handout.Write(context.Background(), c, dir)
		var refused *handout.UsageError
		require.ErrorAs(t, err, &refused, dir)
		require.Regexp(t, regexp.QuoteMeta(want), refused.Message)
	}
	left, err := os.ReadDir(full)
	require.NoError(t, err)
	require.Len(t, left, 1, "nothing is left behind")
}
