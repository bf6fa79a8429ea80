package instructors_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
	"cudalab/grader/suite/gaps"
	own "cudalab/grader/suites/course"
)

// TestSourcesNameWhatThereIs reads the table of sources.md: each of its lessons has the gaps and the checks of its row.
func TestSourcesNameWhatThereIs(t *testing.T) {
	text, err := os.ReadFile("sources.md")
	require.NoError(t, err)
	c, err := own.Open(course)
	require.NoError(t, err)
	_, rows, found := strings.Cut(string(text), "|---|---|---|---|---|\n")
	require.True(t, found)
	named := 0
	for line := range strings.Lines(rows) {
		cells := strings.Split(strings.Trim(line, "|\n"), "|")
		if len(cells) != 5 {
			break
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		e, err := c.Find(cells[2])
		require.NoError(t, err)
		if cells[3] == "told" {
			require.Empty(t, cells[4], "%s: what is only told has no check", line)
			continue
		}
		open, err := gaps.Find(filepath.Join(c.Root, "exercises", e.Package))
		require.NoError(t, err)
		for gap := range strings.SplitSeq(cells[3], ", ") {
			require.True(t, slices.ContainsFunc(open, func(g gaps.Gap) bool { return g.ID == gap }), "%s has no gap %s",
				e.Name, gap)
			named++
		}
		for check := range strings.SplitSeq(cells[4], ", ") {
			require.True(t, slices.ContainsFunc(e.Suite.Checks, func(q suite.Question) bool { return q.ID == check }),
				"%s has no check %s", e.Name, check)
		}
	}
	require.NotZero(t, named)
}
