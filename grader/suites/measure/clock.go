package measure

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// call is one call of Time or Compare as the trace shows it.
type call struct{ *suite.Made[workload] }

// clock is one that the call has read.
type clock struct {
	suite.Clock
	of string // what it is a clock of, in messages: "the clock", or "the clock of Ordered"
}

// s is the stream that the call was given.
func (c call) s() trace.ID { return c.Stream(0) }

func (c call) streamName(id trace.ID) string {
	return c.StreamName(id, suite.Names("s"))
}

// clocks are those that the call has read, in their order.
func (c call) clocks() (read []clock) {
	for _, k := range c.Clocks() {
		read = append(read, clock{k, "the clock"})
	}
	return read
}

// judged are the clocks that answers are held to: one of Time, which is the one that it answered if there is such a
// one; of Compare one for each way, in their order, of which some may be missing.
func (c call) judged() (all []clock) {
	if c.W.compare {
		for _, w := range c.ways() {
			if w.timed {
				all = append(all, w.clock)
			}
		}
		return all
	}
	read := c.clocks()
	for _, k := range read {
		if c.says(k, c.answers()[0]) {
			return []clock{k}
		}
	}
	if len(read) > 0 {
		return read[len(read)-1:]
	}
	// what reads it is still to be written
	if recorded := c.Find(trace.OpEventRecord); c.Outcome.Gap != "" && len(recorded) == 2 {
		return []clock{{suite.Clock{Start: recorded[0], Stop: recorded[1]}, "the clock"}}
	}
	return nil
}

// around reports whether a record is between the two of a clock.
func (k clock) around(at int) bool { return k.Start < at && at < k.Stop }

// clocks finds clocks that do not start or stop in s, or have something else between the two than the timed rounds.
func clocks(m *suite.Made[workload]) (found []verdict.Finding) {
	c := call{m}
	if !m.Outcome.OK() && (c.W.compare || m.Outcome.Gap == "") {
		return nil
	}
	for _, k := range c.judged() {
		if k.At > 0 && k.Start > k.Stop {
			f := c.Finding(k.At, exchangedRule, "%s should be asked for the time from the event before the rounds to the one "+
				"behind them, "+
				"but here is given the later one first.", "cuda.EventElapsedTime")
			f.Given, f.Effect = true, m.At(k.Stop, f).Line
			found = append(found, f)
			continue
		}
		if elsewhere := c.elsewhere(k); elsewhere != nil {
			found = append(found, elsewhere...)
			continue
		}
		found = append(found, c.tooMuch(k)...)
		if !c.W.compare {
			found = append(found, c.aroundRounds(k)...)
		}
	}
	if c.W.compare {
		for _, w := range c.ways() {
			if w.timed && c.elsewhere(w.clock) == nil {
				found = append(found, c.wayOnClock(w)...)
			}
		}
	}
	return found
}

var exchangedRule = suite.Rule{ID: tooLittleRule.ID, Why: "The time from an event to one before it is negative.",
	Fix: "Exchange the two: cuda.EventElapsedTime(start, stop)."}

// elsewhere finds the records of a clock that are in another stream than s.
func (c call) elsewhere(k clock) (found []verdict.Finding) {
	for i, at := range []int{k.Start, k.Stop} {
		if r := c.Record(at); r.Stream != c.s() {
			found = append(found, c.Finding(at, suite.Rule{ID: "clocked-elsewhere",
				Why: "An event says when its own stream got there; what other streams do by then it does not say.",
				Fix: "Record the event in the stream whose work is timed: cuda.EventRecord(event, s).",
			}, "the %s event of %s should be recorded in s, but was recorded in %s.", []string{"first", "second"}[i], k.of,
				c.streamName(r.Stream)))
		}
	}
	return found
}

var tooMuchRule = suite.Rule{ID: "clocked-too-much",
	Why: "What lies between the two records is what the clock measures.",
	Fix: "Have the timed rounds between the two calls of cuda.EventRecord, and nothing else."}

// tooMuch finds work of the student's own between a clock's records that can belong to no round.
func (c call) tooMuch(k clock) (found []verdict.Finding) {
	c.Records(func(at int, r *trace.Record) bool {
		if k.around(at) && r.Code == 0 && enqueues(r.Op) && (!c.W.compare || !roundOp(r.Op)) {
			found = append(found, c.Finding(at, tooMuchRule, "between the two records of %s should be %s and nothing else, but "+
				"%s is there too.",
				k.of, c.W.onClock(), suite.CallName(r)))
		}
		return true
	})
	return found
}

// enqueues reports whether a call puts something into a stream, or takes or gives back memory besides.
func enqueues(op trace.Op) bool {
	switch op {
	case trace.OpEventRecord, trace.OpStreamWaitEvent, trace.OpMemsetAsync, trace.OpMemset, trace.OpMemcpyHtoDAsync,
		trace.OpMemcpyDtoHAsync, trace.OpMemcpyDtoDAsync, trace.OpMemcpyHtoD, trace.OpMemcpyDtoD, trace.OpMallocHost:
		return true
	}
	return roundOp(op)
}

var (
	coldRule = suite.Rule{ID: "cold-clock",
		Why: "The first round pays for what later ones find ready: memory in the pool, the kernel on the device.",
		Fix: "Enqueue the warm-up first, and record the first event behind it."}
	tooLittleRule = suite.Rule{ID: "clocked-too-little",
		Why: "What lies between the two records is what the clock measures, and nothing else.",
		Fix: "Record the first event right before the first timed round is enqueued, and the second right after the last."}
)

// aroundRounds finds rounds that are on the wrong side of one of the clock's records.
func (c call) aroundRounds(k clock) []verdict.Finding {
	before, between := 0, 0
	for _, back := range c.Callbacks() {
		switch {
		case !c.inS(back):
		case back.To < k.Start:
			before++
		case k.around(back.From):
			between++
		}
	}
	missing := "all of it"
	if before > 0 {
		missing = fmt.Sprintf("%d of its %d rounds", c.W.warm-before, c.W.warm)
	}
	switch {
	case before < c.W.warm && between > 0:
		return []verdict.Finding{c.Finding(k.Start, coldRule,
			"the clock should start behind the warm-up, but the first event is recorded ahead of %s.", missing)}
	case between < c.W.rounds:
		return []verdict.Finding{c.tooLittle(k, between)}
	case between > c.W.rounds:
		return []verdict.Finding{c.Finding(k.Stop, tooMuchRule,
			"between the two records of %s should be %s and nothing else, but there are %d.",
			k.of, c.W.onClock(), between)}
	}
	return nil
}

// tooLittle is the finding about a clock with too few rounds on it.
func (c call) tooLittle(k clock, there int) verdict.Finding {
	found := fmt.Sprintf("only %d of them", there)
	if there == 0 {
		found = "no round"
	}
	return c.Finding(k.Stop, tooLittleRule, "between the two records of %s should be %s, but %s is there.", k.of,
		c.W.onClock(), found)
}

// inS reports whether a round was enqueued in s.
func (c call) inS(back suite.Callback) bool {
	for at := back.From; at < back.To; at++ {
		if c.Record(at).Stream != c.s() {
			return false
		}
	}
	return true
}

// rounds finds calls of work that are too few, too many, or in another stream.
func rounds(m *suite.Made[workload]) (found []verdict.Finding) {
	c := call{m}
	if !m.Outcome.OK() && m.Outcome.Gap == "" {
		return nil
	}
	made := c.Callbacks()
	for _, back := range made {
		if back.From < back.To && !c.inS(back) {
			found = append(found, c.Finding(back.From-1, suite.Rule{ID: "wrong-stream",
				Why: "Two events in s tell about work in s; what other streams do meanwhile they do not see.",
				Fix: "Call work(s), in the warm-up and on the clock.",
			}, "work should be called with s, but was called with %s.", c.streamName(c.Record(back.From).Stream)))
		}
	}
	want := c.W.warm + c.W.rounds
	switch gap := m.Outcome.Gap; {
	case gap != "" && gap <= "1c":
		want = len(made) // there is no round yet
	case gap == "1d":
		want = c.W.warm
	}
	if len(made) != want {
		at := -1
		if len(made) > 0 {
			at = made[min(want, len(made)-1)].From - 1
		}
		f := c.Finding(at, suite.Rule{ID: "round-count",
			Why: "The caller counts on it: so often the work is to be done, no more and no less.",
			Fix: "Call work warm times and then rounds times, however long it takes.",
		}, "Time should call work %s, %d to warm up and %d on the clock, but called it %s.",
			verdict.Count(want, "time", "times"), c.W.warm, c.W.rounds, verdict.Count(len(made), "time", "times"))
		found = append(found, f)
	}
	return found
}

// wentOn finds rounds behind one that could not be enqueued.
func wentOn(e *suite.Evidence) (found []verdict.Finding) {
	for _, m := range timeErrors.Made(e) {
		made := m.Callbacks()
		if more := len(made) - m.W.fails; more > 0 {
			found = append(found, m.Finding(made[m.W.fails].From-1, suite.Rule{ID: "goes-on-after-error",
				Why: "The caller who is told of an error expects no further work behind it.",
				Fix: "Look at the error of each call of work, and return it at once.",
			}, "work answered an error in call %d of it. Time should have stopped there, but called it %s.", m.W.fails,
				verdict.Count(more, "more time", "more times")))
		}
	}
	return verdict.Unique(found)
}

// waits finds a host that waits or asks while a clock is running, and one that waits for more than s.
func waits(m *suite.Made[workload]) (found []verdict.Finding) {
	c := call{m}
	if !m.Outcome.OK() {
		return nil
	}
	judged, recorded := c.judged(), map[trace.ID]int{}
	// of others nobody knows when
	running := slices.DeleteFunc(slices.Clone(judged), func(k clock) bool { return c.elsewhere(k) != nil })
	c.Records(func(at int, r *trace.Record) bool {
		if r.Op == trace.OpEventRecord && r.Code == 0 {
			recorded[r.Event] = at
		}
		what, why := c.HostWait(at), "The wait is measured too, and behind it the stream is empty: the next round begins "+
			"only when the host has woken up."
		if r.Op == trace.OpStreamQuery || r.Op == trace.OpEventQuery {
			what, why = "asks whether work is done", "While the host asks it enqueues nothing, and where the stream runs dry "+
				"the clock goes on."
		}
		if what == "" || r.Op == trace.OpFree && c.W.compare {
			return true
		}
		for _, k := range running {
			if k.around(at) {
				found = append(found, c.Finding(at, suite.Rule{ID: "wait-inside", Why: why, Fix: "Leave it out: wait once, after " +
					"the second record."}, "%s %s between the two records of %s.", suite.CallName(r), what, k.of))
				return true
			}
		}
		if c.forOthers(r, recorded, judged) {
			found = append(found, c.Finding(at, suite.Rule{ID: "waits-for-others",
				Why: "What other streams have to do is no part of this, and may take as long as it likes.",
				Fix: "Wait for s alone: cuda.EventSynchronize of the second event, or cuda.StreamSynchronize(s).",
			}, "%s should wait for s alone, but %s %s.", c.W.function(), suite.CallName(r), c.whom(r, what)))
		}
		return true
	})
	return found
}

// waitsBeforeErrors asks the same of calls in which work fails, up to there.
func waitsBeforeErrors(e *suite.Evidence) (found []verdict.Finding) {
	for _, m := range timeErrors.Made(e) {
		if made := m.Callbacks(); 0 < m.W.fails && m.W.fails <= len(made) {
			m.To, m.Outcome.Err = made[m.W.fails-1].From, ""
			found = append(found, waits(&m)...)
		}
	}
	return found
}

// forOthers reports whether a call waits for more than the work in s. An event of a clock's that is in another stream
// is told as such.
func (c call) forOthers(r *trace.Record, recorded map[trace.ID]int, judged []clock) bool {
	switch r.Op {
	case trace.OpStreamQuery, trace.OpEventQuery, trace.OpEventElapsedTime:
		return false
	case trace.OpStreamSynchronize, trace.OpMemcpyDtoHAsync:
		return r.Stream != c.s()
	case trace.OpEventSynchronize:
		at, known := recorded[r.Event]
		for _, k := range judged {
			known = known && at != k.Start && at != k.Stop
		}
		return known && c.Record(at).Stream != c.s()
	}
	return true
}

// whom says of a call what it waits for, with the name of the stream where it is one.
func (c call) whom(r *trace.Record, what string) string {
	switch r.Op {
	case trace.OpStreamSynchronize:
		return "waits until " + c.streamName(r.Stream) + " is empty"
	case trace.OpMemcpyDtoH:
		return what + ", in the legacy default stream"
	}
	return what
}
