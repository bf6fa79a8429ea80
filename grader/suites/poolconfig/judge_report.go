package poolconfig

import (
	"fmt"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/native/device"
	"cudalab/native/trace"
)

func judgeReport(e *suite.Evidence) suite.Answer {
	samples := 0
	a := judged(e, false, func(c *call) []suite.Finding {
		samples += len(c.report.Rounds)
		if len(c.report.Rounds) != c.w.config.Rounds {
			return []suite.Finding{c.At(-1, suite.Finding{
				Rule: "sample-count",
				Message: fmt.Sprintf("With %s, PoolReport.Rounds should have a sample for each round, but its length is %d.", c.w.label,
					len(c.report.Rounds)),
				Why: "The samples side by side show whether the pool keeps its memory.",
				Fix: "Append one contract.Sample to report.Rounds at the end of every round.",
			})}
		}
		if !c.whole() {
			return nil
		}
		var found []suite.Finding
		for i, s := range c.report.Rounds {
			from, to := c.span(i)
			found = append(found, c.compare(fmt.Sprintf("PoolReport.Rounds[%d]", i), s, max(from, lastFree(c.rounds()[i])), to)...)
			found = append(found, c.reset(i)...)
		}
		return found
	})
	a.Message = fmt.Sprintf("%d samples are what the pool answered at the end of their rounds.", samples)
	return a
}

// compare holds a sample to the pool's answers in the records from from to to: to those of a pool at rest, where there
// are any.
func (c *call) compare(name string, s contract.Sample, from, to int) []suite.Finding {
	var found []suite.Finding
	for i, value := range []uint64{s.Reserved, s.Used, s.UsedHigh} {
		var atRest, others []read
		for _, r := range c.reads {
			switch {
			case r.attr != sampled[i].attr || r.at < from || r.at >= to:
			case r.settled:
				atRest = append(atRest, r)
			default:
				others = append(others, r)
			}
		}
		answers := atRest
		if len(answers) == 0 {
			answers = others // asked for too early, which another check tells
		}
		if slices.ContainsFunc(answers, func(r read) bool { return r.value == value }) {
			continue
		}
		f := suite.Finding{
			Rule: "invented",
			Message: fmt.Sprintf("With %s, %s.%s should be what the pool answered at that time; it is %s, but nothing asked the pool "+
				"for %s then.", c.w.label, name, sampled[i].field, bytesName(value), sampled[i].name),
			Why: "How much a pool reserves is the driver's decision, and differs from device to device: only the pool knows.",
			Fix: "Call cuda.MemPoolGetAttribute(pool, " + sampled[i].name + ") at that moment and report what it answers.",
		}
		at := -1
		if n := len(answers); n > 0 {
			at = answers[n-1].at
			f.Rule = "wrong-report"
			f.Message = fmt.Sprintf("With %s, %s.%s should be %s, which %s answered here, but it is %s.", c.w.label, name,
				sampled[i].field, bytesName(answers[n-1].value), sampled[i].name, bytesName(value))
			f.Why = "Reserved is all that the pool holds, Used what is allocated from it now, and UsedHigh the most that ever was."
			f.Fix = "Put each answer into its own field of the sample that is taken at this moment."
		}
		found = append(found, c.At(at, f))
	}
	return found
}

// reset wants the mark for the most memory used to be reset between the end of the round before and the first block of
// round i. A new pool's mark is 0 as it is.
func (c *call) reset(i int) []suite.Finding {
	if i == 0 {
		return nil
	}
	rounds := c.rounds()
	from, to := lastFree(rounds[i-1]), rounds[i][0].made
	for _, at := range c.find(trace.OpMemPoolSetAttribute) {
		r := c.Record(at)
		if from < at && at < to && r.Pool == c.pool && device.PoolAttr(r.Attr) == device.PoolUsedMemHigh {
			return nil
		}
	}
	return []suite.Finding{c.At(to, suite.Finding{
		Rule: "mark-not-reset",
		Message: fmt.Sprintf("With %s, the mark for the most memory used (cuda.MemPoolAttrUsedMemHigh) should be reset before round %d "+
			"begins here, but nothing resets it.", c.w.label, i),
		Why: "The mark only ever rises: without a reset it shows the peak of all rounds so far, not this round's.",
		Fix: "Call cuda.MemPoolSetAttribute(pool, cuda.MemPoolAttrUsedMemHigh, 0) before the round's first allocation.",
	})}
}
