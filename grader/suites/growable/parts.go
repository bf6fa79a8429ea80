package growable

import (
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
)

// trials are scripts by which parts are judged.
type trials []*trial

// ids are the trials' IDs.
func (ts trials) ids() (ids []string) {
	for _, t := range ts {
		ids = append(ids, t.ID)
	}
	return ids
}

func (ts trials) cases() (all []*suite.Trial[Make]) {
	for _, t := range ts {
		all = append(all, &t.Trial)
	}
	return all
}

// replays are the scripts of all the trials as they went.
func (ts trials) replays(e *suite.Evidence) (all []*replay) {
	for _, t := range ts {
		all = append(all, t.Runs(e)...)
	}
	return all
}

// unseen is why a part cannot answer where a script was not carried out to its end.
const unseen = "A vector did something else than it was asked to, which another check tells, so this could not be " +
	"seen in full."

// part asks for what is wrong with the answers that are the part's to judge, and for what shown finds in each script,
// which may be nil. The part ofContents tells of the vectors that New should have made and did not.
func (ts trials) part(id, name, pass string, shown func(*suite.Evidence, *replay) []verdict.Finding) suite.Part[Make] {
	judge := func(e *suite.Evidence) suite.Answer {
		a, seen, refused := suite.Answer{Message: pass}, true, 0
		all, refusing := ts.replays(e), refusing(e)
		for _, r := range all {
			notMade := r.notMade()
			if len(notMade) > 0 || r.wrong != nil && r.wrong.finding.Refused {
				refused++
			} else {
				seen = seen && r.complete()
			}
			if id == ofContents {
				a.Findings = append(a.Findings, notMade...)
			}
			for _, t := range r.told(refusing) {
				if t.part == id {
					a.Findings = append(a.Findings, t.finding)
				}
			}
			if shown != nil && r.made != nil {
				a.Findings = append(a.Findings, shown(e, r)...)
			}
		}
		a.Findings = verdict.Unique(a.Findings)
		if len(a.Findings) == 0 && (!seen || !suite.Enough(len(all)-refused, len(all))) {
			a.Skip = unseen
		}
		if id == ofContents {
			a.Run = longest(all)
		}
		return a
	}
	return suite.Part[Make]{Cases: ts.cases(), Question: suite.Question{ID: id, Name: name, Judge: judge}}
}

// told is what is wrong with answers. Of methods that are refusing it is not told that they refuse with the same error
// what they should refuse with another.
func (r *replay) told(refusing map[string]bool) (all []told) {
	for _, t := range r.refusals {
		if t.finding.Refused || !refusing[t.finding.Function] {
			all = append(all, t)
		}
	}
	if r.wrong != nil {
		all = append(all, *r.wrong)
	}
	return all
}

// refusing are the methods that refuse what they should do.
func refusing(e *suite.Evidence) map[string]bool {
	methods := map[string]bool{}
	for _, r := range everywhere.replays(e) {
		for _, t := range r.refusals {
			methods[t.finding.Function] = methods[t.finding.Function] || t.finding.Refused
		}
	}
	return methods
}

// notMade finds a New that should have made a vector and did not.
func (r *replay) notMade() []verdict.Finding {
	if r.made == nil || r.made.Err == sequence.Gap || r.outcome.OK() || r.outcome.Panic != "" {
		return nil
	}
	if r.outcome.Err == errNothing.Error() {
		return []verdict.Finding{{Rule: "no-vector", Severity: verdict.Error, Record: -1, Function: "New",
			Message: r.layout.String() + " should have answered a vector, but it answered nil, and no error.",
			Why:     "Who is told of no error goes on with the vector, and a nil pointer has no fields: the next call panics.",
			Fix:     "Return the vector that New has made, and nil as its error."}}
	}
	return []verdict.Finding{r.e.AtError(suite.UnexpectedError("New", r.outcome), r.notes, r.made.begin, r.made.end)}
}

// inAll finds in trials what the part that asks for it does not look for there: vectors that were not made, answers
// that were wrong, and what looks find.
func (ts trials) inAll(
	looks ...func(*suite.Evidence, *replay) []verdict.Finding,
) func(*suite.Evidence) []verdict.Finding {
	return func(e *suite.Evidence) (found []verdict.Finding) {
		for _, r := range ts.replays(e) {
			found = append(found, r.notMade()...)
			for _, t := range r.told(nil) {
				found = append(found, t.finding)
			}
			for _, look := range looks {
				if r.made != nil {
					found = append(found, look(e, r)...)
				}
			}
		}
		for _, id := range ts.ids() {
			found = append(found, needlessIn(e, e.Cases[id])...)
		}
		return verdict.Unique(found)
	}
}

// rollback is the part about what CUDA refuses.
func rollback() suite.Part[Make] {
	p := append(slices.Clip(refused), forGood).part(ofRollback,
		"makes do with less when the device is nearly full, and an Append that fails changes nothing",
		"Where there was no room for a generous growth, a small one was made; an Append that failed left everything as "+
			"it was.",
		func(_ *suite.Evidence, r *replay) []verdict.Finding {
			return slices.Concat(r.keptByFailure(), r.misstated(true))
		})
	p.Cases = append(p.Cases, faults)
	p = p.Deeper(append(slices.Clip(refused), forGood).inAll()).Deeper(func(e *suite.Evidence) []verdict.Finding {
		return needlessIn(e, e.Cases[faults.ID])
	})
	judge := p.Judge
	p.Judge = func(e *suite.Evidence) suite.Answer {
		a := judge(e)
		if a.Findings = verdict.Unique(append(a.Findings, changedByFaults(e)...)); verdict.HasError(a.Findings) {
			a.Skip = ""
		}
		return a
	}
	return p
}

// keptByFailure finds memory that an Append held on to, or gave up, although it answered an error.
func (r *replay) keptByFailure() []verdict.Finding {
	held := r.made.held
	for i := range r.steps[:r.right] {
		s := &r.steps[i]
		before := held
		held = s.held
		if s.ok() || s.held == before || len(s.fail) > 1 { // who cannot go back has to keep what there is
			continue
		}
		return r.finding(s, r.last(s, createCall), verdict.Finding{Rule: "changed-by-error",
			Message: r.doing(s) + " should have failed and kept the " + suite.Bytes(uint64(before)) +
				" of memory that it had, but has " +
				suite.Bytes(uint64(s.held)) + " now.",
			Why: "Memory that an Append leaves behind when it fails is missing in every later one.",
			Fix: "Give back all that the growth has made before returning the error: unmap what was mapped, release what was " +
				"created."})
	}
	return nil
}
