package class

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/visible"
	"cudalab/grader/suite/verdict"
)

// endless is a program that was stopped; in which of lines 7 to 11 is chance.
const endless = `package slab

func New(n int) int {
	if n > 0 {
		n = 1
	}
	for n > 0 {
		for range 3 {
			n = step(n)
		}
	}
	return n
}

func step(n int) int {
	return n + 1
}
`

func untimed(string) bool { return false }

func TestCodeThatWasStoppedIsNamedByItsLoop(t *testing.T) {
	t.Chdir(t.TempDir())
	dir := "submissions" // as it was named, which need not be absolute
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "slab"), 0o755))
	file := filepath.Join(dir, "slab", "slab.go")
	require.NoError(t, os.WriteFile(file, []byte(endless), 0o644))
	stopped := func(line int, from ...int) verdict.Report {
		f := verdict.Finding{Rule: "timeout", Severity: verdict.Error, Message: "stopped", File: file, Line: line}
		for _, line := range from {
			f.Related = append(f.Related, verdict.Related{File: file, Line: line, Message: "called from New"})
		}
		return verdict.Report{Status: verdict.Timeout, Output: strings.Repeat("x", line),
			Checks: []verdict.Check{{ID: "blocks", Status: verdict.Failed, Findings: []verdict.Finding{f}}}}
	}
	want := settle(stopped(7), untimed, dir)
	found := want.Checks[0].Findings[0]
	require.Equal(t, filepath.Join("slab", "slab.go"), found.File)
	require.Equal(t, 7, found.Line)
	for _, r := range []verdict.Report{stopped(8), stopped(9), stopped(16, 9)} {
		require.Equal(t, want, settle(r, untimed, dir))
	}
	recursion := settle(stopped(5), untimed, dir)
	require.Equal(t, 3, recursion.Checks[0].Findings[0].Line, "outside of a loop it is the function")
}

func TestWhatWasMeasuredIsLeftOut(t *testing.T) {
	r := verdict.Report{DurationMS: 812, Device: verdict.Device{Kind: "sim", Note: "no GPU"}, Checks: []verdict.Check{
		{ID: "blocks", Status: verdict.Passed, Message: "All 100 blocks are right.",
			Findings: []verdict.Finding{{Rule: "legacy-stream", Severity: verdict.Remark}}},
		{ID: "cost", Status: verdict.Passed, Message: "12 ns and 13 ns.", Measurements: []verdict.Measurement{{Name: "growth",
			Value: 1.1}},
			Findings: []verdict.Finding{{Rule: "grows", Severity: verdict.Remark, Message: "9 times as long"}}},
		{ID: "speed", Status: verdict.Failed, Findings: []verdict.Finding{{Rule: "too-slow", Severity: verdict.Error,
			Message: "3.14 times as long"}}},
	}}
	before := r.Checks[1].Message
	got := settle(r, func(check string) bool { return check != "blocks" }, "/nowhere")
	require.Equal(t, before, r.Checks[1].Message, "the report itself stays as it is")
	text, err := visible.JSON(got)
	require.NoError(t, err)
	for _, measured := range []string{"812", "no GPU", "12 ns", "1.1", "9 times", "3.14"} {
		require.NotContains(t, string(text), measured)
	}
	require.Contains(t, string(text), "All 100 blocks are right.")
	require.Contains(t, string(text), "legacy-stream")
	require.Equal(t, verdict.Failed, got.Checks[2].Status)
	require.NotEmpty(t, got.Checks[2].Findings[0].Message)
}

func TestAGapIsNamedBelowTheSubmission(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ada")
	file := filepath.Join(dir, "slab", "slab.go")
	r := verdict.Report{Next: "write TODO(1a) in " + file + ":3", Gap: &verdict.Gap{ID: "1a", File: file, Line: 3,
		Text: "Do \xff it"}}
	got := settle(r, untimed, dir)
	require.Equal(t, &verdict.Gap{ID: "1a", File: filepath.Join("slab", "slab.go"), Line: 3, Text: "Do \uFFFD it"},
		got.Gap)
	require.Equal(t, file, r.Gap.File, "the report itself stays as it is")
}

func TestOutputIsBoundedAndValid(t *testing.T) {
	long := settle(verdict.Report{Output: strings.Repeat("€", maxOutput)}, untimed, "/nowhere").Output
	require.Less(t, len(long), maxOutput+100)
	require.True(t, strings.HasPrefix(long, "€€€"))
	require.Contains(t, long, "left out")
	require.NotContains(t, long, "\uFFFD")
	require.Equal(t, "a\uFFFDb", settle(verdict.Report{Output: "a\xff\xfeb"}, untimed, "/nowhere").Output)
	require.Equal(t, "short", settle(verdict.Report{Output: "short"}, untimed, "/nowhere").Output)
}
