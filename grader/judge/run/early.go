package run

import (
	"context"

	"cudalab/grader/machine/child"
	"cudalab/grader/suite"
)

// early is a timed case that the runner was asked for before it was known whether it is to be: most code passes what
// comes before, and judging takes cudalab as long as the case takes the runner.
type early struct {
	id     string
	answer chan caseRun
}

// notNeeded is the reason for stopping a runner in the middle of a case that was asked for ahead.
const notNeeded child.Reason = "not needed"

// askAhead asks for a timed case, whose answer is waited for later: by ask, or in vain by dropEarly. Nothing else may
// be asked of the runner until then.
func (c *checking) askAhead(ctx context.Context, cs *suite.Case) {
	if p := c.process; c.Ahead && p != nil && c.Device != gpu {
		c.report.Output += c.printed() // what follows may be dropped
		e := &early{cs.ID, make(chan caseRun, 1)}
		request := c.request(cs, 0)
		go func() { e.answer <- p.ask(ctx, cs, request) }()
		c.early = e
	}
}

// answered is what came of a case that was asked for ahead.
func (c *checking) answered(cs *suite.Case) (run caseRun, asked bool) {
	if c.early == nil || c.early.id != cs.ID {
		return caseRun{}, false
	}
	run = <-c.early.answer
	c.early = nil
	return run, true
}

// dropEarly stops the runner where it is at a case that is not needed after all, and forgets what was printed
// meanwhile.
func (c *checking) dropEarly() {
	if c.early == nil {
		return
	}
	c.process.child.Quit(notNeeded)
	<-c.early.answer
	c.early = nil
	c.end()
}
