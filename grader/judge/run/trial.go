package run

import (
	"context"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
)

// Trials are for code that is many programs in one: each is asked for by its number, and none is reported.
type Trials struct {
	*Runner
	Code
	Steps  int       // that a program may make in a case
	Beside *Evidence // the notes of the cases that a program is not asked for
	Anew   bool      // and what is found in them is looked for each time, since it may rest on all cases
}

// Evidence is what the untimed cases of a suite have noted.
type Evidence struct{ runs map[string]caseRun }

// of is what a case has noted.
func (e *Evidence) of(caseID string) (caseRun, bool) {
	if e == nil {
		return caseRun{}, false
	}
	run, ok := e.runs[caseID]
	return run, ok
}

// few is how many CUDA calls a program may make in any case; behind that, some times what the case has noted beside it.
const few = 2000

// Trial is what came of a program.
type Trial struct {
	Cases  []*verdict.CaseNotes // that were asked for
	Checks []verdict.Check      // that were judged by them
	Waited bool                 // in vain, until it was stopped
	gap    bool                 // some case came to a gap: no check passes then
}

// Passed reports whether all checks have, as far as they can.
func (t *Trial) Passed() bool {
	return !slices.ContainsFunc(t.Checks, func(c verdict.Check) bool { return !Good(c, t.gap) })
}

// Good reports whether a check has passed, or nothing was found wrong up to the gap that is left.
func Good(c verdict.Check, gap bool) bool {
	return c.Status == verdict.Passed || gap && c.Status == verdict.Skipped && !verdict.HasError(c.Findings)
}

// All runs the untimed cases of a program, and judges each check as soon as its cases have been. It ends at a check
// that is not good enough.
func (t *Trials) All(ctx context.Context, program int, enough func(verdict.Check) bool) (good bool, err error) {
	c := newChecking(t.Runner, t.Code)
	judged := map[string]bool{}
	for i := range t.Suite.Cases {
		cs := &t.Suite.Cases[i]
		if cs.Timed {
			continue
		}
		run, err := t.one(ctx, c, cs, program)
		if err != nil || run.end != done {
			return false, err
		}
		for _, q := range t.Suite.Checks {
			ready := !slices.ContainsFunc(q.Needs, func(id string) bool { _, ran := c.runs[id]; return !ran })
			if judged[q.ID] || !ready {
				continue
			}
			judged[q.ID] = true
			check := c.answer(q)
			check.ID = q.ID
			if !enough(check) {
				return false, nil
			}
		}
	}
	return true, nil
}

// Cases runs cases of a program, and judges a check by them and by what there is beside them.
func (t *Trials) Cases(ctx context.Context, program int, cases []string, check string) (Trial, error) {
	made, _, err := t.try(ctx, program, cases, []string{check})
	return made, err
}

// Evidence runs cases of a program for what they note, and for what a check finds in that.
func (t *Trials) Evidence(ctx context.Context, program int, cases []string, check string) (*Evidence, error) {
	_, noted, err := t.try(ctx, program, cases, []string{check})
	return noted, err
}

func (t *Trials) try(ctx context.Context, program int, cases, checks []string) (Trial, *Evidence, error) {
	c := newChecking(t.Runner, t.Code)
	if t.Beside != nil {
		for id, run := range t.Beside.runs {
			run.notes = run.notes.Copy(!t.Anew)
			c.runs[id] = run
		}
	}
	var made Trial
	for _, id := range cases {
		cs, _ := t.Suite.Case(id)
		run, err := t.one(ctx, c, cs, program)
		if err != nil {
			return made, nil, err
		}
		made.Cases = append(made.Cases, run.notes)
		made.Waited = made.Waited || run.end == timedOut
		if gapOf(run.notes) != "" {
			c.gap = gapOf(run.notes)
			made.gap = true
		}
		if run.end != done && len(cases) > 1 {
			break // it is not going to pass
		}
	}
	for _, q := range t.Suite.Checks {
		if slices.Contains(checks, q.ID) {
			check := c.answer(q)
			check.ID, check.Name = q.ID, q.Name
			made.Checks = append(made.Checks, check)
		}
	}
	return made, &Evidence{c.runs}, nil
}

// one runs a case of a program. What is printed nobody reads.
func (t *Trials) one(ctx context.Context, c *checking, cs *suite.Case, program int) (caseRun, error) {
	request := c.request(cs, 0)
	request.Program, request.Steps = program, t.Steps
	if beside, ok := t.Beside.of(cs.ID); ok {
		request.Calls = few + 4*len(beside.notes.Trace.Records)
	}
	run, err := c.ask(ctx, cs, request)
	if err == nil {
		err = c.keep(ctx, run)
	}
	return run, err
}
