package crossstreamevents

import (
	"fmt"
	"maps"

	"cudalab/grader/suite"
	"cudalab/native/trace"
)

// overlap finds work that has to wait for what it does not need.
func overlap(m *suite.Made[workload]) []suite.Finding {
	switch c := (call{m}); {
	case !m.Outcome.OK():
		return nil
	case m.W.consumers == 0:
		return c.judgeIndependent()
	default:
		return c.judgeConsumers()
	}
}

// predecessors is, for one stream, which streams' work its own comes after, and the record of the wait that made it so.
type predecessors map[trace.ID]int

// order follows the call's events up to the record at end: whose work each stream's next work will come after.
func (c call) order(end int) map[trace.ID]predecessors {
	streams, events := map[trace.ID]predecessors{}, map[trace.ID]predecessors{}
	c.records(func(at int, r *trace.Record) bool {
		switch {
		case at >= end:
			return false
		case r.Code != 0:
		case r.Op == trace.OpEventRecord:
			covered := predecessors{r.Stream: at}
			maps.Copy(covered, streams[r.Stream])
			events[r.Event] = covered
		case r.Op == trace.OpStreamWaitEvent:
			if streams[r.Stream] == nil {
				streams[r.Stream] = predecessors{}
			}
			for s := range events[r.Event] {
				if _, already := streams[r.Stream][s]; !already && s != r.Stream {
					streams[r.Stream][s] = at
				}
			}
		}
		return true
	})
	return streams
}

// judgeIndependent looks at when, how often and where Share called independent.
func (c call) judgeIndependent() []suite.Finding {
	var made []int
	for at := c.From; at < c.To; at++ {
		if independent(c.Record(at)) {
			made = append(made, at)
		}
	}
	f := suite.Finding{
		Rule: "independent-calls",
		Why:  "The work that independent enqueues is the caller's own: left out it is missing, and twice it is done twice.",
		Fix:  "Call independent(a) once, after b's work has been enqueued and before a waits for b.",
	}
	switch {
	case len(made) == 0:
		f.Message = "Share should call independent once, but never did."
		return []suite.Finding{c.At(-1, f)}
	case len(made) > 1:
		f.Message = fmt.Sprintf("Share should call independent once, but called it %d times.", len(made))
		return []suite.Finding{c.At(made[1], f)}
	}
	at := made[0]
	if r := c.Record(at); r.Stream != c.Streams[0] {
		f.Rule = "wrong-stream"
		f.Message = fmt.Sprintf("Share should call independent with stream a, but called it with %s.", c.streamName(r.Stream))
		f.Why = "The caller's work belongs in a; in another stream nothing orders it with the rest of a's work."
		f.Fix = "Call independent(a)."
		return []suite.Finding{c.At(at, f)}
	}
	if last := c.checksum(0); last > at {
		f.Rule = "independent-too-early"
		f.Message = "Share should call independent once all of b's work is enqueued, but called it before that."
		f.Why = "What is enqueued first can begin first: while the host is busy enqueuing the independent work, b has nothing to do."
		f = c.At(at, f)
		c.relate(&f, last, "the checksum is enqueued only here")
		return []suite.Finding{f}
	}
	if wait, waits := c.order(at)[c.Streams[0]][c.Streams[1]]; waits {
		f.Rule = "overlap-lost"
		f.Message = "The work of independent should run beside that of b, but here stream a is made to wait for b before independent is called."
		f.Why = "A stream that waits for an event holds back all that is enqueued in it later, whether that needs the wait or not."
		f.Fix = "Call independent(a) first; a has to wait for b only before it frees the buffer."
		f = c.At(wait, f)
		c.relate(&f, at, "the work of independent is enqueued only here, after that wait")
		return []suite.Finding{f}
	}
	return nil
}

// judgeConsumers looks for checksums that come after another consumer's work.
func (c call) judgeConsumers() []suite.Finding {
	var found []suite.Finding
	for i := range c.W.consumers {
		at := c.checksum(i)
		if at < 0 {
			continue
		}
		order := c.order(at)[c.Streams[1+i]]
		for j := range c.W.consumers {
			wait, waits := order[c.Streams[1+j]]
			if !waits || c.Streams[1+j] == c.Streams[1+i] {
				continue
			}
			f := c.At(wait, suite.Finding{
				Rule:    "overlap-lost",
				Message: fmt.Sprintf("The checksum in %s should not have to wait for the work of %s, but this call makes it wait.", c.W.streamName(1+i), c.W.streamName(1+j)),
				Why:     "A stream that waits for an event also waits for all that the event's stream had waited for.",
				Fix: "Make each consumer wait for one event only, recorded in source right after fill and before source waits for " +
					"any consumer.",
			})
			c.relate(&f, at, "this checksum is held back")
			found = append(found, f)
		}
	}
	return found
}
