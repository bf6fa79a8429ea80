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

// mayBeFast reports whether time says anything: every check has passed, but for arguments that were refused and should
// not have been, for what could not be asked because of that, and for what a later gap is about.
func (c *checking) mayBeFast() bool {
	skipped, refused := false, false
	for _, ch := range c.report.Checks {
		skipped = skipped || ch.Status == verdict.Skipped && !c.cameToGap(ch.ID)
		for _, f := range ch.Findings {
			if f.Severity != verdict.Error {
				continue
			}
			if !f.Refused {
				return false
			}
			refused = true
		}
	}
	return refused || !skipped
}

// cameToGap reports whether a case of a check came to a gap.
func (c *checking) cameToGap(check string) bool {
	return slices.ContainsFunc(c.Suite.Checks, func(q suite.Question) bool {
		return q.ID == check && slices.ContainsFunc(q.Needs, func(id string) bool {
			run, ran := c.runs[id]
			return ran && gapOf(run.notes) != ""
		})
	})
}

// answer is the verdict on one check. A case that did not end well answers for the first check that needs it, and is
// evidence for the others as far as it went where all that was left of it was carried out elsewhere.
func (c *checking) answer(q suite.Question) verdict.Check {
	var bad []verdict.Finding
	var lost []string // the cases that did not end well, or were not asked for
	unfinished, told := false, false
	for _, id := range q.Needs {
		run, ran := c.runs[id]
		if !ran && len(bad) > 0 {
			lost = append(lost, id) // it was not asked for because of how the one before had ended
			continue
		}
		if !ran {
			return c.notAsked(q)
		}
		found, err := c.badEnd(run)
		if err != nil {
			return verdict.Check{Status: verdict.Skipped, Message: "Could not be asked."}
		}
		switch {
		case len(found) == 0:
		case q.Aside && run.end != done && c.toldElsewhere(found):
		case c.reported[id] || told && within(found, c.ends): // here it is the same once more
			if told = true; len(bad) == 0 && !c.goesOn(run) {
				return verdict.Check{Status: verdict.Skipped, Message: "Could not be asked: see above how your code ended."}
			}
		default:
			c.reported[id] = true
			bad = append(bad, found...)
		}
		if len(found) > 0 {
			lost = append(lost, id)
		}
		unfinished = unfinished || gapOf(run.notes) != ""
	}
	c.ends = append(c.ends, bad...)
	if len(bad) > 0 {
		bad = slices.Concat(bad, c.answeredWrong(q), c.errorsElsewhere(q))
		if !unfinished && len(lost) < len(q.Needs) {
			bad = append(bad, c.errorsWithout(q, lost)...)
		}
		return verdict.Check{Status: verdict.Failed, Findings: c.placed(verdict.Unique(bad))}
	}
	if unfinished {
		return c.soFar(q)
	}
	a := q.Judge(c.evidence())
	check := verdict.Check{Status: verdict.Passed, Message: a.Message, Findings: c.placed(a.Findings),
		Measurements: a.Measurements, Run: a.Run}
	switch {
	case slices.ContainsFunc(a.Findings, func(f verdict.Finding) bool { return f.Severity == verdict.Error }):
		check.Status, check.Message = verdict.Failed, ""
	case a.Skip != "":
		check.Status, check.Message = verdict.Skipped, a.Skip
	case q.Luck && c.unordered(q):
		check.Status = verdict.Skipped
		check.Message = "It came out right this time, but that is luck while memory is used as the errors in the other " +
			"checks say: mend those first."
	}
	return check
}

// badEnd is what is wrong with how a case ended, in whichever process; none where it ended well.
func (c *checking) badEnd(run caseRun) (found []verdict.Finding, err error) {
	for _, part := range run.parts() {
		status, f, ok, err := verdictOf(part, c.locate)
		if err != nil {
			return nil, err
		}
		if ok {
			c.worsen(status)
			found = append(found, f)
		}
	}
	return verdict.Unique(found), nil
}

// toldElsewhere reports whether another check has a case that ended in the same way.
func (c *checking) toldElsewhere(found []verdict.Finding) bool {
	for _, q := range c.Suite.Checks {
		if q.Aside || c.isTimed(q) {
			continue
		}
		for _, id := range q.Needs {
			run, ran := c.runs[id]
			if !ran {
				continue
			}
			if same, err := c.badEnd(run); err == nil && within(found, same) {
				return true
			}
		}
	}
	return false
}

// within reports whether each of some findings is told by others as well.
func within(found, others []verdict.Finding) bool {
	return !slices.ContainsFunc(found, func(f verdict.Finding) bool { return !f.SameIn(others) })
}

// goesOn reports whether a case that does not end well is evidence all the same: what was left of it was carried out.
func (c *checking) goesOn(run caseRun) bool {
	cs, ok := c.Suite.Case(run.notes.ID)
	broken := func(r caseRun) bool { return r.end != done && r.end != deviceLost }
	return ok && cs.Resumes && !slices.ContainsFunc(run.parts(), broken)
}

// unordered reports whether the order checker found errors of order in the cases of a check.
func (c *checking) unordered(q suite.Question) bool {
	return verdict.HasError(c.evidence().Of(verdict.OrderRules, q.Needs...))
}

// answeredWrong are the wrong answers that the code of a check gave before it panicked: what it panicked at may come
// of them.
func (c *checking) answeredWrong(q suite.Question) []verdict.Finding {
	panicked := func(id string) bool {
		return slices.ContainsFunc(c.runs[id].notes.Outcomes, func(o verdict.Outcome) bool {
			return o.Panic != "" && !o.Runaway
		})
	}
	for _, id := range q.Needs {
		if run, ran := c.runs[id]; !ran || run.end != done {
			return nil
		}
	}
	if c.isTimed(q) || !slices.ContainsFunc(q.Needs, panicked) {
		return nil
	}
	return slices.DeleteFunc(q.Judge(c.evidence()).Findings, func(f verdict.Finding) bool {
		return f.Severity != verdict.Error || !f.Look.Known()
	})
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
		for part := range run.notes.Parts() {
			for _, f := range part.Findings {
				if f.Severity == verdict.Error && !unwritten(f) {
					found = append(found, f)
				}
			}
		}
	}
	return found
}

// errorsWithout are what a check finds in its cases but for those that are lost.
func (c *checking) errorsWithout(q suite.Question, lost []string) []verdict.Finding {
	e := c.evidence()
	for _, id := range lost {
		e.Cases[id] = emptyRun(id).notes
	}
	return slices.DeleteFunc(q.Judge(e).Findings, func(f verdict.Finding) bool {
		return f.Severity != verdict.Error || unwritten(f)
	})
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
		if _, fault := c.badEnd(run); err == nil {
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
		if c.status != "" { // a bad end is one, whatever is still to be written
			r.Status = c.status
		}
	case c.status != "" && c.status != verdict.Failed:
		r.Status = c.status
	case slices.ContainsFunc(r.Checks, func(ch verdict.Check) bool { return ch.Status == verdict.Failed }),
		!c.everythingAsked():
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
	return slices.ContainsFunc(c.Suite.Cases, func(cs suite.Case) bool {
		return cs.Timed &&
			slices.Contains(q.Needs, cs.ID)
	})
}
