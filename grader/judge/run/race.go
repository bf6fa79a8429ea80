package run

import (
	"context"
	"fmt"

	"cudalab/grader/suite/verdict"
)

// Race runs the suite's timed cases alone and returns what they noted, and on which device. Nothing is judged. An error is
// one that Result.Err could be, or a case that the code under test has not brought to a good end.
func Race(ctx context.Context, q Request) ([]*verdict.CaseNotes, verdict.Device, error) {
	c := &checking{Request: q, locate: locator{pkg: q.Package, name: q.Name}, runs: map[string]caseRun{}}
	if err := c.begin(ctx); err != nil {
		return nil, verdict.Device{}, err
	}
	for i := range q.Suite.Cases {
		cs := &q.Suite.Cases[i]
		if !cs.Timed {
			continue
		}
		run, err := c.timed(ctx, cs, 0)
		if err == nil && run.end != done {
			err = fmt.Errorf("the timed case %s of %s did not come to a good end", cs.ID, q.Suite.Exercise)
		}
		if err != nil {
			return nil, verdict.Device{}, err
		}
	}
	return c.notes(), c.report.Device, nil
}
