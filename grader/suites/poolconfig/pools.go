package poolconfig

import (
	"fmt"
	"maps"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// pools judges where a call has its memory from, and what it has done to pools that are not its own.
func pools(m *suite.Made[workload]) []verdict.Finding {
	c := follow(m)
	switch {
	case m.Outcome.Gap != "" && c.pool != 0:
		return slices.Concat(c.otherPools(), c.threshold())
	case !m.Outcome.OK():
		return []verdict.Finding{m.UnexpectedError("Run")}
	}
	return slices.Concat(c.otherPools(), c.threshold(), c.changedPools())
}

// otherPools finds blocks that are not from Run's one pool, and further pools.
func (c *call) otherPools() (found []verdict.Finding) {
	const fix = "Make one pool with cuda.MemPoolCreate, and allocate every block with cuda.MallocFromPoolAsync(size, " +
		"pool, stream)."
	if c.pool == 0 && len(c.blocks) == 0 {
		found = append(found, c.Finding(-1, suite.Rule{ID: "no-pool", Fix: fix +
			" Do so in every call, whatever an earlier one has reported.",
			Why: "What a pool reserves and reuses can only be learnt from a pool at work."},
			"Run should make a pool and allocate from it, but it did neither."))
	}
	for i, at := range c.Find(trace.OpMemPoolCreate) {
		if i > 0 {
			found = append(found, c.Finding(at, suite.Rule{ID: "several-pools",
				Why: "Memory that one pool holds in reserve is of no use to another.",
				Fix: "Make the pool once, before the first round, and share it between all rounds and streams."},
				"Run should make one pool, but it makes another one here."))
		}
	}
	for _, b := range c.blocks {
		what := "another pool than the one that Run has made"
		switch {
		case c.pool != 0 && b.Pool == c.pool:
			continue
		case !b.Pooled:
			what = "no pool at all"
		case b.Pool == c.before.defaultPool:
			what = "the device's default pool"
		case b.Pool == c.before.current:
			what = "the device's current pool, which the caller has set"
		}
		found = append(found, c.Finding(b.Made, suite.Rule{ID: "wrong-pool", Fix: fix,
			Why: "cuda.MallocAsync takes from the device's current pool and cuda.Malloc from none; only a pool of one's " +
				"own has one's own settings."},
			"every block should come from Run's own pool, but %s took one from %s.", suite.CallName(c.Record(b.Made)), what))
	}
	return found
}

// threshold finds the first block allocated while the pool's threshold was not what it should be.
func (c *call) threshold() []verdict.Finding {
	rule := suite.Rule{ID: "threshold",
		Why: "What a pool gives back at a synchronisation, it gives back by the threshold of that moment; a new pool's is " +
			"0, and it keeps nothing.",
		Fix: "Call cuda.MemPoolSetAttribute(pool, cuda.MemPoolAttrReleaseThreshold, config.Threshold) right after " +
			"cuda.MemPoolCreate."}
	want, sets := c.W.config.Threshold, c.sets(c.pool, device.PoolReleaseThreshold)
	if last := len(sets) - 1; len(c.blocks) == 0 && last >= 0 && c.Record(sets[last]).Value != want {
		return []verdict.Finding{c.Finding(sets[last], rule,
			"the pool's release threshold should be %s, but here it is set to %s.", bytesName(want),
			bytesName(c.Record(sets[last]).Value))}
	}
	for _, b := range c.blocks {
		if c.pool == 0 || b.Pool != c.pool {
			continue
		}
		n, _ := slices.BinarySearch(sets, b.Made) // how often it was set before
		set, now := -1, uint64(0)
		if n > 0 {
			set, now = sets[n-1], c.Record(sets[n-1]).Value
		}
		var f verdict.Finding
		switch {
		case now == want:
			continue
		case n < len(sets) && c.Record(sets[n]).Value == want:
			rule.ID = "late-threshold"
			f = c.Finding(sets[n], rule, "the pool's release threshold should be set before the first block is allocated, but "+
				"it is set only here.")
		case n > 0:
			f = c.Finding(set, rule, "the pool's release threshold should be %s, but here it is set to %s.", bytesName(want),
				bytesName(now))
		default:
			f = c.Finding(c.Find(trace.OpMemPoolCreate)[0], rule,
				"the release threshold of the pool that is made here should be %s, but nothing sets it.", bytesName(want))
		}
		return []verdict.Finding{f}
	}
	return nil
}

// changedPools compares the device's pools with what Run found.
func (c *call) changedPools() (found []verdict.Finding) {
	last := func(records []int) int { return append([]int{-1}, records...)[len(records)] }
	if c.before.current != c.after.current {
		at := last(c.Find(trace.OpDeviceSetMemPool))
		if at < 0 {
			at = last(c.Find(trace.OpMemPoolDestroy))
		}
		found = append(found, c.Finding(at, suite.Rule{ID: "current-pool-changed",
			Why: "cuda.MallocAsync takes from the current pool, so whoever else uses the device now gets memory from " +
				"somewhere else.",
			Fix: "Leave cuda.DeviceSetMemPool out, or ask cuda.DeviceGetMemPool first and set that pool again on every " +
				"way out."},
			"the device's current pool should be the one that Run found, but afterwards it is another one."))
	}
	for _, attr := range slices.Sorted(maps.Keys(c.before.attributes)) {
		was, is := c.before.attributes[attr], c.after.attributes[attr]
		if is == was {
			continue
		}
		found = append(found, c.Finding(last(c.sets(c.before.defaultPool, attr)), suite.Rule{ID: "default-pool-changed",
			Why: "The default pool belongs to the whole process: libraries allocate from it too.",
			Fix: "Set attributes on the pool that cuda.MemPoolCreate has returned."},
			"the device's default pool should be as Run found it, but here one of its attributes is changed from %d to %d.", was,
			is))
	}
	return found
}

// poolsAfterFaults finds failing calls after which the device's pools were not as Run had found them. What goes wrong
// without any failure would only be told again for each.
func poolsAfterFaults(e *suite.Evidence) (found []verdict.Finding) {
	changed := func(m suite.Made[workload]) bool { return len(follow(&m).changedPools()) > 0 }
	if !e.Own() || verdict.HasError(e.Of(verdict.EndRules, good.IDs()...)) || good.Incomplete(e) != "" ||
		slices.ContainsFunc(good.Made(e), changed) {
		return nil
	}
	all, notes := faults.Made(e), e.Cases[faults.ID]
	for _, run := range suite.FaultRuns(notes) {
		c := follow(&all[run.Index])
		if run.Op == trace.OpDeviceSetMemPool ||
			run.Op == trace.OpMemPoolSetAttribute && c.Record(run.Failed).Pool == c.before.defaultPool {
			continue // it may be the very call that was to put them back
		}
		for _, f := range c.changedPools() {
			f.Message = fmt.Sprintf("%s. When Run had returned, the device's pools should have been as it had found them, but "+
				"were not.", run.What)
			found = append(found, e.Because(f, notes, run))
		}
	}
	return found
}
