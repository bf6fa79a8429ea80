package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"cudalab/grader/judge/visible"
	"cudalab/grader/judge/wire"
	"cudalab/grader/machine/child"
	"cudalab/grader/order"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// caseRun is what became of one case.
type caseRun struct {
	notes      *verdict.CaseNotes
	end        ending
	notGreeted bool         // the process ended before it could be asked
	fault      wire.Fault   // where end is faulted or deviceLost
	child      child.Result // where end is died, timedOut or outOfMemory
	crash      []byte       // what Go said then
	blamed     bool         // what nothing explains is the code's doing
	then       []caseRun    // the case gone on with, in fresh processes
}

// mayGoOn reports whether it was a call that ended the case, and what came before it is known.
func (run *caseRun) mayGoOn() bool {
	n := len(run.notes.Outcomes)
	if n == 0 || run.end != done {
		return n > 0 && run.end == deviceLost
	}
	last := &run.notes.Outcomes[n-1]
	return last.Panic != "" && !last.Runaway
}

// forgiveLeaks takes what is left by a call that had no chance to give it back for what comes of how it ended.
func (run *caseRun) forgiveLeaks() {
	if !run.mayGoOn() {
		return
	}
	from, _ := run.notes.Window(len(run.notes.Windows()) - 1)
	run.notes.Findings = slices.DeleteFunc(run.notes.Findings, func(f verdict.Finding) bool {
		return f.Rule == order.Leak && f.Record >= from
	})
}

// parts are the case in each of its processes.
func (run *caseRun) parts() []caseRun { return append([]caseRun{*run}, run.then...) }

type ending int

const (
	done        ending = iota
	faulted            // a call of the grader's own failed
	deviceLost         // the device became unusable
	died               // the process ended in the middle
	timedOut           // and was stopped
	starved            // the machine had no time for it, and it was stopped
	outOfMemory        // of the host, and was stopped
	nonsense           // what came over the pipe made no sense
	cancelled          // somebody stopped cudalab
)

// request asks for a case that is to be judged.
func (c *checking) request(cs *suite.Case, attempt int) wire.Request {
	r := wire.Request{Exercise: wire.Numbered(c.Suite.Exercise, c.Number), Case: cs.ID, Attempt: attempt, Seed: c.Seed,
		Given: c.Given}
	if c.Translation != nil {
		r.Translation = c.Translation.PTX
	}
	return r
}

// ask has the runner run one case. After any end but done the process is of no further use.
func (p *process) ask(ctx context.Context, c *suite.Case, request wire.Request) caseRun {
	run := emptyRun(c.ID)
	if err := p.out.Send(request); err != nil {
		run.end = died
		p.ended(&run)
		return run
	}
	own := caseTimeout(p.hello.Device.Kind)
	if request.Steps > 0 {
		own = min(own, trialTimeout)
	}
	defer p.child.Allow(child.Allowance{Own: own, Wall: patience})()
	for {
		select {
		case said, open := <-p.notes:
			if !open {
				return p.broken(run)
			}
			run.makeRoom(said)
			for _, m := range said {
				if run.take(m) {
					return run
				}
			}
		case <-ctx.Done():
			p.close()
			run.end = cancelled
			p.ended(&run)
			return run
		}
	}
}

// broken finds out why the pipe ended in the middle of a case.
func (p *process) broken(run caseRun) caseRun {
	if p.err != nil && !isEnd(p.err) {
		p.child.Quit("nonsense on the pipe")
	}
	p.close()
	p.ended(&run)
	run.end = endOf(run.child, fullFrom(p.hello.Device.Kind))
	if run.end == died && p.err != nil && !isEnd(p.err) {
		run.end, run.fault = nonsense, wire.Fault{Message: p.err.Error()}
	}
	return run
}

// startErrorRun is what became of a case that could not be run because the code under test ended the process before it
// greeted; ok is false for any other error of begin.
func startErrorRun(err error, caseID string, starts bool, l locator) (run caseRun, ok bool) {
	if born := (*startError)(nil); errors.As(err, &born) {
		return born.run(caseID, starts, l)
	}
	return caseRun{}, false
}

// startError is the error where a runner ended before it greeted. What runs before that is the driver's start and the
// initialisation of all packages in the runner, among them the student's.
type startError struct {
	child child.Result
	limit time.Duration
	full  uint64 // as fullFrom has it
}

func (e *startError) Error() string {
	switch {
	case e.child.Reason == child.TooLong:
		return fmt.Sprintf("the runner did not greet within %v", e.limit)
	}
	return fmt.Sprintf("the runner did not greet: %s, exit status %d", e.child.Reason, e.child.ExitCode)
}

// run is the end as that of a case, where the code under test is what ended the runner: it must have code, which
// starts says, that runs when the program starts. What Go says of a crash goes the way of all that is printed then,
// so it cannot acquit anybody.
func (e *startError) run(caseID string, starts bool, l locator) (caseRun, bool) {
	run := emptyRun(caseID)
	run.notGreeted, run.end, run.child, run.crash = true, endOf(e.child, e.full), e.child, e.child.Stderr
	_, inside := parseCrash(run.crash).in(l)
	return run, inside || starts
}

func emptyRun(caseID string) caseRun {
	return caseRun{notes: &verdict.CaseNotes{ID: caseID, Trace: &trace.Trace{},
		Values: map[string][]uint64{}, Samples: map[string][]int64{}}}
}

// endOf is what the end of the process means for its case.
func endOf(r child.Result, full uint64) ending {
	switch r.Reason {
	case child.TooLong:
		if r.Peak > full {
			return outOfMemory
		}
		return timedOut
	case child.TooBusy:
		return starved
	case child.Memory:
		return outOfMemory
	case child.Cancelled:
		return cancelled
	}
	return died
}

// makeRoom makes room for all values of a case at once: append alone would copy a million of them five times.
func (run *caseRun) makeRoom(said []wire.Message) {
	more := map[string]int{}
	for _, m := range said {
		if v, ok := m.(wire.Value); ok {
			more[v.Name] += len(v.Values)
		}
	}
	for name, n := range more {
		run.notes.Values[name] = slices.Grow(run.notes.Values[name], n)
	}
}

// take keeps one note; it reports whether the case is over.
func (run *caseRun) take(m wire.Message) bool {
	n := run.notes
	switch m := m.(type) {
	case verdict.Outcome:
		m.Err, m.Panic, m.Odd.What = visible.Line(m.Err), visible.Line(m.Panic), visible.Line(m.Odd.What)
		n.Outcomes = append(n.Outcomes, m)
	case wire.Value:
		n.Values[m.Name] = append(n.Values[m.Name], m.Values...)
	case wire.Sample:
		n.Samples[m.Series] = append(n.Samples[m.Series], m.Nanoseconds)
	case *trace.Trace:
		n.Trace = m
	case wire.Done:
		run.end = done
		return true
	case wire.Fault:
		run.end, run.fault = faulted, m
		if m.DeviceLost {
			run.end = deviceLost
		}
		return true
	default:
		run.end, run.fault = nonsense, wire.Fault{Message: fmt.Sprintf("the runner sent a %T", m)}
		return true
	}
	return false
}

// isEnd reports whether the pipe just ended, as it does when the process does.
func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
