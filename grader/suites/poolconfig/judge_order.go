package poolconfig

import (
	"fmt"

	"cudalab/grader/suite"
	"cudalab/native/device"
)

func judgeOrder(e *suite.Evidence) suite.Answer {
	a := judged(e, false, func(c *call) []suite.Finding {
		if !c.whole() {
			return nil
		}
		var found []suite.Finding
		for i := range c.w.config.Rounds {
			found = append(found, c.early(i)...)
		}
		return found
	})
	a.Findings = append(e.Of(suite.OrderRules, caseShapes, caseRandom), a.Findings...)
	if suite.HasError(a.Findings) {
		a.Skip = ""
	}
	a.Findings = append(a.Findings, e.Remarks(caseShapes, caseRandom)...)
	a.Message = "Every use is over before the free, and every sample shows a pool at rest."
	return a
}

// sampled are the three numbers of a Sample.
var sampled = []struct {
	attr  device.PoolAttr
	field string
	name  string // as the student writes it
}{
	{device.PoolReservedMemCurrent, "Reserved", "cuda.MemPoolAttrReservedMemCurrent"},
	{device.PoolUsedMemCurrent, "Used", "cuda.MemPoolAttrUsedMemCurrent"},
	{device.PoolUsedMemHigh, "UsedHigh", "cuda.MemPoolAttrUsedMemHigh"},
}

// early finds numbers of round i's sample that were asked for only while work of the round was still pending.
func (c *call) early(i int) []suite.Finding {
	from, to := c.span(i)
	free := lastFree(c.rounds()[i])
	for _, s := range sampled {
		asked, atRest := -1, false
		for _, r := range c.reads {
			if r.attr != s.attr || r.at < from || r.at >= to {
				continue
			}
			if r.settled && r.at > free {
				atRest = true
			} else if r.at > free || s.attr != device.PoolReservedMemCurrent {
				asked = r.at // reserved memory is asked for while allocating, too
			}
		}
		if asked >= 0 && !atRest {
			return []suite.Finding{c.At(asked, suite.Finding{
				Rule: "sampled-early",
				Message: fmt.Sprintf("With %s, a round should be sampled when its blocks are freed and all streams have been waited "+
					"for, but here %s is asked for while work is still pending.", c.w.label, s.name),
				Why: "A pool gives memory back when the host waits for the device, so before that its numbers still change.",
				Fix: "Free the blocks, call cuda.StreamSynchronize for every stream, and ask then.",
			})}
		}
	}
	return nil
}
