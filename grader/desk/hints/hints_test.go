package hints_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/desk/hints"
	"cudalab/grader/desk/progress"
	"cudalab/grader/proof/corpus"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

const tree = "../../.."

// open is a course of the test's own with a program of one exercise's corpus as its code.
func open(t *testing.T, name, program string) (string, course.Exercise) {
	t.Helper()
	c, err := course.Open(tree)
	require.NoError(t, err)
	e, err := c.Find(name)
	require.NoError(t, err)
	root := t.TempDir()
	dir := filepath.Join(root, e.Folder())
	require.NoError(t, os.MkdirAll(dir, 0o755))
	p, err := corpus.Find(tree, e.Package, program)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, e.Package+".go"), []byte(p.Text), 0o644))
	return root, e
}

func next(t *testing.T, root string, e course.Exercise, todo string) hints.Hint {
	t.Helper()
	h, err := hints.Next(context.Background(), root, e, todo)
	require.NoError(t, err)
	return h
}

func TestHintsComeOneAfterTheOther(t *testing.T) {
	root, e := open(t, "async-pipeline", "skeleton")
	var texts []string
	for _, number := range []int{1, 2, 3, 3} {
		h := next(t, root, e, "")
		require.Equal(t, "1a", h.TODO)
		require.Equal(t, number, h.Number)
		texts = append(texts, h.Text)
	}
	require.Equal(t, texts[2], texts[3], "the last one is all there is")
	require.NotEqual(t, texts[0], texts[1])

	h := next(t, root, e, "TODO(1C)")
	require.Equal(t, "1c", h.TODO)
	require.Equal(t, 1, h.Number, "each TODO has its own count")
	require.Contains(t, h.Markdown(e.Name), "Ask again")
	inHandout := next(t, root, e, "1a").Markdown(e.Name)
	require.Contains(t, inHandout, "That was the last hint")
	require.NotContains(t, inHandout, "cudalab solution")
	require.NoError(t, os.MkdirAll(filepath.Join(root, e.SolutionFolder()), 0o755))
	require.Contains(t, next(t, root, e, "1a").Markdown(e.Name), "cudalab solution async-pipeline --give-up")
}

func TestAHintFollowsTheFirstGapThatIsLeft(t *testing.T) {
	root, e := open(t, "async-pipeline", "half/reduce-next")
	require.Equal(t, "1d", next(t, root, e, "").TODO)
}

// lineOf is the number of the first line of a file with a text on it.
func lineOf(t *testing.T, file, part string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	before, _, found := strings.Cut(string(text), part)
	require.True(t, found, part)
	return strings.Count(before, "\n") + 1
}

func TestAHintFollowsWhatTheLastCheckFound(t *testing.T) {
	for _, c := range []struct {
		exercise string
		findings []verdict.Finding
		at       string // what stands on the line of the last finding; "" for a finding without a line
		want     string
	}{
		{"async-pipeline", []verdict.Finding{{Rule: "free-before-use"}}, "", "1e"},
		{"async-pipeline", []verdict.Finding{{Rule: "wrong-result"}, {Rule: "uninitialized-read"}}, "kernels.Reduce(", "1b"},
		{"async-pipeline", []verdict.Finding{{Rule: "wrong-result"}}, "", "1c"},
		{"pool-config", []verdict.Finding{{Rule: "wrong-stream"}}, "cuda.FreeAsync(", "1f"},
		{"pool-config", []verdict.Finding{{Rule: "wrong-stream"}}, "kernels.Touch(", "1e"},
		{"pool-config", []verdict.Finding{{Rule: "panic"}}, "cuda.MemPoolTrimTo(", "1h"},
		{"cross-stream-events", []verdict.Finding{{Rule: "data-race"}}, "kernels.Checksum(grid, block, b,", "1d"},
		{"cross-stream-events", []verdict.Finding{{Rule: "data-race"}}, "kernels.Checksum(grid, block, consumer,", "2c"},
	} {
		root, e := open(t, c.exercise, "solution")
		for i := range c.findings {
			c.findings[i].Severity = verdict.Error
		}
		if c.at != "" {
			f := &c.findings[len(c.findings)-1]
			f.File = filepath.Join(root, e.Folder(), e.Package+".go")
			f.Line = lineOf(t, f.File, c.at)
		}
		require.NoError(t, progress.Record(context.Background(), root, verdict.Report{Exercise: e.Name,
			Status: verdict.Failed,
			Checks: []verdict.Check{{Status: verdict.Failed, Findings: c.findings}}}))
		h := next(t, root, e, "")
		require.Equal(t, c.want, h.TODO, "%v", c.findings)
		require.Contains(t, h.Markdown(e.Name), "`"+c.findings[len(c.findings)-1].Rule+"`")
	}
}

func TestNothingToHintAt(t *testing.T) {
	root, e := open(t, "async-pipeline", "solution")
	nothing := func() string {
		_, err := hints.Next(context.Background(), root, e, "")
		why := (*hints.Nothing)(nil)
		require.ErrorAs(t, err, &why)
		return why.Why
	}
	require.Contains(t, nothing(), "no check has found a fault yet")
	require.NoError(t, progress.Record(context.Background(), root, verdict.Report{Exercise: e.Name,
		Status: verdict.Passed}))
	require.Contains(t, nothing(), "has passed")

	_, err := hints.Next(context.Background(), root, e, "9z")
	require.EqualError(t, err, `async-pipeline has no TODO "9z", only 1a, 1b, 1c, 1d, 1e, 2a, 2b, 2c`)
	_, err = hints.All(e, "9z")
	require.Error(t, err)
	one, err := hints.All(e, "1b")
	require.NoError(t, err)
	require.Len(t, one, 1)
	require.Len(t, one[0].Text, 3)
}
