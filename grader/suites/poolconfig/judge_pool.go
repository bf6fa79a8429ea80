package poolconfig

import (
	"fmt"
	"maps"
	"slices"

	"cudalab/grader/suite"
	"cudalab/native/device"
	"cudalab/native/trace"
)

func judgePool(e *suite.Evidence) suite.Answer {
	a := judged(e, true, func(c *call) []suite.Finding {
		return slices.Concat(c.otherPools(), c.threshold(), c.changedPools())
	})
	a.Message = "One pool of its own with its threshold set in time; the device's own pools are as they were."
	return a
}

// otherPools finds blocks that are not from Run's one pool, and further pools.
func (c *call) otherPools() []suite.Finding {
	const fix = "Make one pool with cuda.MemPoolCreate, and allocate every block with cuda.MallocFromPoolAsync(size, pool, stream)."
	var found []suite.Finding
	if c.pool == 0 && len(c.blocks) == 0 {
		found = append(found, c.At(-1, suite.Finding{
			Rule:    "no-pool",
			Message: fmt.Sprintf("With %s, Run should make a pool and allocate from it, but it did neither.", c.w.label),
			Why:     "What a pool reserves and reuses can only be learnt from a pool at work.",
			Fix:     fix,
		}))
	}
	for i, at := range c.find(trace.OpMemPoolCreate) {
		if i > 0 {
			found = append(found, c.At(at, suite.Finding{
				Rule:    "several-pools",
				Message: fmt.Sprintf("With %s, Run should make one pool, but it makes another one here.", c.w.label),
				Why:     "Memory that one pool holds in reserve is of no use to another.",
				Fix:     "Make the pool once, before the first round, and share it between all rounds and streams.",
			}))
		}
	}
	for _, b := range c.blocks {
		if c.pool != 0 && b.pool == c.pool {
			continue
		}
		what := "another pool than the one that Run has made"
		switch {
		case !b.pooled:
			what = "no pool at all"
		case b.pool == c.before.defaultPool:
			what = "the device's default pool"
		case b.pool == c.before.current:
			what = "the device's current pool, which the caller has set"
		}
		found = append(found, c.At(b.made, suite.Finding{
			Rule: "wrong-pool",
			Message: fmt.Sprintf("With %s, every block should come from Run's own pool, but %s took one from %s.", c.w.label,
				suite.CallName(c.Record(b.made)), what),
			Why: "cuda.MallocAsync takes from the device's current pool and cuda.Malloc from none; only a pool of one's own has " +
				"one's own settings.",
			Fix: fix,
		}))
	}
	return found
}

// threshold finds allocations made while the pool's threshold was not what it should be.
func (c *call) threshold() []suite.Finding {
	if c.pool == 0 {
		return nil
	}
	now, want := uint64(0), c.w.config.Threshold
	// Records: the first block under a wrong threshold, the last setting before and the first after it, the pool's making.
	wrong, set, later, first := -1, -1, -1, -1
	c.Records(func(at int, r *trace.Record) bool {
		switch {
		case r.Code != 0:
		case r.Op == trace.OpMemPoolCreate && first < 0:
			first = at
		case r.Op == trace.OpMemPoolSetAttribute && r.Pool == c.pool && device.PoolAttr(r.Attr) == device.PoolReleaseThreshold:
			if now = r.Value; wrong < 0 {
				set = at
			} else if later < 0 {
				later = at
			}
		case wrong < 0 && now != want && slices.ContainsFunc(c.blocks, func(b block) bool { return b.made == at && b.pool == c.pool }):
			wrong = at
		}
		return true
	})
	if wrong < 0 {
		return nil
	}
	f := suite.Finding{
		Rule: "threshold",
		Why: "What a pool gives back at a synchronisation, it gives back by the threshold of that moment; a new pool's is 0, " +
			"and it keeps nothing.",
		Fix: "Call cuda.MemPoolSetAttribute(pool, cuda.MemPoolAttrReleaseThreshold, config.Threshold) right after cuda.MemPoolCreate.",
	}
	switch {
	case later >= 0 && c.Record(later).Value == want:
		f.Rule = "late-threshold"
		f.Message = fmt.Sprintf("With %s, the pool's release threshold should be set before the first block is allocated, but it "+
			"is set only here.", c.w.label)
		return []suite.Finding{c.At(later, f)}
	case set >= 0:
		f.Message = fmt.Sprintf("With %s, the pool's release threshold should be %s, but here it is set to %s.", c.w.label,
			bytesName(want), bytesName(c.Record(set).Value))
		return []suite.Finding{c.At(set, f)}
	}
	f.Message = fmt.Sprintf("With %s, the release threshold of the pool that is made here should be %s, but nothing sets it.",
		c.w.label, bytesName(want))
	return []suite.Finding{c.At(first, f)}
}

// changedPools compares the device's pools with what Run found.
func (c *call) changedPools() []suite.Finding {
	var found []suite.Finding
	if c.before.current != c.after.current {
		at := c.last(func(r *trace.Record) bool { return r.Op == trace.OpDeviceSetMemPool })
		if at < 0 {
			at = c.last(func(r *trace.Record) bool { return r.Op == trace.OpMemPoolDestroy })
		}
		found = append(found, c.At(at, suite.Finding{
			Rule: "current-pool-changed",
			Message: fmt.Sprintf("With %s, the device's current pool should be the one that Run found, but afterwards it is another one.",
				c.w.label),
			Why: "cuda.MallocAsync takes from the current pool, so whoever else uses the device now gets memory from somewhere else.",
			Fix: "Leave cuda.DeviceSetMemPool out, or ask cuda.DeviceGetMemPool first and set that pool again on every way out.",
		}))
	}
	for _, attr := range slices.Sorted(maps.Keys(c.before.attributes)) {
		was := c.before.attributes[attr]
		if c.after.attributes[attr] == was {
			continue
		}
		at := c.last(func(r *trace.Record) bool {
			return r.Op == trace.OpMemPoolSetAttribute && device.PoolAttr(r.Attr) == attr && r.Pool == c.before.defaultPool
		})
		found = append(found, c.At(at, suite.Finding{
			Rule: "default-pool-changed",
			Message: fmt.Sprintf("With %s, the device's default pool should be as Run found it, but here one of its attributes is "+
				"changed from %d to %d.", c.w.label, was, c.after.attributes[attr]),
			Why: "The default pool belongs to the whole process: libraries allocate from it too.",
			Fix: "Set attributes on the pool that cuda.MemPoolCreate has returned.",
		}))
	}
	return found
}

// last is the student's last successful call that matches; -1 if none does.
func (c *call) last(match func(*trace.Record) bool) int {
	last := -1
	c.Records(func(at int, r *trace.Record) bool {
		if r.Code == 0 && match(r) {
			last = at
		}
		return true
	})
	return last
}
