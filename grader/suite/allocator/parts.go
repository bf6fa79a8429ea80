package allocator

import (
	"cmp"
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// Good are trials that a right allocator completes, and by which most parts are judged.
type Good[Code any, L fmt.Stringer] []*Steps[Code, L]

// Trials are the trials, for a Part; more may follow.
func (g Good[Code, L]) Trials(more ...*suite.Trial[Code]) []*suite.Trial[Code] {
	var all []*suite.Trial[Code]
	for _, s := range g {
		all = append(all, &s.Trial.Trial)
	}
	return append(all, more...)
}

// IDs are the trials' IDs.
func (g Good[Code, L]) IDs() (ids []string) {
	for _, s := range g {
		ids = append(ids, s.ID)
	}
	return ids
}

// Runs are the sequences of all the trials.
func (g Good[Code, L]) Runs(e *suite.Evidence) (all []Run[L]) {
	for _, s := range g {
		all = append(all, s.Runs(e)...)
	}
	return all
}

// Seen reports whether every sequence could be seen to its end, as far as a part asks. Allocators that were refused do
// not count, as long as enough were made: who tells of them says so, and the others can be asked.
func (g Good[Code, L]) Seen(e *suite.Evidence, part string) bool {
	made, runs := 0, g.Runs(e)
	for _, r := range runs {
		switch {
		case r.Record == nil:
			continue
		case len(r.Record.Answers) < len(r.Ops) || r.Model.Blind(part):
			return false
		}
		made++
	}
	return suite.Enough(made, len(runs))
}

// Judge answers what a part asks: by the faults that the model finds, the one that is told in the fewest words first,
// and by what shown finds in each sequence, which may be nil. Where that is nothing, but not all could be seen, the
// question could not be asked.
func (g Good[Code, L]) Judge(e *suite.Evidence, part, pass string, shown func(*Run[L]) []verdict.Finding) suite.Answer {
	a := suite.Answer{Message: pass}
	runs := g.Runs(e)
	for _, r := range runs {
		for _, f := range Failures(r.Notes, r.Name, r.Ops, r.Fresh, part) {
			a.Findings = append(a.Findings, f.Finding(e, r.Layout.String()))
		}
	}
	slices.SortStableFunc(a.Findings, func(a, b verdict.Finding) int {
		return cmp.Compare(len(a.Message),
			len(b.Message))
	})
	for i := range runs {
		if shown != nil {
			a.Findings = append(a.Findings, shown(&runs[i])...)
		}
	}
	a.Findings = verdict.Unique(a.Findings)
	if len(a.Findings) == 0 && !g.Seen(e, part) {
		a.Skip = unseen
	}
	return a
}

// unseen is why a part cannot answer where a sequence could not be seen to its end.
const unseen = "What another check found is in the way, so this could not be seen in full."

// Part asks for what the model finds, and for what shown finds in each sequence, which may be nil; see Judge.
func (g Good[Code, L]) Part(id, name, pass string, shown func(*suite.Evidence,
	*Run[L]) []verdict.Finding) suite.Part[Code] {
	return suite.Part[Code]{Cases: g.Trials(), Question: suite.Question{ID: id, Name: name,
		Judge: func(e *suite.Evidence) suite.Answer {
			return g.Judge(e, id, pass, func(r *Run[L]) []verdict.Finding {
				if shown == nil {
					return nil
				}
				return shown(e, r)
			})
		}}}
}

// Telling has a part tell of the allocators that New should have made and did not, which other parts leave out, and
// show the longest of the sequences.
func (g Good[Code, L]) Telling(p suite.Part[Code]) suite.Part[Code] {
	judge := p.Judge
	p.Judge = func(e *suite.Evidence) suite.Answer {
		a := judge(e)
		made := g.made(e)
		for _, id := range g.IDs() {
			for i, o := range e.Cases[id].Outcomes {
				if made[o.Label] && !o.OK() {
					a.Findings = append(a.Findings, g[0].lab.notMade(e, e.Cases[id], i))
				}
			}
		}
		for _, r := range g.Runs(e) {
			if f := g[0].lab.tooLittle(e, &r); f != nil {
				a.Findings = append(a.Findings, *f)
			}
		}
		a.Findings = verdict.Unique(a.Findings)
		a.Run = g.longest(e)
		return a
	}
	return p
}

// made are the labels of the Calls that made the allocators.
func (g Good[Code, L]) made(e *suite.Evidence) map[string]bool {
	made := map[string]bool{}
	for _, r := range g.Runs(e) {
		made[r.Layout.String()] = true
	}
	return made
}

// CallsBetween finds the CUDA calls that an allocator has made neither in New nor in Close. memory is what New should
// get, "all memory", and onHost what the host does in place of calling CUDA, "a list".
func (g Good[Code, L]) CallsBetween(e *suite.Evidence, memory, onHost string) []verdict.Finding {
	var found []verdict.Finding
	made := g.made(e)
	for _, id := range g.IDs() {
		notes := e.Cases[id]
		for at, i := range notes.CallsOfRecords() {
			r := &notes.Trace.Records[at]
			if i < 0 || i >= len(notes.Outcomes) || r.Phase == trace.Leave {
				continue
			}
			doing := notes.Outcomes[i].Label
			if made[doing] || doing == phrase(Close) && !inStats(e.Place(notes.Trace.SiteOf(r))) {
				continue
			}
			found = append(found, e.At(verdict.Finding{
				Rule: "cuda-call", Severity: verdict.Error, Record: at,
				Message: fmt.Sprintf("Asked to %s, the allocator should not have called CUDA, but it called %s.", doing,
					suite.CallName(r)),
				Why: fmt.Sprintf("That is what the allocator is for: a cudaMalloc takes the driver microseconds, and a cudaFree "+
					"waits for the whole device, where %s on the host takes nanoseconds.", onHost),
				Fix: fmt.Sprintf("Get %s in New, free it in Close, and keep account of the blocks on the host.", memory),
			}, notes.Trace.SiteOf(r)))
		}
	}
	return verdict.Unique(found)
}
