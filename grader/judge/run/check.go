// Package run carries out one check: it starts the runner, asks it for one case after another, lets the order
// checker and the suite judge what came back, and makes the report. Until something is proven right it counts as
// failed, and what is cudalab's own fault never counts against the student.
//
// It begins in check.go, with bench.go and race.go beside it; ask.go leads through runner.go and case.go to
// process.go, and verdict.go and gaps.go judge by evidence.go. What a bad end means is in fault.go and odd.go, from
// crash.go and stack.go.
package run

import (
	"cmp"
	"context"
	"slices"
	"time"

	"cudalab/grader/suite"
	"cudalab/grader/suite/gaps"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// Code is the code under test, and what is known of it.
type Code struct {
	Suite   *suite.Suite       // for its checks; its cases run in the runner
	Number  int                // among the programs of its exercise in the runner; 0: it is the only one
	Package string             // its import path
	Starts  bool               // some of it runs when the runner starts
	Points  map[string]float64 // by check
	Gaps    []gaps.Gap         // what is still to be written
	AllGaps []string           // the IDs of the gaps that the skeleton has
	// Functions are the student's functions and methods by name, where they are declared.
	Functions map[string]verdict.Place
	// Statements finds the statement that an answer of a function's comes of, and says what it is; nil where nobody can.
	Statements func(function string, look verdict.Look) (at verdict.Place, what string, ok bool)
	// Argument is the i-th argument of a call in a line of a file, as it stands in the code; "" where that is not known.
	Argument func(file string, line int, call string, i int) string
	// InStacks has the same by the names that they have in a stack: "New", "Block.Size", "(*Pool).Alloc".
	InStacks    map[string]Function
	Translation *suite.Translation // of the suite's OnDevice; nil: nothing is asked of it
	// Name turns a path that the compiler saw into what the student calls the file.
	Name func(file string) string
}

// Result is a report with what lies behind it.
type Result struct {
	Report verdict.Report
	Cases  []*verdict.CaseNotes // that were run, in the suite's order
	// Pictures are the cases run once more, under the same seed, with the times of their operations in the traces:
	// for showing what happened, since taking the times slows it down. A case that did not end well the first time has
	// none.
	Pictures []*verdict.CaseNotes
	// Place finds the student's lines in a call stack, innermost first. Nil where nothing was run.
	Place func(trace.Site) []verdict.Place
	// Err is why the report's status is verdict.Errored; nil with any other status. It is never the student's fault: a
	// *NoDevice where the device cannot be had or was lost for good, a *Busy, the context's error, or a fault of cudalab's
	// or the machine's. All but the context's may be gone in a second try.
	Err error
	// Broken reports that a process of the runner's came to a bad end. Of a runner that others share, that may be their
	// doing: only from one of its own can it be told.
	Broken bool
}

// Check runs the whole suite. It always returns a report; where the fault is cudalab's or the machine's its status is
// verdict.Errored.
func (r *Runner) Check(ctx context.Context, code Code) Result {
	began := time.Now()
	c := newChecking(r, code)
	c.report = verdict.Report{Schema: verdict.SchemaVersion, Exercise: c.Suite.Exercise, Seed: c.Seed,
		Device: verdict.Device{Kind: c.Device}}
	err := c.correctness(ctx)
	if err == nil {
		if timed := c.timedCases(); !c.broken && len(timed) > 0 {
			c.askAhead(ctx, timed[0])
		}
		c.judge(false)
		err = c.timing(ctx)
	}
	var pictures []*verdict.CaseNotes
	if err == nil {
		pictures, err = c.pictures(ctx)
	}
	c.report.Output = bounded(c.report.Output + c.printed())
	shorten(c.report.Checks)
	verdict.Relate(c.report.Checks)
	err = c.conclude(err)
	c.report.DurationMS = time.Since(began).Milliseconds()
	return Result{Report: c.report, Cases: c.notes(), Pictures: pictures, Place: c.locate.places, Err: err,
		Broken: c.broken}
}

// checking is one Check under way.
type checking struct {
	Code
	*Runner
	locate   locator
	broken   bool // a process came to a bad end
	runs     map[string]caseRun
	early    *early            // the case that was asked for ahead, if there is one
	gap      string            // the first gap that answered
	reported map[string]bool   // cases whose bad end has been reported in a check
	ends     []verdict.Finding // how they have ended, as was reported
	status   verdict.Status    // of the worst end of a case, if any was bad
	report   verdict.Report
}

func newChecking(r *Runner, code Code) *checking {
	return &checking{Code: code, Runner: r, locate: locator{pkg: code.Package, name: code.Name, code: code.InStacks},
		runs: map[string]caseRun{}, reported: map[string]bool{}}
}

// correctness runs the untimed cases.
func (c *checking) correctness(ctx context.Context) error {
	release, err := c.share(ctx)
	if err != nil {
		return err
	}
	defer release()
	for i := range c.Suite.Cases {
		cs := &c.Suite.Cases[i]
		if cs.Timed {
			continue
		}
		run, err := c.ask(ctx, cs, c.request(cs, 0))
		if err == nil {
			err = c.keep(ctx, run)
		}
		if err == nil {
			err = c.goOn(ctx, cs, run)
		}
		if err != nil {
			return err
		}
		c.gap = cmp.Or(c.gap, gapOf(run.notes))
		if run.end == timedOut || run.end == outOfMemory || run.notGreeted {
			return nil // the next case would most likely end like this one
		}
	}
	return nil
}

// resumed bounds how often one case is gone on with: on a GPU a fresh process takes a while to have its device.
const resumed = 4

// goOn carries out what is left of a case behind a call that has panicked, or has lost the device and its process with
// it.
func (c *checking) goOn(ctx context.Context, cs *suite.Case, run caseRun) error {
	request := c.request(cs, 0)
	for range resumed {
		if request.From += len(run.notes.Outcomes); !cs.Resumes || !run.mayGoOn() {
			return nil
		}
		next, err := c.ask(ctx, cs, request)
		if err == nil {
			err = c.see(ctx, next)
		}
		if err != nil {
			return err
		}
		first := c.runs[cs.ID]
		first.then = append(first.then, next)
		run.notes.Then = next.notes
		c.runs[cs.ID] = first
		run = next
	}
	return nil
}

// timing runs the timed cases, where everything else has passed, and then once more those that leave a doubt.
func (c *checking) timing(ctx context.Context) error {
	cases := c.timedCases()
	if len(cases) == 0 || !c.mayBeFast() {
		c.dropEarly()
		c.judge(true)
		return nil
	}
	var again []*suite.Case
	for i, cs := range cases {
		run, err := c.timed(ctx, cs, 0)
		if err != nil {
			return err
		}
		if i+1 < len(cases) && run.end == done {
			c.askAhead(ctx, cases[i+1])
		}
		if c.again(cs.ID) != suite.NotAgain {
			again = append(again, cs)
		}
	}
	for _, cs := range again {
		err := settle(c.again(cs.ID), func(attempt int) (suite.Again, error) {
			_, err := c.timed(ctx, cs, attempt)
			return c.again(cs.ID), err
		})
		if err != nil {
			return err
		}
	}
	c.judge(true)
	return nil
}

func (c *checking) timed(ctx context.Context, cs *suite.Case, attempt int) (caseRun, error) {
	turn := c.Turns.Time
	if attempt > 0 {
		turn = c.Turns.Alone
	}
	if turn != nil && c.Device == gpu {
		release, err := waited(turn(ctx))
		if err != nil {
			return caseRun{}, err
		}
		defer release()
	}
	run, err := c.ask(ctx, cs, c.request(cs, attempt))
	if err == nil {
		err = c.keep(ctx, run)
	}
	return run, err
}

// settle has a case that leaves a doubt carried out until the last answer counts: whatever it is behind a failure,
// since that makes two in a row of one, and all but a first failure behind what was unclear.
func settle(doubt suite.Again, carryOut func(attempt int) (suite.Again, error)) error {
	for attempt := 1; ; attempt++ {
		now, err := carryOut(attempt)
		if err != nil || doubt == suite.ToConfirm || now != suite.ToConfirm {
			return err
		}
		doubt = now
	}
}

// timedCases are those that time is to be measured with if all else has passed: for which nothing is still to be
// written.
func (c *checking) timedCases() (timed []*suite.Case) {
	for i := range c.Suite.Cases {
		cs := &c.Suite.Cases[i]
		open := func(g gaps.Gap) bool { return g.ID <= cs.After }
		if cs.Timed && !c.NoTiming && (c.gap == "" || c.gap > cs.After && !slices.ContainsFunc(c.Gaps, open)) {
			timed = append(timed, cs)
		}
	}
	return timed
}

// again asks the checks on a timed case whether it should be carried out once more.
func (c *checking) again(caseID string) (why suite.Again) {
	if c.runs[caseID].end != done {
		return suite.NotAgain
	}
	for _, q := range c.Suite.Checks {
		if slices.Contains(q.Needs, caseID) {
			why = max(why, q.Judge(c.evidence()).Again)
		}
	}
	return why
}
