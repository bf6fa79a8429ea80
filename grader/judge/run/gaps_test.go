package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/order"
	"cudalab/grader/suite"
	"cudalab/grader/suite/gaps"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// concluded is the report on a suite of two functions, each with a check of its own and a gap, "" where that is filled.
// What the checks find, they find in the case's notes.
func concluded(first, second string, found ...verdict.Finding) verdict.Report {
	s := &suite.Suite{Functions: []string{"Run"}}
	c := &checking{Runner: &Runner{}, Code: Code{Suite: s, AllGaps: []string{"1a", "2a"},
		Points: map[string]float64{"1a": 60, "2a": 40}}, locate: slabLines,
		runs: map[string]caseRun{}, reported: map[string]bool{}}
	for _, of := range []struct{ id, gap string }{{"1a", first}, {"2a", second}} {
		s.Cases = append(s.Cases, suite.Case{ID: of.id, After: of.id})
		s.Checks = append(s.Checks, suite.Question{ID: of.id, Needs: []string{of.id},
			Judge: func(e *suite.Evidence) suite.Answer {
				return suite.Answer{Findings: e.Cases[of.id].Findings}
			}})
		o := verdict.Outcome{}
		if of.gap != "" {
			o.Gap, o.Err = of.gap, "not written"
			c.Gaps = append(c.Gaps, gaps.Gap{ID: of.gap, File: "slab.go", Line: 7, Text: "Answer."})
			if c.gap == "" {
				c.gap = of.gap
			}
		}
		run := ended(o)
		run.notes.ID = of.id
		if of.id == "2a" {
			run.notes.Findings = found
			c.mayFree(run.notes)
		}
		c.runs[of.id] = run
	}
	c.judge(false)
	_ = c.conclude(nil)
	return c.report
}

func TestWhatAGapLeavesOpen(t *testing.T) {
	const first, both = "Comes with TODO(1a).", "Comes when the code is complete."
	for name, x := range map[string]struct {
		first, second string
		status        verdict.Status
		score         float64
		message, next string
		skipped       []string // what is said of the checks that could not be passed
	}{
		"none filled": {"1a", "2a", verdict.NotStarted, 0, "Not started yet: the skeleton is as it was handed out.",
			"write TODO(1a) in slab.go:7: Answer.", []string{first, both}},
		"first filled": {"", "2a", verdict.Failed, 60, "1 of 2 gaps filled. 1 check of 2 could be tried by now, " +
			"and found nothing wrong.", "write TODO(2a) in slab.go:7: Answer.", []string{both}},
		"second filled": {"1a", "", verdict.Failed, 40, "1 of 2 gaps filled. 1 check of 2 could be tried by now, " +
			"and found nothing wrong.", "write TODO(1a) in slab.go:7: Answer.", []string{both}},
		"all filled": {"", "", verdict.Passed, 100, "", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := concluded(x.first, x.second)
			require.Equal(t, x.status, r.Status)
			require.InDelta(t, x.score, r.Score, 0)
			require.Equal(t, x.message, r.Message)
			require.Equal(t, x.next, r.Next)
			var skipped []string
			for _, check := range r.Checks {
				if check.Status == verdict.Skipped {
					skipped = append(skipped, check.Message)
				}
			}
			require.Equal(t, x.skipped, skipped)
		})
	}
}

// What is wrong in what is written is said at once; what the missing code may still mend is not.
func TestWhatIsFoundBeforeAGap(t *testing.T) {
	race := verdict.Finding{Rule: order.DataRace, Severity: verdict.Error, Message: "a race"}
	leak := verdict.Finding{Rule: order.Leak, Severity: verdict.Error, Message: "a leak"}
	error := verdict.Finding{Rule: "unexpected-error", Severity: verdict.Error, Gap: "2a"}
	wait := verdict.Finding{Rule: order.NeedlessWait, Severity: verdict.Remark}

	r := concluded("", "2a", race, leak, error)
	require.Equal(t, "1 of 2 gaps filled, but not all of it is right.", r.Message)
	require.Equal(t, "mend the first error above, then write TODO(2a) in slab.go:7: Answer.", r.Next)
	require.Equal(t, verdict.Failed, r.Checks[1].Status)
	require.Len(t, r.Checks[1].Findings, 1)
	require.Equal(t, order.DataRace, r.Checks[1].Findings[0].Rule)
	require.InDelta(t, 60, r.Score, 0)

	r = concluded("", "2a", leak, error, wait)
	require.Equal(t, "1 of 2 gaps filled. 1 check of 2 could be tried by now, and found nothing wrong.", r.Message)
	require.Equal(t, verdict.Skipped, r.Checks[1].Status)
	require.Empty(t, r.Checks[1].Findings)

	r = concluded("1a", "", leak)
	require.Equal(t, "1 of 2 gaps filled, but not all of it is right.", r.Message, "no gap is left that could free it")
}

// What is given back on every way out is missed on the error that a later gap of the same function answers.
func TestLeaksOnAWayOut(t *testing.T) {
	for name, x := range map[string]struct {
		way     suite.WayOut
		at      string // the gap that answers
		open    []string
		remarks bool
	}{
		"a way out":        {suite.WayOut{Gap: "1b", Makes: trace.OpEventCreate}, "1c", []string{"1c", "2a"}, true},
		"another call":     {suite.WayOut{Gap: "1b", Makes: trace.OpMalloc}, "1c", []string{"1c", "2a"}, false},
		"not yet":          {suite.WayOut{Gap: "1c", Makes: trace.OpEventCreate}, "1c", []string{"1c", "2a"}, false},
		"another function": {suite.WayOut{Gap: "1b", Makes: trace.OpEventCreate}, "2a", []string{"2a"}, false},
		"open itself":      {suite.WayOut{Gap: "1b", Makes: trace.OpEventCreate}, "1c", []string{"1b", "1c"}, false},
	} {
		c := &checking{Runner: &Runner{}, Code: Code{Suite: &suite.Suite{WaysOut: []suite.WayOut{x.way}}}}
		for _, id := range x.open {
			c.Gaps = append(c.Gaps, gaps.Gap{ID: id})
		}
		notes := &verdict.CaseNotes{Trace: &trace.Trace{Records: []trace.Record{{Op: trace.OpEventCreate}}},
			Outcomes: []verdict.Outcome{{Gap: x.at}},
			Findings: []verdict.Finding{{Rule: order.Leak, Severity: verdict.Error, Message: "Nothing destroys event 1."}}}
		c.mayFree(notes)
		f := notes.Findings[0]
		require.Equal(t, x.remarks, f.Severity == verdict.Remark, name)
		require.Equal(t, x.remarks, f.Gap == "", name)
		if x.remarks {
			require.Equal(t, "Nothing destroys event 1 when TODO(1c) answers an error.", f.Message)
			require.Contains(t, f.Fix, "TODO(1b)")
		}
	}
}

// What fails beside a gap is the code's own fault where the gaps were filled in turn; filled before its turn, it works
// with what is not made yet.
func TestGapsAreFilledInTurn(t *testing.T) {
	for name, x := range map[string]struct {
		open   []string
		inTurn bool
	}{
		"none filled":  {[]string{"1a", "1b", "2a"}, true},
		"first filled": {[]string{"1b", "2a"}, true},
		"all filled":   {nil, true},
		"last filled":  {[]string{"1a", "1b"}, false},
		"one left out": {[]string{"1a", "2a"}, false},
		"others":       {[]string{"1a", "1b", "1c", "1d"}, false},
	} {
		c := &checking{Runner: &Runner{}, Code: Code{AllGaps: []string{"1a", "1b", "2a"}}}
		for _, id := range x.open {
			c.Gaps = append(c.Gaps, gaps.Gap{ID: id})
		}
		require.Equal(t, x.inTurn, c.inTurn(), name)
	}
}
