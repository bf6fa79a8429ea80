package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/desk/progress"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

func TestTrapsComeOnceOneHasBegun(t *testing.T) {
	t.Setenv("TERM", "dumb") // no pager
	c, err := course.Open("../../..")
	require.NoError(t, err)
	e, err := c.Find("slab")
	require.NoError(t, err)
	root := t.TempDir()
	shown := func(width int, traps bool) string {
		var b bytes.Buffer
		require.NoError(t, screen{Writer: &b, width: width}.lesson(context.Background(), root, e, traps))
		return strings.Join(strings.Fields(b.String()), " ")
	}
	const trap, where = "Freed twice.", "cudalab lesson slab --traps"
	folded := func() {
		t.Helper()
		text := shown(80, false)
		require.NotContains(t, text, trap)
		require.Contains(t, text, where)
		require.Contains(t, text, "What it costs", "what is below them")
	}
	folded()
	require.Contains(t, shown(80, true), trap, "on request")
	require.NotContains(t, shown(80, true), where)
	require.Contains(t, shown(0, false), "<details>", "elsewhere it is the Markdown as it is")

	require.NoError(t, progress.Record(context.Background(), root, verdict.Report{Exercise: e.Name,
		Status: verdict.NotStarted}))
	folded()
	require.NoError(t, progress.Record(context.Background(), root, verdict.Report{Exercise: e.Name,
		Status: verdict.Failed}))
	require.Contains(t, shown(80, false), trap)
	require.NotContains(t, shown(80, false), "details>")
}
