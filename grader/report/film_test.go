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

// A film's frames fit on the screen, whatever its size, and hold both orders where there is room for them. The films of
// all programs of the corpus are held to it by the lessons' tests.
func TestFilmsFitOnTheScreen(t *testing.T) {
	c, err := course.Open("../..")
	require.NoError(t, err)
	e, err := c.Find("cross-stream-events")
	require.NoError(t, err)
	p, err := corpus.Find(c.Root, e.Package, "wrong/recorded-before-fill")
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, e.Package+".go"), []byte(p.Text), 0o644))
	r := check.Exercise(context.Background(), check.Request{Course: compile.Course{Root: c.Root},
		Options: run.Options{Device: "sim", Seed: 42, Given: true}, Code: []check.Code{{Exercise: e, Dir: dir}}})
	require.NoError(t, r.Err)
	faults := prove.Faults(r)
	require.NotEmpty(t, faults)
	for _, size := range [][2]int{{80, 24}, {120, 40}, {60, 20}} {
		last := report.Frames(&faults[0]) - 1
		text := report.Frame(&faults[0], last, report.Options{Width: size[0], Height: size[1]})
		require.Less(t, strings.Count(text, "\n"), size[1], text)
		if size[0] >= 80 {
			require.Contains(t, text, "What happened", text)
		}
		require.Contains(t, text, "What may happen as well", text)
		for line := range strings.Lines(text) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), size[0], line)
		}
		t.Logf("%v:\n%s", size, text)
	}
}
