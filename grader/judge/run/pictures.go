package run

import (
	"context"
	"slices"

	"cudalab/grader/order"
	"cudalab/grader/suite/verdict"
)

// Drawn are the cases to make pictures of: as they ran for that, or where they did not as they were judged.
func (r *Result) Drawn() []*verdict.CaseNotes {
	var all []*verdict.CaseNotes
	for _, n := range r.Cases {
		if i := slices.IndexFunc(r.Pictures, func(p *verdict.CaseNotes) bool { return p.ID == n.ID }); i >= 0 {
			n = r.Pictures[i]
		}
		if len(n.Trace.Records) > 0 {
			all = append(all, n)
		}
	}
	return all
}

// Timed are the cases that have samples.
func (r *Result) Timed() []*verdict.CaseNotes {
	return slices.DeleteFunc(slices.Clone(r.Cases), func(n *verdict.CaseNotes) bool { return len(n.Samples) == 0 })
}

// notes are what the cases left behind, in the suite's order.
func (c *checking) notes() []*verdict.CaseNotes {
	var all []*verdict.CaseNotes
	for _, run := range c.inOrder() {
		all = append(all, run.notes)
	}
	return all
}

// pictures runs the untimed cases once more, where that is asked for, with the times of their operations. A case that
// did not end well is left out, and so is one that does not this time: nothing is judged by them.
func (c *checking) pictures(ctx context.Context) ([]*verdict.CaseNotes, error) {
	release, err := c.share(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if !c.Pictures || c.gap != "" {
		return nil, nil
	}
	var all []*verdict.CaseNotes
	for i := range c.Suite.Cases {
		cs := &c.Suite.Cases[i]
		if first, ran := c.runs[cs.ID]; cs.Timed || !ran || first.end != done {
			continue
		}
		request := c.request(cs, 0)
		request.Given, request.Times = false, true
		run, err := c.ask(ctx, cs, request)
		switch {
		case err != nil:
			return nil, err
		case run.end == cancelled:
			return nil, cancelledBy(ctx)
		case run.end == done:
			run.notes.Findings = c.findings(order.Check(run.notes.Trace), run.notes.Trace)
			all = append(all, run.notes)
		}
	}
	return all, nil
}
