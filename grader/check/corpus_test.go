package check_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/check"
	"cudalab/grader/corpus"
	"cudalab/grader/course"
	"cudalab/grader/suite"
)

var onDevice = flag.String("device", "sim", "the `device` on which the lessons and their corpora are checked: sim or gpu")

// TestLessons holds the grader to every lesson's own sources and to its corpus: the solution passes in full, the skeleton is not started, a half-done skeleton is told the next gap, right
// programs in other styles pass, and wrong ones and cheats fail for the right reason on the right line.
//
// What the checks say of them all on the simulator is kept in testdata/words; -record-words writes it.
func TestLessons(t *testing.T) {
	c, err := course.Open("../..")
	require.NoError(t, err)
	for _, e := range c.Exercises {
		t.Run(e.Name, func(t *testing.T) {
			said := transcript{told: map[string]bool{}}
			checked := func(t *testing.T, program, dir string) suite.Report {
				r := checkFolder(t, c, e, dir)
				said.add(program, dir, r)
				return r
			}
			programs := 2
			t.Run("solution", func(t *testing.T) {
				r := checked(t, "solution", filepath.Join(c.Root, e.SolutionFolder()))
				require.Equal(t, suite.Passed, r.Status, describe(r))
				require.Equal(t, r.MaxScore, r.Score)
				require.Equal(t, 100.0, r.MaxScore)
				require.Len(t, r.Checks, len(e.Lesson.Suite.Checks))
			})
			t.Run("skeleton", func(t *testing.T) {
				r := checked(t, "skeleton", filepath.Join(c.Root, e.Folder()))
				require.Equal(t, suite.NotStarted, r.Status, describe(r))
				require.Contains(t, r.Next, "TODO(1a)")
				require.Zero(t, r.Score)
			})
			all, err := corpus.Programs(c.Root, e.Package)
			require.NoError(t, err)
			programs += len(all)
			for _, p := range all {
				t.Run(p.String(), func(t *testing.T) {
					dir := t.TempDir()
					require.NoError(t, os.WriteFile(filepath.Join(dir, e.Package+".go"), []byte(p.Text), 0o644))
					expect(t, p.Expect(), checked(t, p.String(), dir))
				})
			}
			t.Run("words", func(t *testing.T) {
				if *onDevice != "sim" || said.programs < programs {
					t.Skip("what is said is compared where every program was checked, on the simulator")
				}
				said.compare(t, e.Name)
			})
		})
	}
}

func checkFolder(t *testing.T, c *course.Course, e course.Exercise, dir string) suite.Report {
	t.Helper()
	r := check.Exercise(context.Background(), check.Request{Root: c.Root, Exercise: e, Dir: dir, Device: *onDevice, Seed: 42})
	require.NoError(t, r.Err)
	require.Equal(t, *onDevice, r.Report.Device.Kind)
	return r.Report
}

// expect compares a report with what the program's comments say.
func expect(t *testing.T, x corpus.Expectation, r suite.Report) {
	t.Helper()
	switch {
	case x.Refused:
		require.Equal(t, suite.Refused, r.Status, describe(r))
	case x.Next != "":
		require.Equal(t, suite.Failed, r.Status, describe(r))
		require.Contains(t, r.Next, "TODO("+x.Next+")")
	default:
		require.Equal(t, x.Wrong, r.Status != suite.Passed, describe(r))
		for _, ch := range r.Checks {
			if ch.Status == suite.Failed && slices.Contains(x.May, ch.ID) {
				continue
			}
			require.Equalf(t, slices.Contains(x.Fails, ch.ID), ch.Status == suite.Failed, "check %s\n%s", ch.ID, describe(r))
		}
	}
	for _, w := range x.Wants {
		require.Truef(t, has(r, w), "no %s on line %d\n%s", w.Rule, w.Line, describe(r))
	}
	for _, ch := range r.Checks {
		for _, f := range ch.Findings {
			require.NotEmpty(t, f.Message)
			require.NotEmpty(t, f.Fix)
		}
	}
}

func has(r suite.Report, w corpus.Want) bool {
	return slices.ContainsFunc(r.Checks, func(ch suite.Check) bool {
		return slices.ContainsFunc(ch.Findings, func(f suite.Finding) bool { return f.Rule == w.Rule && f.Line == w.Line })
	})
}

// describe is a report in lines, for a failing test.
func describe(r suite.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %g/%g %s\n", r.Status, r.Score, r.MaxScore, r.Message)
	for _, ch := range r.Checks {
		fmt.Fprintf(&b, "  %s: %s %s\n", ch.ID, ch.Status, ch.Message)
		for _, f := range ch.Findings {
			fmt.Fprintf(&b, "    %s:%d: %s %s: %s\n", filepath.Base(f.File), f.Line, f.Severity, cmp.Or(f.Rule, "?"), f.Message)
		}
	}
	return b.String()
}
