package crossstreamevents

import (
	"fmt"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// overlap finds work that has to wait for what it does not need.
func overlap(m *suite.Made[workload]) []verdict.Finding {
	switch c := (call{m}); {
	case m.Outcome.Gap != "" && m.W.consumers == 0 && len(c.Callbacks()) > 0:
		return c.judgeIndependent() // what is left to write comes behind it
	case !m.Outcome.OK():
		return nil
	case m.W.consumers == 0:
		return c.judgeIndependent()
	default:
		return c.judgeConsumers()
	}
}

// judgeIndependent looks at when, how often and where Share called independent.
func (c call) judgeIndependent() []verdict.Finding {
	made := c.Callbacks()
	f := verdict.Finding{
		Rule: "independent-calls",
		Why:  "The work that independent enqueues is the caller's own: left out it is missing, and twice it is done twice.",
		Fix:  "Call independent(a) once, after b's work has been enqueued and before a waits for b.",
	}
	switch {
	case len(made) == 0:
		f.Message = "Share should call independent once, but never did."
		return []verdict.Finding{c.At(-1, f)}
	case len(made) > 1:
		f.Message = fmt.Sprintf("Share should call independent once, but called it %d times.", len(made))
		return []verdict.Finding{c.At(made[1].From, f)}
	}
	if c.W.quiet {
		return nil // it enqueues nothing that would show where and when
	}
	at := made[0].From // its launch
	if r := c.Record(at); r.Stream != c.Stream(0) {
		f.Rule = "wrong-stream"
		f.Message = fmt.Sprintf("Share should call independent with stream a, but called it with %s.", c.streamName(r.Stream))
		f.Why = "The caller's work belongs in a; in another stream nothing orders it with the rest of a's work."
		f.Fix = "Call independent(a)."
		return []verdict.Finding{c.At(at, f)}
	}
	if last := c.LastInto(sumKernels.Sum, 0); last > at {
		f.Rule = "independent-too-early"
		f.Message = "Share should call independent once all of b's work is enqueued, but called it before that."
		f.Why = "What is enqueued first can begin first: while the host is busy enqueuing the independent work, b has " +
			"nothing to do."
		f = c.At(at, f)
		c.relate(&f, last, "the checksum is enqueued only here")
		return []verdict.Finding{f}
	}
	if wait := c.heldBack(c.inStreams()[c.Stream(1)], at); wait >= 0 {
		f.Rule = "overlap-lost"
		f.Message = "The work of independent should run beside that of b, but here stream a is made to wait for b before " +
			"independent is called."
		f.Why = "A stream that waits for an event holds back all that is enqueued in it later, whether that needs the wait " +
			"or not."
		f.Fix = "Call independent(a) first; a has to wait for b only before it frees the buffer."
		f = c.At(wait, f)
		c.relate(&f, at, "the work of independent is enqueued only here, after that wait")
		return []verdict.Finding{f}
	}
	return nil
}

// heldBack is the call by which record at has to wait for some records; -1 if it need not.
func (c call) heldBack(records []int, at int) int {
	for _, i := range records {
		if wait := c.HeldBack(i, at); i < at && wait >= 0 {
			return wait
		}
	}
	return -1
}

// inStreams are the call's records by their stream.
func (c call) inStreams() map[trace.ID][]int {
	records := map[trace.ID][]int{}
	for _, at := range c.All(func(*trace.Record) bool { return true }) {
		records[c.Record(at).Stream] = append(records[c.Record(at).Stream], at)
	}
	return records
}

// judgeConsumers looks for checksums that come after another consumer's work.
func (c call) judgeConsumers() []verdict.Finding {
	var found []verdict.Finding
	records := c.inStreams()
	for i := range c.W.consumers {
		at := c.LastInto(sumKernels.Sum, i)
		if at < 0 {
			continue
		}
		for j := range c.W.consumers {
			wait := c.heldBack(records[c.Stream(1+j)], at)
			if wait < 0 {
				continue
			}
			f := c.At(wait, verdict.Finding{
				Rule: "overlap-lost",
				Message: fmt.Sprintf("The checksum in %s should not have to wait for the work of %s, but this call makes it wait.",
					c.W.streamName(1+i), c.W.streamName(1+j)),
				Why: "A stream that waits for an event also waits for all that the event's stream had waited for.",
				Fix: "Make each consumer wait for one event only, recorded in source right after fill and before source " +
					"waits for any consumer.",
			})
			c.relate(&f, at, "this checksum is held back")
			found = append(found, f)
		}
	}
	return found
}
