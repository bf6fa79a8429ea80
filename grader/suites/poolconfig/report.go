package poolconfig

import (
	"fmt"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// sampled are the three numbers of a Sample.
var sampled = []struct {
	attr  device.PoolAttr
	field string
	name  string // as the student writes it
	value func(contract.Sample) uint64
}{
	{device.PoolReservedMemCurrent, "Reserved", "cuda.MemPoolAttrReservedMemCurrent",
		func(s contract.Sample) uint64 { return s.Reserved }},
	{device.PoolUsedMemCurrent, "Used", "cuda.MemPoolAttrUsedMemCurrent",
		func(s contract.Sample) uint64 { return s.Used }},
	{device.PoolUsedMemHigh, "UsedHigh", "cuda.MemPoolAttrUsedMemHigh",
		func(s contract.Sample) uint64 { return s.UsedHigh }},
}

// sampledEarly finds rounds of which a number was asked for only while their work was still pending.
func sampledEarly(e *suite.Evidence) []verdict.Finding {
	return good.Judge(e, "", whole(func(c *call) (found []verdict.Finding) {
		for i := range c.W.config.Rounds {
			found = append(found, c.early(i)...)
		}
		return found
	})).Findings
}

func (c *call) early(i int) []verdict.Finding {
	for _, s := range sampled {
		from, free, to := c.span(i)
		if s.attr == device.PoolReservedMemCurrent {
			from = free // it is asked for while allocating, too
		}
		asked := c.asked(s.attr, from, to)
		if len(asked) > 0 && !slices.ContainsFunc(asked, func(r read) bool { return r.settled && r.at > free }) {
			return []verdict.Finding{c.Finding(asked[len(asked)-1].at, suite.Rule{ID: "sampled-early",
				Why: "A pool gives memory back when the host waits for the device, so before that its numbers still change.",
				Fix: "Free the blocks, call cuda.StreamSynchronize for every stream, and ask then."},
				"a round should be sampled when its blocks are freed and all streams have been waited for, but here %s is asked "+
					"for while work is still pending.", s.name)}
		}
	}
	return nil
}

func judgeReport(e *suite.Evidence) suite.Answer {
	samples := 0
	a := good.Judge(e, "", each(func(c *call) []verdict.Finding {
		samples += len(c.report.Rounds)
		return c.samples()
	}))
	a.Message = fmt.Sprintf("%d samples are what the pool answered at the end of their rounds.", samples)
	return a
}

// samples judges those of the rounds.
func (c *call) samples() []verdict.Finding {
	n := len(c.report.Rounds)
	switch {
	case n != c.W.config.Rounds:
		f := c.Finding(-1, suite.Rule{ID: "sample-count",
			Why: "The samples side by side show whether the pool keeps its memory.",
			Fix: "Append one contract.Sample to report.Rounds at the end of every round."},
			"PoolReport.Rounds should have a sample for each round, but its length is %d.", n)
		f.Look.Field = "Rounds"
		return []verdict.Finding{f}
	case len(c.blocks) != c.due():
		return nil
	}
	return c.compareRounds()
}

// incomplete finds a call that did not go through all rounds, or whose report is not of them.
var incomplete = each(func(c *call) []verdict.Finding {
	if wrong := c.blockCount(); wrong != nil {
		return wrong
	}
	return slices.Concat(c.samples(), c.trim())
})

func (c *call) compareRounds() (found []verdict.Finding) {
	resets := c.sets(c.pool, device.PoolUsedMemHigh)
	for i, s := range c.report.Rounds {
		_, free, to := c.span(i)
		found = append(found, c.compare(fmt.Sprintf("PoolReport.Rounds[%d]", i), s, free, to)...)
		found = append(found, c.reset(i, resets)...)
	}
	return found
}

// compare holds a sample to the pool's answers in the records from from to to: to those of a pool at rest, where there
// are any. That it was asked too early is told with the order.
func (c *call) compare(name string, s contract.Sample, from, to int) (found []verdict.Finding) {
	for _, n := range sampled {
		answers, value := c.asked(n.attr, from, to), n.value(s)
		if slices.ContainsFunc(answers, func(r read) bool { return r.settled }) {
			answers = slices.DeleteFunc(answers, func(r read) bool { return !r.settled })
		}
		if slices.ContainsFunc(answers, func(r read) bool { return r.value == value }) {
			continue
		}
		if len(answers) == 0 {
			f := c.Finding(-1, suite.Rule{ID: "invented",
				Why: "How much a pool reserves is the driver's decision, and differs from device to device: only the pool knows.",
				Fix: "Call cuda.MemPoolGetAttribute(pool, " + n.name + ") at that moment and report what it answers."},
				"%s.%s should be what the pool answered at that time; it is %s, but nothing asked the pool for %s then.",
				name, n.field, bytesName(value), n.name)
			f.Look.Field = n.field
			found = append(found, f)
			continue
		}
		last := answers[len(answers)-1]
		found = append(found, c.Finding(last.at, suite.Rule{ID: "wrong-report",
			Why: "Reserved is all that the pool holds, Used what is allocated from it now, and UsedHigh the most that ever was.",
			Fix: "Put each answer into its own field of the sample that is taken at this moment."},
			"%s.%s should be %s, which %s answered here, but it is %s.", name, n.field, bytesName(last.value), n.name,
			bytesName(value)))
	}
	return found
}

// reset wants the mark for the most memory used to be reset between the end of the round before and the first block of
// round i. A new pool's mark is 0 as it is.
func (c *call) reset(i int, resets []int) []verdict.Finding {
	if i == 0 {
		return nil
	}
	from, to := lastFree(c.rounds()[i-1]), c.rounds()[i][0].Made
	if slices.ContainsFunc(resets, func(at int) bool { return from < at && at < to }) {
		return nil
	}
	return []verdict.Finding{c.Finding(to, suite.Rule{ID: "mark-not-reset",
		Why: "The mark only ever rises: without a reset it shows the peak of all rounds so far, not this round's.",
		Fix: "Call cuda.MemPoolSetAttribute(pool, cuda.MemPoolAttrUsedMemHigh, 0) before the round's first allocation."},
		"the mark for the most memory used (cuda.MemPoolAttrUsedMemHigh) should be reset before round %d begins here, but "+
			"nothing resets it.", i)}
}

// trim judges what became of the pool after the last round.
func (c *call) trim() []verdict.Finding {
	if c.pool == 0 {
		return nil
	}
	tell := func(at int, rule, format string, args ...any) []verdict.Finding {
		return []verdict.Finding{c.Finding(at, suite.Rule{ID: rule,
			Why: "What a pool keeps, nobody else on the device can have; a trim gives back what is not in use, whatever the " +
				"threshold says.",
			Fix: "Call cuda.MemPoolTrimTo(pool, int64(config.TrimTo)) once, when the last round is over and the host has " +
				"waited for it."},
			format, args...)}
	}
	want, trimmed := c.W.config.TrimTo, -1
	for _, at := range c.Find(trace.OpMemPoolTrimTo) {
		switch r := c.Record(at); {
		case r.Pool != c.pool:
			return tell(at, "wrong-trim", "Run's own pool should be trimmed, but this is another one.")
		case at < lastFree(c.blocks):
			return tell(at, "trimmed-early", "the pool should be trimmed after the last round, but here blocks of it are still "+
				"to be freed.")
		case r.Value != want:
			return tell(at, "wrong-trim", "the pool should be trimmed to %s, but here it is trimmed to %s.", bytesName(want),
				bytesName(r.Value))
		}
		trimmed = at
	}
	if trimmed < 0 {
		return tell(-1, "not-trimmed", "the pool should be trimmed to %s after the last round, but nothing trims it.",
			bytesName(want))
	}
	s := c.report.Trimmed
	found := c.compare("PoolReport.Trimmed", s, trimmed, c.To)
	// A pool gives back in steps: up to one of them may stay above what it was trimmed to.
	if len(found) == 0 && s.Reserved > max(want, s.Used)+c.growth().step {
		found = tell(trimmed, "kept", "the pool should give back what it holds above %s, but it keeps %s.", bytesName(want),
			bytesName(s.Reserved))
		if c.onlyAsked(lastFree(c.blocks), trimmed) {
			found[0].Why = "A query that answers nil tells the host that a stream is through, and the pool nothing: what was " +
				"freed in the stream it gives back only when a synchronisation has waited for it."
			found[0].Fix = "Wait with cuda.StreamSynchronize, and not by asking with a query, before you trim the pool."
		}
	}
	return found
}

// onlyAsked reports whether between two records streams were asked whether they are through, and not waited for.
func (c *call) onlyAsked(from, to int) bool {
	between := func(ops ...trace.Op) bool {
		return slices.ContainsFunc(ops, func(op trace.Op) bool {
			return slices.ContainsFunc(c.Find(op), func(at int) bool { return from < at && at < to })
		})
	}
	return between(trace.OpStreamQuery, trace.OpEventQuery) &&
		!between(trace.OpStreamSynchronize, trace.OpEventSynchronize, trace.OpDeviceSynchronize)
}
