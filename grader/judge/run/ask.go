package run

import (
	"context"
	"errors"
	"fmt"

	"cudalab/grader/judge/wire"
	"cudalab/grader/suite"
)

// share waits until other checks may run on the same GPU, but nothing is timed there.
func (c *checking) share(ctx context.Context) (release func(), err error) {
	if c.Turns.Share == nil || c.Device == "sim" {
		return func() {}, nil
	}
	return waited(c.Turns.Share(ctx))
}

func waited(release func(), err error) (func(), error) {
	if err != nil {
		return nil, fmt.Errorf("waiting for the GPU: %w", err)
	}
	return release, nil
}

// ask asks for one case, in a fresh process if the last one is gone.
func (c *checking) ask(ctx context.Context, cs *suite.Case, request wire.Request) (caseRun, error) {
	run, asked := c.answered(cs)
	if !asked {
		if err := c.begun(c.begin(ctx)); err != nil {
			run, ok := startErrorRun(err, cs.ID, c.Starts, c.locate)
			if !ok {
				return caseRun{}, err
			}
			return run, nil
		}
		run = c.process.ask(ctx, cs, request)
	}
	run.blamed = c.Blamed
	if run.end == done {
		return run, nil
	}
	c.report.Output += c.end()
	if run.end == cancelled {
		return run, nil
	}
	c.broken = true
	if c.Device != gpu {
		return run, nil
	}
	// Where the GPU itself was lost nobody can say whose doing that was: only a device that comes back bears witness.
	return run, c.begun(c.begin(ctx))
}

const gpu = "gpu"

// begun notes what came of seeing to it that there is a process, and with it a device.
func (c *checking) begun(err error) error {
	if missing := (*NoDevice)(nil); err != nil && !errors.As(err, &missing) {
		c.broken = !errors.Is(err, errCancelled)
	}
	if c.device.Kind != "" {
		c.report.Device = c.device
	}
	return err
}

// keep keeps what came of a case that was asked for. Its error is one that ends the check.
func (c *checking) keep(ctx context.Context, run caseRun) error {
	c.runs[run.notes.ID] = run
	return c.see(ctx, run)
}

// see has the order checker look at what came of a case. Its error is one that ends the check.
func (c *checking) see(ctx context.Context, run caseRun) error {
	if !c.inTurn() {
		forgive(run.notes)
	}
	run.notes.Findings = c.ordered(run.notes)
	run.forgiveLeaks()
	c.mayFree(run.notes)
	switch run.end {
	case cancelled:
		return cancelledBy(ctx)
	case starved:
		_, _, _, err := verdictOf(run, c.locate)
		return err
	}
	return nil
}
