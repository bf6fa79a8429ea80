package poolconfig

import (
	"fmt"

	"cudalab/grader/suite"
	"cudalab/native/device"
)

func judgeReuse(e *suite.Evidence) suite.Answer {
	reused, blocks := 0, 0
	a := judged(e, false, func(c *call) []suite.Finding {
		reused += c.report.Reused
		blocks += len(c.blocks)
		if !c.whole() {
			return nil
		}
		return append(c.miscountedReuse(), c.growing()...)
	})
	a.Message = fmt.Sprintf("%d of %d allocations were served from what the pool held.", reused, blocks)
	return a
}

// growth is what the pool's answers about its reserved memory say of the allocations between them.
type growth struct {
	least, most int    // how many allocations did not raise it; the same where every one can be told
	step        uint64 // the largest rise between two answers
	blind       int    // record of the first allocation that cannot be told from its neighbours; -1 if there is none
}

func (c *call) growth() growth {
	g := growth{blind: -1}
	held, next := uint64(0), 0 // a new pool has nothing reserved
	for _, r := range c.reads {
		if r.attr != device.PoolReservedMemCurrent {
			continue
		}
		first := next
		for next < len(c.blocks) && c.blocks[next].made < r.at {
			next++
		}
		n := next - first // allocations since the answer before
		switch {
		case r.value == held:
			g.least, g.most = g.least+n, g.most+n
		case r.value > held && n == 1: // this one raised it
		case n > 0:
			g.most += n
			if r.value > held {
				g.most-- // one of them did
			}
			g.unseen(c.blocks[first].made)
		}
		if r.value > held {
			g.step = max(g.step, r.value-held)
		}
		held = r.value
	}
	if next < len(c.blocks) {
		g.most += len(c.blocks) - next
		g.unseen(c.blocks[next].made)
	}
	return g
}

func (g *growth) unseen(at int) {
	if g.blind < 0 {
		g.blind = at
	}
}

func (c *call) miscountedReuse() []suite.Finding {
	g := c.growth()
	f := suite.Finding{
		Rule: "wrong-reuse",
		Message: fmt.Sprintf("With %s, PoolReport.Reused should be %d, because so many of %s did not raise the pool's reserved memory, "+
			"but it is %d.", c.w.label, g.least, suite.Count(len(c.blocks), "allocation", "allocations"), c.report.Reused),
		Why: "An allocation that fits into what the pool holds costs under a microsecond; one that makes it grow costs a hundred " +
			"times that.",
		Fix: "Ask for cuda.MemPoolAttrReservedMemCurrent before and after each allocation, and count those after which it is the " +
			"same.",
	}
	switch {
	case g.blind >= 0:
		f.Rule = "reuse-unknown"
		f.Message = fmt.Sprintf("With %s, PoolReport.Reused should follow from what the pool answers, but it was not asked between all "+
			"allocations: it is %d, and anything from %d to %d fits the answers.", c.w.label, c.report.Reused, g.least, g.most)
		return []suite.Finding{c.At(g.blind, f)}
	case c.report.Reused == g.least:
		return nil
	}
	return []suite.Finding{c.At(-1, f)}
}

// growing finds a pool that goes on growing from round to round, though each round brings the same load and nothing is
// given back in between.
func (c *call) growing() []suite.Finding {
	rounds := c.report.Rounds
	if c.w.config.Threshold != keepAll || len(rounds) != c.w.config.Rounds {
		return nil
	}
	first, last := rounds[0].Reserved, rounds[len(rounds)-1].Reserved
	if last <= first+c.growth().step {
		return nil
	}
	return []suite.Finding{c.At(-1, suite.Finding{
		Rule: "pool-grows",
		Message: fmt.Sprintf("With %s, each round should find its memory in the pool, but the pool grew from %s after the first "+
			"round to %s after the last.", c.w.label, bytesName(first), bytesName(last)),
		Why: "A pool hands out again what has been freed; it grows only when too little of that is free.",
		Fix: "Free every block of a round, and wait for all streams, before the next round allocates.",
	})}
}
