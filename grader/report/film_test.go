package report_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/prove"
	"cudalab/grader/judge/run"
	"cudalab/grader/proof/corpus"
	"cudalab/grader/report"
	"cudalab/grader/suites/course"
)

// A film's frames fit on the screen, whatever its size, and hold both orders where there is room for them.
func TestFilmsFitOnTheScreen(t *testing.T) {
	c, err := course.Open("../..")
	require.NoError(t, err)
	for exercise, program := range map[string]string{
		"cross-stream-events": "wrong/recorded-before-fill",
		"async-pipeline":      "wrong/freed-on-another-stream",
		"growable":            "wrong/shrinks-without-waiting",
	} {
		e, err := c.Find(exercise)
		require.NoError(t, err)
		p, err := corpus.Find(c.Root, e.Package, program)
		require.NoError(t, err)
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, e.Package+".go"), []byte(p.Text), 0o644))
		r := check.Exercise(context.Background(), check.Request{Course: compile.Course{Root: c.Root},
			Options: run.Options{Device: "sim", Seed: 42, Given: true}, Code: []check.Code{{Exercise: e, Dir: dir}}})
		require.NoError(t, r.Err)
		faults := prove.Faults(r)
		require.NotEmpty(t, faults)
		for i := range faults {
			f := &faults[i]
			for _, size := range [][2]int{{80, 24}, {120, 40}, {60, 20}} {
				high := 0
				for k := range report.Frames(f) {
					text := report.Frame(f, k, report.Options{Width: size[0], Height: size[1]})
					lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
					require.LessOrEqual(t, len(lines)+1, size[1], "%s at %v:\n%s", exercise, size, text)
					require.True(t, k == 0 || len(lines) == high, "all frames have as many lines")
					high = len(lines)
					for _, l := range lines {
						require.LessOrEqual(t, utf8.RuneCountInString(l), size[0], l)
					}
					for _, lane := range f.Film.Lanes {
						require.Contains(t, text, string([]rune(lane)[:min(len([]rune(lane)), 11)]), "every stream is there")
					}
					if size[0] >= 80 && len(f.Film.Takes) == 2 {
						require.Contains(t, text, "What happened")
					}
					require.Contains(t, text, "What")
					if i == 0 && k == report.Frames(f)-1 {
						t.Logf("%s at %v:\n%s", exercise, size, text)
					}
				}
			}
		}
	}
}
