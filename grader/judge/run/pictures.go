package run

import (
	"context"
	"slices"
	"strings"

	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// Drawn are the cases to make pictures of: as they ran for that, or where they did not as they were judged. Those that
// are timed are Races.
func (r *Result) Drawn() []*verdict.CaseNotes {
	var all []*verdict.CaseNotes
	for _, n := range r.Cases {
		if len(n.Samples) > 0 {
			continue
		}
		if i := slices.IndexFunc(r.Pictures, func(p *verdict.CaseNotes) bool { return p.ID == n.ID }); i >= 0 {
			n = r.Pictures[i]
		}
		if len(n.Trace.Records) > 0 {
			all = append(all, n)
		}
	}
	return all
}

// Races are the cases in which each contender ran once for a picture.
func (r *Result) Races() []*verdict.CaseNotes {
	return slices.DeleteFunc(slices.Clone(r.Pictures), func(n *verdict.CaseNotes) bool {
		return !slices.ContainsFunc(n.Trace.Records, func(r trace.Record) bool {
			return r.Op == trace.OpMark && strings.HasPrefix(r.Label, verdict.MarkBegan)
		})
	})
}

// onlyWaits reports whether the host waits where it should not, and every case came to its end: nothing was timed then,
// but the picture of why waiting is slow is of what would have been.
func (c *checking) onlyWaits() bool {
	for _, run := range c.runs {
		if run.end != done {
			return false
		}
	}
	return slices.ContainsFunc(c.report.Checks, func(ch verdict.Check) bool {
		return slices.ContainsFunc(ch.Findings, func(f verdict.Finding) bool { return f.Rule == "host-wait" })
	})
}

// raced reports whether a case holds the student's code against the solution.
func raced(n *verdict.CaseNotes) bool {
	for series := range n.Samples {
		if series == verdict.Yours || strings.HasSuffix(series, ": "+verdict.Yours) {
			return true
		}
	}
	return false
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

// pictures runs the cases once more, where that is asked for, with the times of their operations; of a timed one only
// the race, each contender once. A case that did not end well is left out, and so is one that does not this time:
// nothing is judged by them.
func (c *checking) pictures(ctx context.Context) ([]*verdict.CaseNotes, error) {
	release, err := c.share(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if !c.Pictures || c.gap != "" {
		return nil, nil
	}
	waits := c.onlyWaits()
	var all []*verdict.CaseNotes
	for i := range c.Suite.Cases {
		cs := &c.Suite.Cases[i]
		first, ran := c.runs[cs.ID]
		late := cs.Timed && !ran && waits
		if !late && (!ran || first.end != done || cs.Timed && !raced(first.notes)) {
			continue
		}
		request := c.request(cs, 0)
		request.Given, request.Times = false, true
		output, broken := c.report.Output, c.broken
		run, err := c.ask(ctx, cs, request)
		if late { // how it ends is nobody's business
			c.report.Output, c.broken = output, broken
		}
		switch {
		case err != nil:
			return nil, err
		case run.end == cancelled:
			return nil, cancelledBy(ctx)
		case run.end == done:
			if !cs.Timed {
				run.notes.Findings = c.ordered(run.notes)
			}
			all = append(all, run.notes)
		}
	}
	return all, nil
}
