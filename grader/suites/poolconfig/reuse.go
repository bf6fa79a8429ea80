package poolconfig

import (
	"fmt"

	"cudalab/grader/suite"
	"cudalab/native/device"
)

func judgeReuse(e *suite.Evidence) suite.Answer {
	reused, blocks := 0, 0
	a := good.Judge(e, "", each(func(c *call) []suite.Finding {
		reused, blocks = reused+c.report.Reused, blocks+len(c.blocks)
		if len(c.blocks) != c.due() {
			return nil
		}
		return append(c.miscounted(), c.growing()...)
	}))
	a.Message = fmt.Sprintf("%d of %d allocations were served from what the pool held.", reused, blocks)
	return a
}

// growth is what the pool's answers about its reserved memory say of the allocations between them.
type growth struct {
	least, most int    // how many allocations did not raise it; the same where every one can be told
	step        uint64 // the largest rise between two answers
	ambiguous   int    // record of the first allocation that cannot be told from its neighbours; -1 if there is none
}

func (c *call) growth() growth {
	g := growth{ambiguous: -1}
	held, next := uint64(0), 0 // a new pool has nothing reserved
	unseen := func(n int) {
		if g.most += n; g.ambiguous < 0 {
			g.ambiguous = c.blocks[next].Made
		}
	}
	for _, r := range c.asked(device.PoolReservedMemCurrent, c.From, c.To) {
		n := 0 // allocations since the answer before
		for next+n < len(c.blocks) && c.blocks[next+n].Made < r.at {
			n++
		}
		switch {
		case r.value == held:
			g.least, g.most = g.least+n, g.most+n
		case r.value > held && n == 1: // this one raised it
		case r.value > held && n > 0: // one of them did
			unseen(n - 1)
		case n > 0:
			unseen(n)
		}
		if r.value > held {
			g.step = max(g.step, r.value-held)
		}
		held, next = r.value, next+n
	}
	if next < len(c.blocks) {
		unseen(len(c.blocks) - next)
	}
	return g
}

func (c *call) miscounted() []suite.Finding {
	g, is := c.growth(), c.report.Reused
	rule := suite.Rule{ID: "wrong-reuse",
		Why: "An allocation that fits into what the pool holds costs under a microsecond; one that makes it grow costs a hundred times that.",
		Fix: "Ask for cuda.MemPoolAttrReservedMemCurrent before and after each allocation, and count those after which it is the same."}
	switch {
	case g.ambiguous >= 0:
		rule.ID = "reuse-unknown"
		return []suite.Finding{c.Finding(g.ambiguous, rule, "PoolReport.Reused should follow from what the pool answers, but it was not asked "+
			"between all allocations: it is %d, and anything from %d to %d fits the answers.", is, g.least, g.most)}
	case is != g.least:
		return []suite.Finding{c.Finding(-1, rule, "PoolReport.Reused should be %d, because so many of %s did not raise the pool's reserved "+
			"memory, but it is %d.", g.least, suite.Count(len(c.blocks), "allocation", "allocations"), is)}
	}
	return nil
}

// growing finds a pool that goes on growing from round to round, though each round brings the same load and nothing is
// given back in between.
func (c *call) growing() []suite.Finding {
	rounds := c.report.Rounds
	if c.W.config.Threshold != keepAll || len(rounds) != c.W.config.Rounds {
		return nil
	}
	first, last := rounds[0].Reserved, rounds[len(rounds)-1].Reserved
	if last <= first+c.growth().step {
		return nil
	}
	return []suite.Finding{c.Finding(-1, suite.Rule{ID: "pool-grows",
		Why: "A pool hands out again what has been freed; it grows only when too little of that is free.",
		Fix: "Free every block of a round, and wait for all streams, before the next round allocates."},
		"each round should find its memory in the pool, but the pool grew from %s after the first round to %s after the last.",
		bytesName(first), bytesName(last))}
}
