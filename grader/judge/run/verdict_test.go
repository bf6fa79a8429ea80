package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/order"
	"cudalab/grader/suite"
	"cudalab/native/trace"
)

// concluded is the report on a suite of two functions, each with a check of its own and a gap, "" where that is filled.
func concluded(anyOrder bool, first, second string) suite.Report {
	s := &suite.Suite{AnyOrder: anyOrder}
	c := &checking{Request: Request{Suite: s, Points: map[string]float64{"first": 60, "second": 40}}, locate: slabLines,
		runs: map[string]caseRun{}, reported: map[string]bool{}}
	for _, of := range []struct{ id, gap string }{{"first", first}, {"second", second}} {
		s.Cases = append(s.Cases, suite.Case{ID: of.id})
		s.Checks = append(s.Checks, suite.Question{ID: of.id, Needs: []string{of.id}, Judge: func(*suite.Evidence) suite.Answer { return suite.Answer{} }})
		if c.gap != "" && !anyOrder {
			continue
		}
		o := suite.Outcome{}
		if of.gap != "" {
			o.Gap, o.Err = of.gap, "not written"
		}
		run := ended(o)
		run.notes.ID = of.id
		if c.runs[of.id] = run; c.gap == "" {
			c.gap = of.gap
		}
	}
	c.judge(false)
	_ = c.conclude(nil)
	return c.report
}

func TestGapsInAnyOrder(t *testing.T) {
	for name, x := range map[string]struct {
		anyOrder      bool
		first, second string
		status        suite.Status
		score         float64
		message       string
		skipped       string // what is said of the last check that could not be asked
	}{
		"one behind the other, none filled":  {false, "1a", "2a", suite.NotStarted, 0, "Not started yet: the skeleton is as it was handed out.", "Comes when the code is complete."},
		"one behind the other, first filled": {false, "", "2a", suite.Failed, 60, "TODO(2a) is still to be written.", "Comes when the code is complete."},
		"any order, none filled":             {true, "1a", "2a", suite.NotStarted, 0, "Not started yet: the skeleton is as it was handed out.", "Comes when TODO(2a) is written."},
		"any order, first filled":            {true, "", "2a", suite.Failed, 60, "TODO(2a) is still to be written.", "Comes when TODO(2a) is written."},
		"any order, second filled":           {true, "1a", "", suite.Failed, 40, "TODO(1a) is still to be written.", "Comes when TODO(1a) is written."},
		"all filled":                         {true, "", "", suite.Passed, 100, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := concluded(x.anyOrder, x.first, x.second)
			require.Equal(t, x.status, r.Status)
			require.InDelta(t, x.score, r.Score, 0)
			require.Equal(t, x.message, r.Message)
			skipped := ""
			for _, check := range r.Checks {
				if check.Status == suite.Skipped {
					skipped = check.Message
				}
			}
			require.Equal(t, x.skipped, skipped)
		})
	}
}

// A lesson may raise a remark of the order checker's to an error, and leave one out.
func TestWhatARemarkWeighs(t *testing.T) {
	made := &trace.Trace{Sites: []trace.Site{nil, at("cudalab/exercises/slab.Run")}, Records: []trace.Record{{Op: trace.OpLaunch, Site: 1}}}
	found := []order.Finding{{Rule: order.StagedCopy, Severity: order.Remark}, {Rule: order.NeedlessWait, Severity: order.Remark},
		{Rule: order.LegacyStream, Severity: order.Remark}, {Rule: order.DataRace, Severity: order.Error}}
	c := &checking{locate: slabLines, Request: Request{Suite: &suite.Suite{
		Remarks: map[string]suite.Severity{order.StagedCopy: suite.Error, order.LegacyStream: ""}}}}
	weights := map[string]suite.Severity{}
	for _, f := range c.findings(found, made) {
		weights[f.Rule] = f.Severity
	}
	require.Equal(t, map[string]suite.Severity{order.StagedCopy: suite.Error, order.NeedlessWait: suite.Remark, order.DataRace: suite.Error}, weights)
}
