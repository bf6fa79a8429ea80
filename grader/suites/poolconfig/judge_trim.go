package poolconfig

import (
	"fmt"

	"cudalab/grader/suite"
	"cudalab/native/trace"
)

func judgeTrim(e *suite.Evidence) suite.Answer {
	a := judged(e, false, func(c *call) []suite.Finding {
		if !c.whole() || c.pool == 0 {
			return nil
		}
		last, trimmed := lastFree(c.blocks), -1
		for _, at := range c.find(trace.OpMemPoolTrimTo) {
			r := c.Record(at)
			switch {
			case r.Pool != c.pool:
				return []suite.Finding{c.trimmed(at, "wrong-trim", "Run's own pool should be trimmed, but this is another one")}
			case at < last:
				return []suite.Finding{c.trimmed(at, "trimmed-early", "the pool should be trimmed after the last round, but here "+
					"blocks of it are still to be freed")}
			case r.Value != c.w.config.TrimTo:
				return []suite.Finding{c.trimmed(at, "wrong-trim", fmt.Sprintf("the pool should be trimmed to %s, but here it is "+
					"trimmed to %s", bytesName(c.w.config.TrimTo), bytesName(r.Value)))}
			}
			trimmed = at
		}
		if trimmed < 0 {
			return []suite.Finding{c.trimmed(-1, "not-trimmed", "the pool should be trimmed to "+bytesName(c.w.config.TrimTo)+
				" after the last round, but nothing trims it")}
		}
		found := c.compare("PoolReport.Trimmed", c.report.Trimmed, trimmed, c.To)
		// A pool gives back in steps: up to one of them may stay above what it was trimmed to.
		s := c.report.Trimmed
		if len(found) == 0 && s.Reserved > max(c.w.config.TrimTo, s.Used)+c.growth().step {
			found = append(found, c.trimmed(trimmed, "kept", fmt.Sprintf("the pool should give back what it holds above %s, but "+
				"it keeps %s", bytesName(c.w.config.TrimTo), bytesName(s.Reserved))))
		}
		return found
	})
	a.Message = "What the pool held in reserve went back after the last round."
	return a
}

func (c *call) trimmed(at int, rule, what string) suite.Finding {
	return c.At(at, suite.Finding{
		Rule:    rule,
		Message: fmt.Sprintf("With %s, %s.", c.w.label, what),
		Why: "What a pool keeps, nobody else on the device can have; a trim gives back what is not in use, whatever the " +
			"threshold says.",
		Fix: "Call cuda.MemPoolTrimTo(pool, int64(config.TrimTo)) once, when the last round is over and the host has waited " +
			"for it.",
	})
}
