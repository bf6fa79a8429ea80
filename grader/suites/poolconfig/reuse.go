package poolconfig

import (
	"fmt"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
)

func judgeReuse(e *suite.Evidence) suite.Answer {
	reused, blocks := 0, 0
	a := good.Judge(e, "", each(func(c *call) []verdict.Finding {
		reused, blocks = reused+c.report.Reused, blocks+len(c.blocks)
		if len(c.blocks) != c.due() {
			return nil
		}
		return append(c.miscounted(), c.growing()...)
	}))
	a.Message = fmt.Sprintf("%d of %d allocations were served from what the pool held.", reused, blocks)
	return a
}

// growth is what became of the pool's reserved memory as the blocks were allocated, as the device has it: from what Run
// asked the pool it would follow in some programs, and in others, as right, not.
type growth struct {
	reused int    // how many allocations did not raise it
	step   uint64 // the largest rise
	blind  int    // record of the first allocation behind which Run did not ask; -1 if there is none
}

func (c *call) growth() growth {
	g := growth{blind: -1}
	for i, b := range c.blocks {
		rise, next := uint64(0), c.To
		if r := c.Record(b.Made); r.Pool == c.pool { // a block of another pool is told of elsewhere
			rise = r.Value
		}
		if i+1 < len(c.blocks) {
			next = c.blocks[i+1].Made
		}
		if g.step = max(g.step, rise); rise == 0 {
			g.reused++
		}
		asked := len(c.asked(device.PoolReservedMemCurrent, b.Made, next)) + len(c.asked(device.PoolReservedMemHigh, b.Made,
			next))
		if asked == 0 && g.blind < 0 {
			g.blind = b.Made
		}
	}
	return g
}

func (c *call) miscounted() []verdict.Finding {
	g, is := c.growth(), c.report.Reused
	rule := suite.Rule{ID: "wrong-reuse",
		Why: "An allocation that fits into what the pool holds costs under a microsecond; one that makes it grow costs a " +
			"hundred times that.",
		Fix: "Ask for cuda.MemPoolAttrReservedMemCurrent before and after each allocation, and count those after which it " +
			"is the same."}
	switch {
	case g.blind >= 0:
		rule.ID = "reuse-unknown"
		return []verdict.Finding{c.Finding(g.blind, rule, "PoolReport.Reused should follow from what the pool answers, but "+
			"behind this allocation, before the next one, it is not asked how much it has reserved: whether this one raised "+
			"it, Run cannot know.")}
	case is != g.reused:
		f := c.Finding(-1, rule, "PoolReport.Reused should be %d, but it is %d: of %s %d did not raise "+
			"the pool's reserved memory.", g.reused, is, verdict.Count(len(c.blocks), "allocation", "allocations"), g.reused)
		f.Look.Field = "Reused"
		return []verdict.Finding{f}
	}
	return nil
}

// growing finds a pool that goes on growing from round to round, though each round brings the same load and nothing is
// given back in between.
func (c *call) growing() []verdict.Finding {
	rounds := c.report.Rounds
	if c.W.config.Threshold != keepAll || len(rounds) != c.W.config.Rounds {
		return nil
	}
	first, last := rounds[0].Reserved, rounds[len(rounds)-1].Reserved
	if last <= first+c.growth().step {
		return nil
	}
	return []verdict.Finding{c.Finding(-1, suite.Rule{ID: "pool-grows",
		Why: "A pool hands out again what has been freed; it grows only when too little of that is free.",
		Fix: "Free every block of a round, and wait for all streams, before the next round allocates."},
		"each round should find its memory in the pool, but the pool grew from %s after the first round to %s after "+
			"the last.",
		bytesName(first), bytesName(last))}
}
