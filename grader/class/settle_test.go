package class

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
	"cudalab/grader/suite/jsontext"
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

func TestCodeThatWasStoppedIsNamedByItsLoop(t *testing.T) {
	t.Chdir(t.TempDir())
	dir := "submissions" // as it was named, which need not be absolute
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "slab"), 0o755))
	file := filepath.Join(dir, "slab", "slab.go")
	require.NoError(t, os.WriteFile(file, []byte(endless), 0o644))
	s := &suite.Suite{}
	stopped := func(line int, from ...int) suite.Report {
		f := suite.Finding{Rule: "timeout", Severity: suite.Error, Message: "stopped", File: file, Line: line}
		for _, line := range from {
			f.Related = append(f.Related, suite.Related{File: file, Line: line, Message: "called from New"})
		}
		return suite.Report{Status: suite.Timeout, Output: strings.Repeat("x", line),
			Checks: []suite.Check{{ID: "blocks", Status: suite.Failed, Findings: []suite.Finding{f}}}}
	}
	want := settle(stopped(7), s, dir)
	found := want.Checks[0].Findings[0]
	require.Equal(t, filepath.Join("slab", "slab.go"), found.File)
	require.Equal(t, 7, found.Line)
	for _, r := range []suite.Report{stopped(8), stopped(9), stopped(16, 9)} {
		require.Equal(t, want, settle(r, s, dir))
	}
	recursion := settle(stopped(5), s, dir)
	require.Equal(t, 3, recursion.Checks[0].Findings[0].Line, "outside of a loop it is the function")
}

func TestWhatWasMeasuredIsLeftOut(t *testing.T) {
	s := &suite.Suite{Cases: []suite.Case{{ID: "few"}, {ID: "cost", Timed: true}},
		Checks: []suite.Question{{ID: "blocks", Needs: []string{"few"}}, {ID: "cost", Needs: []string{"cost"}}, {ID: "speed", Needs: []string{"cost"}}}}
	r := suite.Report{DurationMS: 812, Device: suite.Device{Kind: "sim", Note: "no GPU"}, Checks: []suite.Check{
		{ID: "blocks", Status: suite.Passed, Message: "All 100 blocks are right.", Findings: []suite.Finding{{Rule: "legacy-stream", Severity: suite.Remark}}},
		{ID: "cost", Status: suite.Passed, Message: "12 ns and 13 ns.", Measurements: []suite.Measurement{{Name: "growth", Value: 1.1}},
			Findings: []suite.Finding{{Rule: "grows", Severity: suite.Remark, Message: "9 times as long"}}},
		{ID: "speed", Status: suite.Failed, Findings: []suite.Finding{{Rule: "too-slow", Severity: suite.Error, Message: "3.14 times as long"}}},
	}}
	before := r.Checks[1].Message
	got := settle(r, s, "/nowhere")
	require.Equal(t, before, r.Checks[1].Message, "the report itself stays as it is")
	text, err := jsontext.Marshal(got)
	require.NoError(t, err)
	for _, measured := range []string{"812", "no GPU", "12 ns", "1.1", "9 times", "3.14"} {
		require.NotContains(t, string(text), measured)
	}
	require.Contains(t, string(text), "All 100 blocks are right.")
	require.Contains(t, string(text), "legacy-stream")
	require.Equal(t, suite.Failed, got.Checks[2].Status)
	require.NotEmpty(t, got.Checks[2].Findings[0].Message)
}

func TestAGapIsNamedBelowTheSubmission(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ada")
	file := filepath.Join(dir, "slab", "slab.go")
	r := suite.Report{Next: "write TODO(1a) in " + file + ":3", Gap: &suite.Gap{ID: "1a", File: file, Line: 3, Text: "Do \xff it"}}
	got := settle(r, &suite.Suite{}, dir)
	require.Equal(t, &suite.Gap{ID: "1a", File: filepath.Join("slab", "slab.go"), Line: 3, Text: "Do \uFFFD it"}, got.Gap)
	require.Equal(t, file, r.Gap.File, "the report itself stays as it is")
}

func TestOutputIsBoundedAndValid(t *testing.T) {
	s := &suite.Suite{}
	long := settle(suite.Report{Output: strings.Repeat("€", maxOutput)}, s, "/nowhere").Output
	require.Less(t, len(long), maxOutput+100)
	require.True(t, strings.HasPrefix(long, "€€€"))
	require.Contains(t, long, "left out")
	require.NotContains(t, long, "\uFFFD")
	require.Equal(t, "a\uFFFDb", settle(suite.Report{Output: "a\xff\xfeb"}, s, "/nowhere").Output)
	require.Equal(t, "short", settle(suite.Report{Output: "short"}, s, "/nowhere").Output)
}
