package verdict_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/verdict"
)

func TestNotices(t *testing.T) {
	leak := verdict.Finding{Rule: "leak", Severity: verdict.Error, Message: "m", File: "a.go", Line: 7, Record: 3}
	remark := verdict.Finding{Rule: "odd", Severity: verdict.Remark, Message: "r"}
	gap := &verdict.Gap{ID: "1b", File: "a.go", Line: 9, Text: "Free it"}
	type notice struct {
		rule, message, file string
		severity            verdict.Severity
		line                int
	}
	for name, c := range map[string]struct {
		report verdict.Report
		want   []notice
	}{
		"a pass": {verdict.Report{Status: verdict.Passed}, nil},
		"a pass with a remark about no line": {verdict.Report{Status: verdict.Passed,
			Checks: []verdict.Check{{Findings: []verdict.Finding{remark}}}},
			[]notice{{"odd", "r", "main.go", verdict.Remark, 1}}},
		"one finding of two checks is said once": {verdict.Report{Status: verdict.Failed, Checks: []verdict.Check{
			{Findings: []verdict.Finding{leak}}, {Findings: []verdict.Finding{leak, remark}}}},
			[]notice{{"leak", "m", "a.go", verdict.Error, 7}, {"odd", "r", "main.go", verdict.Remark, 1}}},
		"a gap": {verdict.Report{Status: verdict.NotStarted, Message: "Not started yet.", Gap: gap},
			[]notice{{"todo", "TODO(1b) is to be written next: Free it.", "a.go", verdict.Unwritten, 9}}},
		"a failure without a finding": {verdict.Report{Status: verdict.Timeout, Message: "It took too long.",
			Checks: []verdict.Check{{Findings: []verdict.Finding{remark}}}},
			[]notice{{"odd", "r", "main.go", verdict.Remark, 1}, {"timeout", "It took too long.", "main.go", verdict.Error, 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []notice
			for _, f := range c.report.Notices("main.go") {
				got = append(got, notice{f.Rule, f.Message, f.File, f.Severity, f.Line})
			}
			require.Equal(t, c.want, got)
		})
	}
}
