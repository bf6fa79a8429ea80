package suite

import (
	"slices"

	"cudalab/grader/suite/verdict"
)

// What runs timed, or for the sake of another question, has to be right in every way in which the calls are that a part
// asks about. So once nothing is wrong with these, the same parts are asked about the others.

// audit is what checks that have passed are asked about once more, in place of their own calls: others that have to be
// right in the same way.
type audit struct {
	caseID  string
	made    any              // []Made of the lesson's workloads
	records []verdict.Window // of the calls; nil: all of the case
	// begun are calls in which something was made to fail, as []Made, up to there.
	begun any
}

// Own reports whether the check is asked about its own cases, and not about other calls.
func (e *Evidence) Own() bool { return e.audit == nil }

// about is the evidence with which the checks are asked about other calls.
func (e *Evidence) about(a audit) *Evidence {
	with := *e
	with.audit = &a
	return &with
}

// covers reports whether a finding of its case is about the calls.
func (a *audit) covers(f *verdict.Finding) bool {
	return a == nil || a.records == nil || slices.ContainsFunc(a.records, func(w verdict.Window) bool {
		return w.From <= f.Record && f.Record < w.To
	})
}

// key tells apart what Once keeps of a case for a check, and for the same check asked about other calls.
func (a *audit) key(name string) string {
	if a == nil {
		return name
	}
	return name + " about " + a.caseID
}

// casesOf are the cases that a check asks about, or that of the audit in their place.
func (e *Evidence) casesOf(cases []string) []string {
	if e.audit != nil {
		return []string{e.audit.caseID}
	}
	return cases
}

// Further is calls that have to be right in every way in which the good ones are, though they are made for another
// question. About is the evidence with which a part is asked about them, nil where they did not come to a good end,
// which is that question's; Where says what they are, "That was the call behind refused ones."
type Further struct {
	About func(*Evidence) *Evidence
	Where string
}

// only is the evidence about some of a case's calls, those that came to a good end; nil where none did.
func only[W Workload](e *Evidence, caseID string, all []Made[W], numbers ...int) *Evidence {
	var made []Made[W]
	a := audit{caseID: caseID}
	for _, i := range numbers {
		if i < 0 || i >= len(all) || !all[i].Outcome.OK() {
			continue
		}
		w := verdict.Window{From: all[i].Set, To: len(all[i].Notes.Trace.Records)}
		if i+1 < len(all) {
			w.To = all[i+1].Set
		}
		made, a.records = append(made, all[i]), append(a.records, w)
	}
	if a.made = made; made == nil {
		return nil
	}
	return e.about(a)
}

// further are the calls that the parts are asked about beside their own.
func (g *Good[Code, W]) further() []Further {
	all := slices.Clip(g.Further)
	for _, far := range g.Far {
		about := func(e *Evidence) *Evidence {
			if e.Cases[far.ID] == nil {
				return nil
			}
			return e.about(audit{caseID: far.ID, made: far.Made(e)})
		}
		all = append(all, Further{About: about, Where: "With everyday numbers it went well."})
	}
	return all
}

// auditing is the part asked together with the others about what was audited in its timed case: what runs under the
// clock has to be right in every way in which the rest is.
func (l Lesson[Code]) auditing(timed Part[Code]) func(*Evidence) Answer {
	return func(e *Evidence) Answer {
		about := timed.audited(e)
		for _, other := range l.Parts {
			if !slices.ContainsFunc(other.Cases, func(t *Trial[Code]) bool { return slices.Contains(timed.like, t) }) {
				continue
			}
			if !other.ran(e) || verdict.HasError(other.Judge(e).Findings) {
				continue // which its own check tells
			}
			if found := other.errors(about, timedAlone); len(found) > 0 {
				return Answer{Findings: found}
			}
		}
		return timed.Judge(e)
	}
}

// ran reports whether all cases of the part were carried out: who asks for the times alone leaves the others out.
func (p Part[Code]) ran(e *Evidence) bool {
	return !slices.ContainsFunc(p.Cases, func(t *Trial[Code]) bool { return e.Cases[t.ID] == nil })
}

// Deeper has the part fail for what more finds in further trials, where all parts have nothing else to say: of a
// program in which more is wrong that would only tell it again.
func (p Part[Code]) Deeper(more func(*Evidence) []verdict.Finding, further ...*Trial[Code]) Part[Code] {
	before := p.deeper
	p = p.Needing(further...)
	p.deeper = func(e *Evidence) []verdict.Finding {
		if before != nil {
			if found := before(e); verdict.HasError(found) {
				return found
			}
		}
		return more(e)
	}
	return p
}

// goingFurther is the part asked about further calls as well, once no part has anything to say of its own.
func (l Lesson[Code]) goingFurther(p Part[Code]) func(*Evidence) Answer {
	return func(e *Evidence) Answer {
		a := p.Judge(e)
		if verdict.HasError(a.Findings) || p.unfinished(e) || !l.wellNearby(e) {
			return a
		}
		if p.deeper != nil {
			if found := p.deeper(e); verdict.HasError(found) {
				return Answer{Findings: found}
			}
		}
		if a.Skip != "" {
			return a
		}
		if p.GivesBack {
			if found := l.leftElsewhere(e, p); len(found) > 0 {
				return Answer{Findings: found}
			}
		}
		for _, f := range p.further {
			about := f.About(e)
			if about == nil {
				continue
			}
			if found := p.errors(about, " "+f.Where); len(found) > 0 {
				return Answer{Findings: found}
			}
		}
		return a
	}
}

// leftElsewhere finds what was left behind in untimed cases that the part does not look at itself: whatever a call is
// made for, what it makes it has to give back.
func (l Lesson[Code]) leftElsewhere(e *Evidence, p Part[Code]) (found []verdict.Finding) {
	for _, t := range l.trials() {
		if t.Timed || slices.Contains(p.Cases, t) || e.Cases[t.ID] == nil {
			continue
		}
		for _, f := range e.Of(verdict.EndRules, t.ID) {
			if f.Severity == verdict.Error && f.Gap == "" {
				f.Message += " In other calls all was given back."
				found = append(found, f)
			}
		}
	}
	return verdict.Unique(found)
}

// unfinished reports whether a case of the part came to a gap.
func (p Part[Code]) unfinished(e *Evidence) bool {
	return slices.ContainsFunc(p.Cases, func(t *Trial[Code]) bool {
		c := e.Cases[t.ID]
		return c != nil && slices.ContainsFunc(c.Outcomes, func(o verdict.Outcome) bool { return o.Gap != "" })
	})
}

// wellNearby reports whether no part but those about time finds an error in its own calls. Where the exercise has
// several functions, those that are still to be written say nothing of the others; where it has one, its gaps do.
func (l Lesson[Code]) wellNearby(e *Evidence) bool {
	notes := e.Cases[l.Parts[0].Cases[0].ID]
	return notes != nil && verdict.Once(notes, "well nearby", func() bool {
		for _, p := range l.Parts {
			timed := slices.ContainsFunc(p.Cases, func(t *Trial[Code]) bool { return t.Timed })
			if timed || len(l.Functions) > 1 && p.unfinished(e) {
				continue
			}
			for _, t := range p.Cases {
				if c := e.Cases[t.ID]; c == nil || slices.ContainsFunc(c.Outcomes, verdict.Outcome.CutShort) {
					return false
				}
			}
			if verdict.HasError(p.Judge(e).Findings) {
				return false
			}
		}
		return true
	})
}

// errors are what the part finds wrong, with words about where.
func (p Part[Code]) errors(e *Evidence, where string) []verdict.Finding {
	found := slices.DeleteFunc(p.Judge(e).Findings, func(f verdict.Finding) bool { return f.Severity != verdict.Error })
	for i := range found {
		found[i].Message += where
	}
	return found
}
