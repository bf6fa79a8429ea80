package flips_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"cudalab/grader/class"
	"cudalab/grader/proof/corpus"
	"cudalab/grader/proof/flips"
	"cudalab/grader/suite/verdict"
)

// TestEqualSeedsEqualBytes grades a class of right and wrong programs on the simulated device, on one processor and on
// all that there are: with equal seeds the grades are the same bytes, and so are the reports as they came, times
// included, but for what is measured of the host's own.
func TestEqualSeedsEqualBytes(t *testing.T) {
	dir, students := classOf(t)
	one, all := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "all")
	var processors, first unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &processors))
	for cpu := range 1024 {
		if processors.IsSet(cpu) {
			first.Set(cpu)
			break
		}
	}
	graded := make(chan error, 2)
	for results, on := range map[string]unix.CPUSet{one: first, all: processors} {
		go func() { graded <- gradeOn(on, dir, results) }()
	}
	for range 2 {
		require.NoError(t, <-graded)
	}
	require.Equal(t, promised(t, one), promised(t, all))
	failed := 0
	for _, id := range students {
		was, is := reports(t, one, id), reports(t, all, id)
		require.NotEmpty(t, is)
		require.Len(t, was, len(is))
		for i := range is {
			require.Equal(t, asCame(t, was[i]), asCame(t, is[i]), "%s, %s", id, is[i].Exercise)
			if is[i].Status == verdict.Failed {
				failed++
			}
		}
	}
	require.GreaterOrEqual(t, failed, 12)
}

// classOf is a class in which one has a wrong program for each lesson, and for each lesson in turn somebody has the
// solution, another wrong program, or one that is merely slow or cheats where time is measured, as far as the corpus
// has it.
func classOf(t *testing.T) (dir string, students []string) {
	dir = t.TempDir()
	c := openCourse(t)
	hand := func(student, pkg, text string) {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, student, pkg), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, student, pkg, pkg+".go"), []byte(text), 0o644))
	}
	for i, p := range flips.Solutions(c) {
		pkg := p.Exercise.Package
		programs, err := corpus.Programs(c.Root, pkg)
		require.NoError(t, err)
		wrong := slices.DeleteFunc(slices.Clone(programs), func(p corpus.Program) bool { return p.Kind != corpus.Wrong })
		hand("bob", pkg, wrong[len(wrong)/3].Text)
		switch i % 3 {
		case 0:
			text, err := os.ReadFile(filepath.Join(p.Dir, pkg+".go"))
			require.NoError(t, err)
			hand("ada", pkg, string(text))
		case 1:
			hand("cem", pkg, wrong[2*len(wrong)/3].Text)
		case 2:
			slow := slices.IndexFunc(programs, func(p corpus.Program) bool {
				fails := p.Expect().Fails
				return len(fails) == 1 && (fails[0] == "speed" || fails[0] == "cost")
			})
			if slow >= 0 {
				hand("dan", pkg, programs[slow].Text)
			}
		}
	}
	return dir, []string{"ada", "bob", "cem", "dan"}
}

// gradeOn has the test program grade on some of the processors.
func gradeOn(processors unix.CPUSet, submissions, results string) error {
	runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine, and its processors with it
	if err := unix.SchedSetaffinity(0, &processors); err != nil {
		return err
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), gradeSubmissions+"="+submissions, gradeResults+"="+results)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// promised are the files of a folder of results that equal seeds make equal: all but the timings and the journal.
func promised(t *testing.T, dir string) map[string]string {
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.Name() == "timings":
			return fs.SkipDir
		case e.IsDir() || e.Name() == "journal.jsonl":
			return nil
		}
		text, err := os.ReadFile(path)
		files[filepath.Base(path)] = string(text)
		return err
	}))
	require.NotEmpty(t, files)
	return files
}

// reports are a student's, as they came.
func reports(t *testing.T, dir, student string) []verdict.Report {
	text, err := os.ReadFile(filepath.Join(dir, "timings", student+".json"))
	require.NoError(t, err)
	var timings class.Timings
	require.NoError(t, json.Unmarshal(text, &timings))
	return timings.Exercises
}

// copied is where the files of a submission lie while they are graded.
var copied = regexp.MustCompile(`[^"]*/cudalab-intake-[0-9]+/submissions/`)

// asCame is a report without what is measured of the host's own: how long the check took, and costs in its CPU time.
func asCame(t *testing.T, r verdict.Report) string {
	r.DurationMS = 0
	r.Checks = slices.Clone(r.Checks)
	for i := range r.Checks {
		c := &r.Checks[i]
		if slices.ContainsFunc(c.Measurements, func(m verdict.Measurement) bool { return m.Unit == "ns" }) {
			c.Message, c.Findings, c.Measurements = "", nil, nil
		}
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetIndent("", " ")
	require.NoError(t, e.Encode(r))
	return copied.ReplaceAllString(text.String(), "")
}
