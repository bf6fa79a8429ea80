package run

import (
	"context"
	"fmt"

	"cudalab/grader/suite/verdict"
)

// Race runs the suite's timed cases alone and returns what they noted, and on which device. Nothing is judged. An error
// is one that Result.Err could be, or a case that the code under test has not brought to a good end.
func (r *Runner) Race(ctx context.Context, code Code) ([]*verdict.CaseNotes, verdict.Device, error) {
	c := newChecking(r, code)
	if err := c.begun(c.begin(ctx)); err != nil {
		return nil, verdict.Device{}, err
	}
	for i := range c.Suite.Cases {
		cs := &c.Suite.Cases[i]
		if !cs.Timed {
			continue
		}
		run, err := c.timed(ctx, cs, 0)
		if err == nil && run.end != done {
			err = fmt.Errorf("the timed case %s of %s did not come to a good end", cs.ID, c.Suite.Exercise)
		}
		if err != nil {
			return nil, verdict.Device{}, err
		}
	}
	return c.notes(), c.report.Device, nil
}
