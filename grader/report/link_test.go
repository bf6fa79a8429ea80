package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/report"
	"cudalab/grader/suite/verdict"
)

func TestPositionsAreLinksWhereAskedFor(t *testing.T) {
	t.Chdir(t.TempDir())
	r := verdict.Report{Exercise: "slab", Status: verdict.Failed,
		Checks: []verdict.Check{{Name: "order", Status: verdict.Failed,
			Findings: []verdict.Finding{{Rule: "leak", Severity: verdict.Error, Message: "Memory is left.", File: "my slab.go",
				Line:    7,
				Related: []verdict.Related{{File: "my slab.go", Line: 3, Message: "allocated here"}}}}}}}
	shown := func(links bool) string {
		var out bytes.Buffer
		require.NoError(t, report.Terminal(&out, r, report.Options{Links: links}))
		return out.String()
	}
	plain := shown(false)
	require.NotContains(t, plain, "\x1b")

	linked := shown(true)
	dir, err := os.Getwd()
	require.NoError(t, err)
	host, err := os.Hostname()
	require.NoError(t, err)
	url := "file://" + host + filepath.ToSlash(filepath.Join(dir, "my%20slab.go"))
	require.Contains(t, linked, "\x1b]8;;"+url+"\x1b\\my slab.go:7\x1b]8;;\x1b\\")
	require.Contains(t, linked, "\x1b]8;;"+url+"\x1b\\my slab.go:3\x1b]8;;\x1b\\")
	require.Equal(t, plain, regexp.MustCompile("\x1b\\]8;;.*?\x1b\\\\").ReplaceAllString(linked, ""),
		"links change nothing that is seen")

	t.Setenv("KITTY_WINDOW_ID", "1")
	require.Contains(t, shown(true), "my%20slab.go#7\x1b")
}
