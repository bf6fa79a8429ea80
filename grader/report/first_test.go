package report_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/report"
	"cudalab/grader/suite/verdict"
)

// The first error stands on a small screen whole, with as much of where it comes from as there is room for.
func TestFirstFits(t *testing.T) {
	cause := verdict.Finding{Rule: "wrong-stream", Severity: verdict.Error,
		File: "exercises/asyncpipeline/asyncpipeline.go", Line: 73,
		Message: "Every call for a batch should be in its stream, but this one is in another.",
		Why:     "A stream is an order of its own.", Fix: "Pass the batch's stream.",
		Related: []verdict.Related{{File: "exercises/asyncpipeline/asyncpipeline.go", Line: 26, Message: "called from Run"}}}
	follows := verdict.Finding{Rule: "free-before-use", Severity: verdict.Error, Message: "too early",
		Follows: &verdict.Cause{Rule: "wrong-stream"}}
	leak := verdict.Finding{Rule: "leak", Severity: verdict.Error, Message: "left"}
	r := verdict.Report{Status: verdict.Failed, Score: 35, MaxScore: 100, Checks: []verdict.Check{
		{Name: "results", Status: verdict.Passed},
		{Name: "every use is in order", Status: verdict.Failed, Findings: []verdict.Finding{follows}},
		{Name: "a batch is on its stream", Status: verdict.Failed, Findings: []verdict.Finding{cause, leak}}}}
	parts := []string{"wrong-stream", "Why: ", "Fix: ", "FAILED  35 of 100 points, and 1 more error",
		"a batch is on its stream", "called from Run"}
	for _, size := range []struct{ lines, parts int }{{30, 6}, {10, 6}, {9, 5}, {7, 4}} {
		var b strings.Builder
		require.NoError(t, report.First(&b, r, size.lines, report.Options{Width: 60}))
		require.LessOrEqual(t, strings.Count(b.String(), "\n"), size.lines, b.String())
		for i, part := range parts {
			require.Equal(t, i < size.parts, strings.Contains(b.String(), part), "%d lines, %s:\n%s", size.lines, part,
				b.String())
		}
		require.NotContains(t, b.String(), "too early")
	}
}
