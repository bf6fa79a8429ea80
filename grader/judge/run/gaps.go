package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/order"
	"cudalab/grader/suite"
	"cudalab/grader/suite/gaps"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// inTurn reports whether the gaps were filled in their order: those that are open are the skeleton's last.
func (c *checking) inTurn() bool {
	first := len(c.AllGaps) - len(c.Gaps)
	return first >= 0 && slices.EqualFunc(c.AllGaps[first:], c.Gaps,
		func(id string, g gaps.Gap) bool { return id == g.ID })
}

// forgive takes what else an error says than that a gap has answered for what comes of the gap: code that was written
// before its turn works with what is not made yet.
func forgive(notes *verdict.CaseNotes) {
	for i := range notes.Outcomes {
		notes.Outcomes[i].Besides = false
	}
}

// mayFree gives the leaks of a case that came to a gap to that gap: the code that is missing may free what is still
// there. Only where what is written by then should have done so on every way out, a leak is a remark: another plan may
// still be behind it. All else that the order checker has found has happened, and no later call undoes it.
func (c *checking) mayFree(notes *verdict.CaseNotes) {
	gap := cmp.Or(gapOf(notes), notes.Beyond())
	if gap == "" {
		return
	}
	for i := range notes.Findings {
		f := &notes.Findings[i]
		if f.Rule != order.Leak {
			continue
		}
		if way, ok := c.wayOut(gap, notes.Trace, f.Record); ok {
			f.Severity = verdict.Remark
			f.Message = strings.TrimSuffix(f.Message, ".") + fmt.Sprintf(" when TODO(%s) answers an error.", gap)
			f.Why = "That error is a way out like any other: what is left on it will be left wherever a call there fails."
			f.Fix = fmt.Sprintf("It belongs to TODO(%s): a defer right behind the call that makes it holds for all that is "+
				"still to be written.", way.Gap)
		} else {
			f.Gap = gap
		}
	}
}

// gapOf is the first gap that answered in a case; "" where none did.
func gapOf(notes *verdict.CaseNotes) string {
	for _, o := range notes.Outcomes {
		if o.Gap != "" {
			return o.Gap
		}
	}
	return ""
}

// wayOut is what the skeleton says of a record in a case that came to a gap, if it should have been given back by then.
func (c *checking) wayOut(gap string, t *trace.Trace, record int) (suite.WayOut, bool) {
	for _, w := range c.Suite.WaysOut {
		filled := !slices.ContainsFunc(c.Gaps, func(g gaps.Gap) bool { return g.ID == w.Gap })
		if filled && w.Gap < gap && w.Gap[0] == gap[0] && record >= 0 && t.Records[record].Op == w.Makes {
			return w, true
		}
	}
	return suite.WayOut{}, false
}

// soFar is the verdict on a check of which not all could be seen, since a case came to a gap: wrong where something is
// wrong in what is written, else open.
func (c *checking) soFar(q suite.Question) verdict.Check {
	found := slices.DeleteFunc(q.Judge(c.evidence()).Findings, unwritten)
	if verdict.HasError(found) {
		return verdict.Check{Status: verdict.Failed, Findings: c.placed(found)}
	}
	left := slices.DeleteFunc(found, func(f verdict.Finding) bool { return f.Rule != order.Leak })
	return verdict.Check{Status: verdict.Skipped, Message: c.comesWith(q), Findings: c.placed(left)}
}

// unwritten reports whether there is no more to a finding than that a gap has answered.
func unwritten(f verdict.Finding) bool { return f.Gap != "" }

// comesWith says when a check can be passed: with the last gap that its cases need.
func (c *checking) comesWith(q suite.Question) string {
	last := -1
	for _, id := range q.Needs {
		cs, ok := c.Suite.Case(id)
		if !ok || cs.Timed || cs.After == "" {
			last = len(c.Gaps)
			continue
		}
		for i, g := range c.Gaps {
			if g.ID <= cs.After {
				last = max(last, i)
			}
		}
	}
	if last < 0 || last >= len(c.Gaps)-1 {
		return "Comes when the code is complete."
	}
	return fmt.Sprintf("Comes with TODO(%s).", c.Gaps[last].ID)
}

// concludeGap is the conclusion where a gap has answered.
func (c *checking) concludeGap() {
	r := &c.report
	next := c.nextGap()
	write := "write TODO(" + next.ID + ")"
	if next.File != "" {
		r.Gap = &verdict.Gap{ID: next.ID, File: next.File, Line: next.Line, Text: next.Text}
		write += fmt.Sprintf(" in %s:%d", next.File, next.Line)
	}
	if next.Lacks != "" && next.File == "" {
		write += ", which `cudalab update` brings into an older file"
	}
	if next.Text != "" {
		write += ": " + next.Text
	}
	filled := len(c.AllGaps) - len(c.Gaps)
	wrong := slices.ContainsFunc(r.Checks, func(ch verdict.Check) bool { return ch.Status == verdict.Failed })
	r.Status, r.Next = verdict.Failed, write
	switch {
	case filled <= 0 && !wrong:
		r.Status = verdict.NotStarted
		r.Message = "Not started yet: the skeleton is as it was handed out."
	case wrong:
		r.Message = fmt.Sprintf("%d of %d gaps filled, but not all of it is right.", max(filled, 0), len(c.AllGaps))
		r.Next = "mend the first error above, then " + write
	default:
		r.Message = fmt.Sprintf("%d of %d gaps filled%s.", filled, len(c.AllGaps), c.tried())
	}
	r.Message += c.lacking()
}

// lacking says which functions the code lacks, and what that comes to.
func (c *checking) lacking() (sentences string) {
	told := ""
	for _, g := range c.Gaps {
		if g.Lacks != "" && g.Lacks != told {
			sentences += fmt.Sprintf(" %s, so it counts as TODO(%s).", g.Lacks, g.ID)
			told = g.Lacks
		}
	}
	return sentences
}

// tried says how much of what is written was tried, where nothing was wrong with it.
func (c *checking) tried() string {
	passed := 0
	for _, ch := range c.report.Checks {
		if ch.Status == verdict.Passed {
			passed++
		}
	}
	if passed == 0 {
		return ", which no check could try yet: each says what it comes with"
	}
	return fmt.Sprintf(". %s of %d could be tried by now, and found nothing wrong", verdict.Count(passed, "check",
		"checks"), len(c.report.Checks))
}

// nextGap is the gap to be filled next: they are numbered in the order in which one needs the other, whichever
// answered first.
func (c *checking) nextGap() gaps.Gap {
	if len(c.Gaps) > 0 {
		return c.Gaps[0]
	}
	return gaps.Gap{ID: c.gap}
}
