package devicebump

import (
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// concurrency finds what makes streams, or the host, wait without need.
func concurrency(m *suite.Made[workload]) (found []verdict.Finding) {
	c := call{m}
	found = append(found, c.hostWaits()...)
	found = append(found, c.tooManyEvents()...)
	if m.Outcome.OK() {
		found = append(found, c.needlessWaits()...)
	}
	return verdict.Unique(found)
}

// waitsIn finds what a Launch or Reset may not do, whatever the life is for in which it is called.
func waitsIn(made []suite.Made[workload]) (found []verdict.Finding) {
	for _, m := range made {
		found = append(found, call{&m}.hostWaits()...)
	}
	return verdict.Unique(found)
}

// methodAt is the Launch or Reset in whose midst a record is; "" where it is in neither.
func (c call) methodAt(record int) string {
	switch at := c.marked(record); {
	case at == resetClosed:
		return "Reset behind Close"
	case at == launchClosed:
		return "Launch behind Close"
	case c.stepOf(record) >= 0:
		return c.method(at)
	}
	return ""
}

// hostWaits finds what a Launch or Reset does that only New or Close may.
func (c call) hostWaits() (found []verdict.Finding) {
	c.Records(func(at int, r *trace.Record) bool {
		method := c.methodAt(at)
		if method == "" {
			return true
		}
		switch waits := c.HostWait(at); {
		case suite.Allocates(r.Op):
			found = append(found, c.Finding(at, suite.Rule{ID: "allocation",
				Why: "Memory is what the pools have been made for: threads take it, and no call has to ask for more.",
				Fix: "Allocate all memory in New."}, "%s should allocate nothing, but calls %s.", method,
				suite.CallName(r)))
		case r.Op == trace.OpEventCreate:
			found = append(found, c.Finding(at, suite.Rule{ID: "event-count",
				Why: "An event may be recorded again and again: who waits already goes on waiting for what it stood for then.",
				Fix: "Create the events in New, one for each stream and one more, and record them again in every Reset."},
				"%s should use the events that are there, but creates one.", method))
		case waits != "":
			found = append(found, c.Finding(at, suite.Rule{ID: "host-wait",
				Why: "While the host waits it enqueues nothing, in none of the streams. Order between " +
					"streams is made on the device.",
				Fix: "Leave it out, and let the stream wait instead: cuda.EventRecord in the earlier " +
					"stream, cuda.StreamWaitEvent in the later one."},
				"%s should leave the order to the streams and return at once, but %s %s.",
				method, suite.CallName(r), waits))
		}
		return true
	})
	return found
}

// mostEvents is how many events all Pools of the call may have together.
func (c call) mostEvents() int {
	if c.W.pair {
		return c.W.streams + 2
	}
	return c.W.streams + 1
}

// tooManyEvents finds the first event that is too many, and records of events that a Reset has no need of.
func (c call) tooManyEvents() []verdict.Finding {
	if made, most := c.Find(trace.OpEventCreate), c.mostEvents(); len(made) > most {
		return []verdict.Finding{c.Finding(made[most], suite.Rule{ID: "event-count",
			Why: "An event may be recorded again and again: who waits already goes on waiting for what it stood for then.",
			Fix: "Create the events in New, one for each stream and one more, and record them again in every Reset."},
			"the Pools should create %d events at most, one for each stream and one more, but creates %d.", most, len(made))}
	}
	records := map[int]int{}
	for _, at := range c.Find(trace.OpEventRecord) {
		step := c.stepOf(at)
		if step < 0 || c.W.steps[step].sizes != nil {
			continue
		}
		if !c.W.shared {
			return []verdict.Finding{c.Finding(at, suite.Rule{ID: "event-count",
				Why: "Work in one stream is in order by itself, and nobody else uses this pool.",
				Fix: "Reset a pool of one stream by cuda.MemsetAsync in that stream alone."},
				"%s should need no event, since no other stream uses the pool, but records one.", c.method(step))}
		}
		if records[step]++; records[step] > c.W.streams+1 {
			return []verdict.Finding{c.Finding(at, suite.Rule{ID: "event-count",
				Why: "Of each other stream one event says all that is in it.",
				Fix: "Record each other stream once, and the reset."},
				"%s should record %d events at most, but records more.", c.method(step), c.W.streams+1)}
		}
	}
	return nil
}

// needlessWaits finds launches that one of the student's waits has put in order although they need none: in pools of
// their own, and in a shared one without a Reset between them.
func (c call) needlessWaits() []verdict.Finding {
	launched := c.launched()
	resets := 0 // before each step, of a shared pool
	type one struct{ step, record, resets int }
	var all []one
	for at, s := range c.W.steps {
		switch {
		case s.bad:
		case s.sizes == nil:
			if c.W.shared {
				resets++
			}
		case len(launched[at]) == 1:
			all = append(all, one{at, launched[at][0], resets})
		}
	}
	for i, later := range all {
		for _, earlier := range all[:i] {
			if c.W.steps[earlier.step].stream == c.W.steps[later.step].stream || earlier.resets != later.resets {
				continue
			}
			wait := c.HeldBack(earlier.record, later.record)
			if wait < 0 {
				continue
			}
			rule := suite.Rule{ID: "needless-wait",
				Why: "Any number of threads may take from the word at once: that is what it is atomic for. A wait puts the " +
					"streams one after the other.",
				Fix: "Have a stream wait only for a Reset of its pool that came since its last Launch."}
			if !c.W.shared {
				rule.Why = "The streams have pools of their own, so nothing that one of them does concerns another."
				rule.Fix = "Leave events out where streams do not share a pool."
			}
			return []verdict.Finding{c.Finding(wait, rule,
				"%s, which is call %d, need not wait for %s, call %d, but this makes it wait.",
				c.method(later.step), later.step+1, c.method(earlier.step), earlier.step+1)}
		}
	}
	return nil
}
