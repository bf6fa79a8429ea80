package check_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/check"
	"cudalab/grader/corpus"
	"cudalab/grader/course"
	"cudalab/grader/suite"
)

var onDevice = flag.String("device", "sim", "the `device` on which the lessons and their corpora are checked: sim or gpu")

// TestLessons holds the grader to every lesson's own sources and to its corpus: the solution passes in full, the skeleton
// is not started, a half-done skeleton is told the next gap, right programs in other styles pass, and wrong ones and cheats
// fail for the right reason on the right line.
//
// What the checks say of them all on the simulator is kept in testdata/words, and what became of them on each device in
// testdata/matrix; -record writes both.
func TestLessons(t *testing.T) {
	c, err := course.Open("../..")
	require.NoError(t, err)
	var matrix corpus.Matrix
	all := 0
	for _, e := range c.Exercises {
		t.Run(e.Name, func(t *testing.T) {
			said := transcript{told: map[string]bool{}}
			programs, err := corpus.Programs(c.Root, e.Package)
			require.NoError(t, err)
			all += len(programs)
			for _, p := range programs {
				t.Run(p.String(), func(t *testing.T) {
					dir := t.TempDir()
					require.NoError(t, os.WriteFile(filepath.Join(dir, e.Package+".go"), []byte(p.Text), 0o644))
					r := checkFolder(t, c, e, dir)
					said.add(p.String(), dir, r)
					matrix.Add(e.Name, p, r)
					require.Empty(t, p.Expect().Differences(r), describe(r))
					requireWhole(t, e, p, r)
					if p.Kind == corpus.Right || p.Kind == corpus.Solution {
						requireRoom(t, r)
					}
				})
			}
			t.Run("words", func(t *testing.T) {
				if *onDevice != "sim" || said.programs < len(programs) {
					t.Skip("what is said is compared where every program was checked, on the simulator")
				}
				said.compare(t, e.Name)
			})
		})
	}
	t.Run("matrix", func(t *testing.T) {
		if matrix.Programs() < all || all == 0 {
			t.Skip("what became of the programs is compared where every one was checked")
		}
		compareMatrix(t, &matrix)
	})
}

// requireWhole says what every report must have, and what the solution's and the skeleton's must.
func requireWhole(t *testing.T, e course.Exercise, p corpus.Program, r suite.Report) {
	t.Helper()
	for _, ch := range r.Checks {
		for _, f := range ch.Findings {
			require.NotEmpty(t, f.Message)
			require.NotEmpty(t, f.Fix)
		}
	}
	require.Equal(t, 100.0, r.MaxScore)
	switch p.Kind {
	case corpus.Solution:
		require.Equal(t, r.MaxScore, r.Score)
		require.Len(t, r.Checks, len(e.Lesson.Suite.Checks))
	case corpus.Skeleton:
		require.Equal(t, suite.NotStarted, r.Status, describe(r))
		require.Zero(t, r.Score)
	}
}

// room is by what factor a right program stays within a limit on its time: so far from it verdicts are certain, as
// the chapter on fairness shows.
const room = 1.2

// requireRoom sees to it that no right program is near a limit on its time: on another GPU it would be beyond.
func requireRoom(t *testing.T, r suite.Report) {
	t.Helper()
	for _, ch := range r.Checks {
		for _, m := range ch.Measurements {
			if strings.HasSuffix(m.Name, "time / solution's time") {
				require.Positive(t, m.Limit)
				require.LessOrEqual(t, room*m.Value, m.Limit, "%s: a right program is too near the limit", ch.ID)
			}
		}
	}
}

// compareMatrix holds what became of the programs to what is recorded for the device, or records it.
func compareMatrix(t *testing.T, m *corpus.Matrix) {
	t.Helper()
	t.Logf("%d programs on %s, seed %d\n\n%s", m.Programs(), *onDevice, seed, m)
	file := filepath.Join("testdata", "matrix", *onDevice+".txt")
	if *record {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(m.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), m.String(), "other programs, or other verdicts: read them, and record them with -record")
}

// seed is what the programs' workloads are drawn from.
const seed = 42

func checkFolder(t *testing.T, c *course.Course, e course.Exercise, dir string) suite.Report {
	t.Helper()
	r := check.Exercise(context.Background(), check.Request{Root: c.Root, Exercise: e, Dir: dir, Device: *onDevice, Seed: seed})
	require.NoError(t, r.Err)
	require.Equal(t, *onDevice, r.Report.Device.Kind)
	return r.Report
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
