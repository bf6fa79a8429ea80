package suite_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
)

func TestNotices(t *testing.T) {
	leak := suite.Finding{Rule: "leak", Severity: suite.Error, Message: "m", File: "a.go", Line: 7, Record: 3}
	remark := suite.Finding{Rule: "odd", Severity: suite.Remark, Message: "r"}
	gap := &suite.Gap{ID: "1b", File: "a.go", Line: 9, Text: "Free it"}
	type notice struct {
		rule, message, file string
		severity            suite.Severity
		line                int
	}
	for name, c := range map[string]struct {
		report suite.Report
		want   []notice
	}{
		"a pass": {suite.Report{Status: suite.Passed}, nil},
		"a pass with a remark about no line": {suite.Report{Status: suite.Passed, Checks: []suite.Check{{Findings: []suite.Finding{remark}}}},
			[]notice{{"odd", "r", "main.go", suite.Remark, 1}}},
		"one finding of two checks is said once": {suite.Report{Status: suite.Failed, Checks: []suite.Check{
			{Findings: []suite.Finding{leak}}, {Findings: []suite.Finding{leak, remark}}}},
			[]notice{{"leak", "m", "a.go", suite.Error, 7}, {"odd", "r", "main.go", suite.Remark, 1}}},
		"a gap": {suite.Report{Status: suite.NotStarted, Message: "Not started yet.", Gap: gap},
			[]notice{{"todo", "TODO(1b) is to be written next: Free it.", "a.go", suite.Unwritten, 9}}},
		"a failure without a finding": {suite.Report{Status: suite.Timeout, Message: "It took too long.",
			Checks: []suite.Check{{Findings: []suite.Finding{remark}}}},
			[]notice{{"odd", "r", "main.go", suite.Remark, 1}, {"timeout", "It took too long.", "main.go", suite.Error, 1}}},
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
