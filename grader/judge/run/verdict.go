package run

import (
	"errors"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
)

// judge answers the checks on timed cases, or those on the others.
func (c *checking) judge(timed bool) {
	for _, q := range c.Suite.Checks {
		if c.isTimed(q) != timed {
			continue
		}
		check := c.answer(q)
		check.ID, check.Name, check.MaxPoints = q.ID, q.Name, c.Points[q.ID]
		if check.Status == verdict.Passed {
			check.Points = check.MaxPoints
		}
		c.report.Checks = append(c.report.Checks, check)
	}
}

func (c *checking) allPassed() bool {
	return !slices.ContainsFunc(c.report.Checks, func(ch verdict.Check) bool { return ch.Status != verdict.Passed })
}

// answer is the verdict on one check. A case that did not end well answers for the first check that needs it.
func (c *checking) answer(q suite.Question) verdict.Check {
	var bad []verdict.Finding
	unfinished := false
	for _, id := range q.Needs {
		run, ran := c.runs[id]
		if !ran && len(bad) > 0 {
			break // it was not asked for because of how the one before had ended
		}
		if !ran {
			return c.notAsked(q)
		}
		status, f, ok, err := verdictOf(run, c.locate)
		if err != nil {
			return verdict.Check{Status: verdict.Skipped, Message: "Could not be asked."}
		}
		if ok {
			c.worsen(status)
			if c.reported[id] {
				return verdict.Check{Status: verdict.Skipped, Message: "Could not be asked: see above how your code ended."}
			}
			c.reported[id] = true
			bad = append(bad, f)
		}
		unfinished = unfinished || gapOf(run.notes) != ""
	}
	if len(bad) > 0 {
		return verdict.Check{Status: verdict.Failed, Findings: c.placed(verdict.Unique(append(bad, c.errorsElsewhere(q)...)))}
	}
	if unfinished {
		return c.soFar(q)
	}
	a := q.Judge(c.evidence())
	check := verdict.Check{Status: verdict.Passed, Message: a.Message, Findings: c.placed(a.Findings), Measurements: a.Measurements, Run: a.Run}
	switch {
	case slices.ContainsFunc(a.Findings, func(f verdict.Finding) bool { return f.Severity == verdict.Error }):
		check.Status, check.Message = verdict.Failed, ""
	case a.Skip != "":
		check.Status, check.Message = verdict.Skipped, a.Skip
	case q.Luck && c.unordered(q):
		check.Status = verdict.Skipped
		check.Message = "It came out right this time, but that is luck while memory is used as the errors in the other checks say: mend those first."
	}
	return check
}

// unordered reports whether the order checker found errors of order in the cases of a check.
func (c *checking) unordered(q suite.Question) bool {
	return verdict.HasError(c.evidence().Of(verdict.OrderRules, q.Needs...))
}

// errorsElsewhere are the order checker's errors in the cases of a check that did end well: where another crashed, they
// may tell why.
func (c *checking) errorsElsewhere(q suite.Question) []verdict.Finding {
	var found []verdict.Finding
	for _, id := range q.Needs {
		run, ran := c.runs[id]
		if !ran {
			continue
		}
		for _, f := range run.notes.Findings {
			if f.Severity == verdict.Error && !unwritten(f) {
				found = append(found, f)
			}
		}
	}
	return found
}

func (c *checking) notAsked(q suite.Question) verdict.Check {
	check := verdict.Check{Status: verdict.Skipped}
	switch {
	case c.gap != "":
		check.Message = c.comesWith(q)
	case c.NoTiming && c.isTimed(q):
		check.Message = "Left out, as --no-timing says."
	case c.isTimed(q):
		check.Message = "Time is measured once everything above has passed."
	default:
		check.Message = "Could not be asked: see above how your code ended."
	}
	return check
}

// severity orders the ways in which an exercise can go wrong as a whole.
var severity = []verdict.Status{"", verdict.Failed, verdict.Crashed, verdict.Timeout}

func (c *checking) worsen(s verdict.Status) {
	if slices.Index(severity, s) > slices.Index(severity, c.status) {
		c.status = s
	}
}

// conclude makes the whole of the parts. It returns why that could not be done, if so.
func (c *checking) conclude(err error) error {
	r := &c.report
	for _, run := range c.inOrder() {
		if _, _, _, fault := verdictOf(run, c.locate); err == nil {
			err = fault
		}
	}
	r.Checks = slices.Clip(r.Checks)
	for _, ch := range r.Checks {
		if c.NoTiming && ch.Status == verdict.Skipped && c.timedCheck(ch.ID) {
			continue
		}
		r.Score += ch.Points
		r.MaxScore += ch.MaxPoints
	}
	switch {
	case errors.Is(err, errCancelled):
		r.Status, r.Score = verdict.Errored, 0
		r.Message = "The check was stopped before it was done; nothing has been decided."
		r.Next = "run it again"
	case err != nil:
		r.Status, r.Score = verdict.Errored, 0
		r.Message = "cudalab could not carry the check through: " + err.Error()
		if missing := (*NoDevice)(nil); errors.As(err, &missing) {
			r.Message = missing.Problem
		}
		r.Next = "this is not your code's fault: run `cudalab doctor` to see what is missing"
		if busy := (*Busy)(nil); errors.As(err, &busy) {
			r.Next = "this is not your code's fault: run it again when less else runs on this machine"
		}
	case c.gap != "":
		c.concludeGap()
	case c.status != "" && c.status != verdict.Failed:
		r.Status = c.status
	case slices.ContainsFunc(r.Checks, func(ch verdict.Check) bool { return ch.Status == verdict.Failed }), !c.everythingAsked():
		r.Status = verdict.Failed
	default:
		r.Status = verdict.Passed
	}
	return err
}

// inOrder are the cases that were run, in the suite's order, so that the same faults are told in the same words.
func (c *checking) inOrder() (runs []caseRun) {
	for _, cs := range c.Suite.Cases {
		if run, ran := c.runs[cs.ID]; ran {
			runs = append(runs, run)
		}
	}
	return runs
}

// everythingAsked reports whether every check passed but those that --no-timing leaves out.
func (c *checking) everythingAsked() bool {
	for _, ch := range c.report.Checks {
		if ch.Status != verdict.Passed && !(c.NoTiming && c.timedCheck(ch.ID)) {
			return false
		}
	}
	return len(c.report.Checks) == len(c.Suite.Checks)
}

func (c *checking) timedCheck(id string) bool {
	return slices.ContainsFunc(c.Suite.Checks, func(q suite.Question) bool { return q.ID == id && c.isTimed(q) })
}

func (c *checking) isTimed(q suite.Question) bool {
	return slices.ContainsFunc(c.Suite.Cases, func(cs suite.Case) bool { return cs.Timed && slices.Contains(q.Needs, cs.ID) })
}
