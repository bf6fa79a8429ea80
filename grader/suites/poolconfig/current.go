package poolconfig

import (
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// The gaps behind which Keep and Lend can come to their end.
const (
	lastOfKeep = "2a"
	lastOfLend = "2b"
)

var (
	borrows = &suite.Good[Code, loan]{Function: "Keep or Lend", Of: loan.function, Runs: []*suite.Runs[Code, loan]{
		lending.Runs("keep", lastOfKeep, suite.Fixed(keeps()...), suite.Around[loan]{}),
		lending.Runs("keep-random", lastOfKeep, drawLoans(drawKeep), suite.Around[loan]{}),
		lending.Runs("lend", lastOfLend, suite.Fixed(lends()...), suite.Around[loan]{}),
		lending.Runs("lend-random", lastOfLend, drawLoans(drawLend), suite.Around[loan]{}),
		lending.Runs("both", lastOfLend, suite.Fixed(both()...), suite.Around[loan]{}),
		lending.Runs("both-random", lastOfLend, drawLoans(drawEither), suite.Around[loan]{}),
	}, Far: []*suite.Runs[Code, loan]{lending.Runs("keep-far", lastOfKeep, farKeeps, suite.Around[loan]{}).Far()},
		Further: []suite.Further{keepFaults.Further(), keepFailing.Further(), lendFaults.Further(),
			lendFailing.Further()}}

	ofKeep, ofLend = suite.FaultJudge{Function: "Keep"}, suite.FaultJudge{Function: "Lend"}

	keepFaults  = lending.Faults("keep-faults", lastOfKeep, alone(drawKeep, false), ofKeep, borrowedWrongly)
	keepFailing = lending.Faults("keep-failing-faults", lastOfKeep, alone(drawKeep, true), ofKeep, borrowedWrongly)
	lendFaults  = lending.Faults("lend-faults", lastOfLend, alone(drawLend, false), ofLend, borrowedWrongly)
	lendFailing = lending.Faults("lend-failing-faults", lastOfLend, alone(drawLend, true), ofLend, borrowedWrongly)
)

// current asks everything about Keep and Lend, of which the other checks know nothing: what is written of Run is judged
// in full without them.
var current = func() suite.Part[Code] {
	p := borrows.Part("current", "what belongs to everybody is borrowed and given back",
		"The current pool and its threshold were as they had been, whatever work and CUDA answered.", borrowedWrongly)
	for _, far := range borrows.Far {
		p = p.Needing(&far.Trial)
	}
	p = p.With(borrows.NoHostWait("", "", "", waitingForWork), borrows.Order("", ""),
		borrows.Cleanup("", "", keepFaults, keepFailing, lendFaults, lendFailing)).And(afterBorrowing)
	return borrows.Beside(ofRun, p)
}()

func waitingForWork(w loan) suite.HostWait {
	return suite.HostWait{
		Should: w.function() + " should leave it to work whether the host waits",
		Why: "Whoever calls it may have other streams at work; a pool's attributes and the current pool are the host's, " +
			"and change at once.",
		Fix:              "Leave it out: what work has enqueued keeps its pool, whatever is current when it runs.",
		AllocationShould: "Memory should be taken by work alone",
		AllocationThen:   "takes some beside it.",
		AllocationWhy:    "What is borrowed is the pool; who borrows it for others needs nothing from it.",
	}
}

// borrowedWrongly judges a call of Keep or Lend in which nothing was made to fail.
func borrowedWrongly(m *suite.Made[loan]) []verdict.Finding {
	c := followLoan(m)
	if m.Outcome.Gap != "" || m.Outcome.Panic != "" || len(c.pools) != m.W.pools() {
		return nil
	}
	if m.Outcome.Err != "" && m.W.absent {
		return c.finding(m.W.function(), -1, suite.Rule{ID: "error-replaced",
			Why: "The caller finds out with errors.Is what went wrong; another error says something else.",
			Fix: "Return the error of the call itself, or wrap it: fmt.Errorf with %w, or errors.Join."},
			"%s should answer CUDA's error, but what it answers is none of CUDA's: %s.", m.W.function(),
			strings.TrimSuffix(m.Outcome.Err, "."))
	}
	if m.Outcome.Err != "" && slices.Contains(c.Noted(noteCalls), 0) {
		return []verdict.Finding{m.UnexpectedError(m.W.function())} // work has nothing to do with it
	}
	if found := c.calledWrongly(); found != nil {
		return found
	}
	if found := c.lostErrors(); found != nil {
		return found
	}
	if !m.Outcome.OK() {
		return []verdict.Finding{m.UnexpectedError(m.W.function())}
	}
	if m.W.absent {
		return c.changed(m.W.begin(), len(c.looks)-1, m.W.layers[0])
	}
	want := m.W.states()
	if len(c.looks) != len(want) {
		return nil
	}
	for i := range want {
		if found := c.changed(want[i], i, m.W.layers[c.layerOf(i)]); found != nil {
			return found
		}
	}
	return c.wrongSamples()
}

// calledWrongly finds that work was not called once, or where it should not have been.
func (c *lent) calledWrongly() []verdict.Finding {
	for i, n := range c.Noted(noteCalls) {
		function := c.W.layers[min(i, len(c.W.layers)-1)].function()
		rule := suite.Rule{ID: "work-called",
			Why: "Who hands over a function decides what it does, and counts on its being done exactly once.",
			Fix: "Call work in one place, behind what it needs and ahead of what takes that back."}
		if c.W.absent {
			if n > 0 {
				rule.Why = "Where nothing could be borrowed, work would take its memory from wherever it comes from."
				rule.Fix = "Return the error of the CUDA call that comes before work at once."
				return c.finding(function, -1, rule, "%s should answer CUDA's error, without a call of work, but called it.",
					function)
			}
			continue
		}
		if n != 1 {
			return c.finding(function, -1, rule, "%s should call work once, but %s.", function,
				[]string{"never called it", "", "called it twice", "called it several times"}[min(n, 3)])
		}
	}
	return nil
}

// lostErrors finds errors of work's that were not passed on.
func (c *lent) lostErrors() []verdict.Finding {
	lost := c.Noted(noteLost)
	if len(lost) == 0 {
		return nil
	}
	function, back := c.W.layers[min(lost[0], uint64(len(c.W.layers)-1))].function(), c.Callbacks()
	if c.W.absent {
		return c.finding(function, -1, suite.Rule{ID: "error-ignored",
			Why: "Where nothing could be borrowed work is not called, and only the error tells the caller so.",
			Fix: "Give device to every call, check the error of each, and return it."},
			"%s should answer CUDA's error, but answers nil.", function)
	}
	at := -1
	if n := int(lost[0]); n < len(back) {
		at = back[n].From - 1 // work begins layer by layer
	}
	return c.finding(function, at, suite.Rule{ID: "error-ignored",
		Why: "Only this error tells the caller that what was to be done with the pool was not done.",
		Fix: "Keep the error that work answers; errors.Join adds those that come behind it."},
		"%s should answer work's error (errors.Is looks for it), but what it answers is not that.", function)
}

// changed compares the pools as a look has found them with how they have to be; l is the call that has to have them so.
func (c *lent) changed(want borrowed, number int, l layer) []verdict.Finding {
	is, entering := c.looks[number], number < len(c.W.layers)
	if is.current != c.pools[want.current] {
		return c.otherCurrent(is, entering, l)
	}
	// The pool whose threshold is borrowed comes first: where that is wrong, another one's may be as well.
	order := []int{want.current}
	for i := range c.pools {
		if i != want.current {
			order = append(order, i)
		}
	}
	for _, i := range order {
		threshold := poolAttr{c.pools[i], device.PoolReleaseThreshold}
		if got, answered := is.attributes[threshold]; answered && got != want.thresholds[i] {
			return c.otherThreshold(i, got, want.thresholds[i], is, entering, l)
		}
	}
	if entering {
		return nil
	}
	return c.otherAttributes(is, l)
}

func (c *lent) otherCurrent(is looking, entering bool, l layer) []verdict.Finding {
	set := c.last(trace.OpDeviceSetMemPool, is.at, func(*trace.Record) bool { return true })
	if entering && l.lends {
		at := set
		if at < 0 {
			at = is.at
		}
		return c.finding("Lend", at, suite.Rule{ID: "wrong-pool",
			Why: "cuda.MallocAsync takes from the device's current pool, whoever calls it: that is the one way to a library's " +
				"allocations.",
			Fix: "Call cuda.DeviceSetMemPool(device, pool) before work."},
			"what work takes with cuda.MallocAsync should come from the pool that Lend was given, but while work runs the "+
				"current pool is %s.", c.poolName(is.current))
	}
	should := "the current pool should be the one that was current before"
	if entering {
		should = "Keep should leave the current pool as it is"
	}
	return c.finding(l.function(), set, suite.Rule{ID: "current-pool-changed",
		Why: "cuda.MallocAsync takes from the current pool, so whoever else uses the device now gets memory from " +
			"somewhere else.",
		Fix: "Ask cuda.DeviceGetMemPool before anything is set, and set that pool again on every way out."},
		"%s, but it is %s.", should, c.poolName(is.current))
}

func (c *lent) otherThreshold(i int, got, want uint64, is looking, entering bool,
	l layer) (found []verdict.Finding) {
	set := c.last(trace.OpMemPoolSetAttribute, is.at, func(r *trace.Record) bool {
		return r.Pool == c.pools[i] && device.PoolAttr(r.Attr) == device.PoolReleaseThreshold
	})
	name := c.poolName(c.pools[i])
	if entering && !l.lends && c.pools[i] == is.current {
		at := set
		if at < 0 {
			at = is.at
		}
		return c.finding("Keep", at, suite.Rule{ID: "threshold",
			Why: "What a pool gives back at a synchronisation, it gives back by the threshold of that moment.",
			Fix: "Ask the current pool for its threshold, and set threshold before work where that is more."},
			"while work runs, the threshold of the current pool, %s, should be %s, but it is %s.", name, bytesName(want),
			bytesName(got))
	}
	rule := suite.Rule{ID: "threshold-left",
		Why: "The pool belongs to everybody: with a higher threshold it keeps memory that others lack, and with a lower " +
			"one it gives back what they count on.",
		Fix: "Ask for the threshold before you set it, and set what was answered again on every way out."}
	if entering {
		rule.ID = "default-pool-changed"
		if c.pools[i] != 0 {
			rule.ID = "threshold"
		}
		rule.Fix = "Ask cuda.DeviceGetMemPool which pool is current, and change the threshold of no other."
		if l.lends {
			rule.Fix = "Leave cuda.MemPoolSetAttribute out: a pool's attributes are its owner's."
		}
		return c.finding(l.function(), set, rule, "the threshold of %s should stay %s while work runs, but it is %s.", name,
			bytesName(want), bytesName(got))
	}
	return c.finding(l.function(), set, rule, "the threshold of %s should be %s again, but is %s.", name, bytesName(want),
		bytesName(got))
}

// otherAttributes finds attributes that are not as they were when the call began, besides the threshold.
func (c *lent) otherAttributes(is looking, l layer) []verdict.Finding {
	if is.at != c.To-1 {
		return nil // in work only what may change is asked for
	}
	before := lookedAt(c.Notes.Trace.Records, c.Set, c.From)
	for _, pool := range c.pools {
		for _, attr := range defaults[1:] {
			of := poolAttr{pool, device.PoolAttr(attr)}
			if was, got := before.attributes[of], is.attributes[of]; was != got {
				set := c.last(trace.OpMemPoolSetAttribute, c.To, func(r *trace.Record) bool {
					return r.Pool == pool && device.PoolAttr(r.Attr) == of.attr
				})
				return c.finding(l.function(), set, suite.Rule{ID: "default-pool-changed",
					Why: "The pool belongs to everybody who uses it, and goes by its attributes for all of them.",
					Fix: "Set no attribute of it but the release threshold, and that back again."},
					"%s should be as it was, but one of its attributes is changed from %d to %d.", c.poolName(pool), was, got)
			}
		}
	}
	return nil
}

// wrongSamples finds answers of Keep's that are not how its pool stood when work had returned.
func (c *lent) wrongSamples() []verdict.Finding {
	noted, n := c.Noted(noteSamples), len(c.W.layers)
	for i, pool := range c.W.lent() {
		if c.W.layers[i].lends || len(noted) < 3*n {
			continue
		}
		l := c.looks[2*n-1-i]
		for k, s := range sampled {
			want, answered := l.attributes[poolAttr{c.pools[pool], s.attr}]
			got := noted[3*i+k]
			if want == got || !answered {
				continue
			}
			asked := func(r *trace.Record) bool { return device.PoolAttr(r.Attr) == s.attr }
			at, words := c.last(trace.OpMemPoolGetAttribute, c.To, asked), ""
			switch {
			case at < 0:
				words = ", and nothing asked the pool for " + s.name
			case at < l.at:
				words = ", as was asked before work had returned"
			case c.Record(at).Pool != c.pools[pool]:
				words = ", which is another pool's"
			}
			return c.finding("Keep", at, suite.Rule{ID: "wrong-sample",
				Why: "What work has left in the pool is seen when it has returned, and only the pool knows it.",
				Fix: "Sample the pool that was current when Keep began, behind work, also where work has answered an error."},
				"Keep should answer %s as %s, which its pool had when work returned, but answers %s%s.",
				bytesName(want), s.field, bytesName(got), words)
		}
	}
	return nil
}

// afterBorrowing finds what is not as it was behind a CUDA call that failed, and work that was called for nothing.
func afterBorrowing(e *suite.Evidence) (found []verdict.Finding) {
	if !e.Own() || borrows.Incomplete(e) != "" || slices.ContainsFunc(borrows.Made(e), func(m suite.Made[loan]) bool {
		return len(borrowedWrongly(&m)) > 0
	}) {
		return nil
	}
	for _, faults := range []*suite.Faults[Code, loan]{keepFaults, keepFailing, lendFaults, lendFailing} {
		all, notes := faults.Made(e), e.Cases[faults.ID]
		for _, run := range suite.FaultRuns(notes) {
			if run.Outcome.Panic != "" {
				continue
			}
			for _, f := range followLoan(&all[run.Index]).behind(run) {
				found = append(found, e.Because(f, notes, run))
			}
		}
	}
	return verdict.Unique(found)
}

// behind judges a call in which one of CUDA's was made to fail. The one that was to put something back may have been
// that.
func (c *lent) behind(run suite.FaultRun) []verdict.Finding {
	l, back := c.W.layers[0], c.Callbacks()
	before := len(back) == 0 || run.Failed < back[0].From
	tell := func(at int, rule, why, fix, format string, args ...any) []verdict.Finding {
		return []verdict.Finding{c.At(at, verdict.Finding{Rule: rule, Function: l.function(), Why: why, Fix: fix,
			Message: run.What + ". " + fmt.Sprintf(format, args...)})}
	}
	switch {
	case before && len(back) > 0:
		return tell(back[0].From-1, "work-called",
			"Where nothing could be borrowed, work takes its memory from wherever that happens to come from.",
			"Return the error of this call at once.", "%s should have returned that error, and not have called work.",
			l.function())
	case before && slices.ContainsFunc(c.Noted(noteSamples), func(v uint64) bool { return v != 0 }):
		return tell(run.Failed, "wrong-sample", "There was no work, so there is nothing that a sample could be of.",
			"Return contract.Sample{} with an error that comes before work.",
			"Keep should have answered an empty Sample with that error, but did not.")
	case len(c.Noted(noteLost)) > 0:
		return tell(run.Failed, "error-ignored", "Of two errors the caller needs both: the one says that the work is not "+
			"done, the other that the pool is not as it was.", "Join the errors: errors.Join(err, other).",
			"Work had answered an error, too, and %s should have joined the two, but errors.Is does not find work's.",
			l.function())
	}
	if !before && (run.Op == trace.OpMemPoolSetAttribute || run.Op == trace.OpDeviceSetMemPool) {
		return nil
	}
	if len(c.pools) != c.W.pools() {
		return nil
	}
	found := c.changed(c.W.begin(), len(c.looks)-1, l)
	for i, f := range found {
		what := "the pools' attributes should have been as they had been, but were not"
		switch f.Rule {
		case "current-pool-changed":
			what = "the pool that had been current should have been so again, but another one was"
		case "threshold-left":
			what = "the pool's threshold should have been what it had been, but was not"
		}
		found[i].Message = fmt.Sprintf("%s. When %s had returned, %s.", run.What, l.function(), what)
	}
	return found
}
