package ring

import (
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

const overlapLost = "overlap-lost"

// ahead finds fills that wait for a later digest than that of the item before them in their slot, and digests that wait
// for a later fill than that of their own item.
func ahead(m *suite.Made[workload]) []verdict.Finding {
	c := call{*m}
	if !m.Outcome.OK() || m.W.same {
		return nil
	}
	fills, digests := c.items()
	for i, fill := range fills {
		own := i - c.W.slots // the item before it in the slot
		late := c.lastAhead(digests, max(own+1, 0), fill)
		if late < 0 {
			continue
		}
		at := c.HeldBack(digests[late], fill)
		rule := suite.Rule{ID: overlapLost,
			Why: "A wait is for all that stood ahead of the record, however little of it is needed.",
			Fix: "Record an event in consumer right behind each digest, keep one for each slot, and have the fill wait " +
				"for its own slot's."}
		if own < 0 {
			return []verdict.Finding{c.Finding(at, rule, "the fill of item %d is the first of its slot and should wait for no "+
				"digest, but this call makes it wait for that of item %d.", i, late)}
		}
		return []verdict.Finding{c.Finding(at, rule, "the fill of item %d should wait for the digest of item %d, whose slot "+
			"it takes, but this call makes it wait for that of item %d.", i, own, late)}
	}
	for i, digest := range digests {
		if i+1 >= len(fills) {
			break
		}
		if late := c.lastAhead(fills, i+1, digest); late >= 0 {
			return []verdict.Finding{c.Finding(c.HeldBack(fills[late], digest), suite.Rule{ID: overlapLost,
				Why: "A wait is for all that stood ahead of the record, however little of it is needed.",
				Fix: "Record an event in producer right behind the fill of each item, and have the digest wait for its own " +
					"item's."},
				"the digest of item %d should wait for the fill of item %d alone, but this call makes it wait for that of item %d.",
				i, i, late)}
		}
	}
	return nil
}

// lastAhead is the last of some launches, from one on, that another waits for; -1: none.
func (c call) lastAhead(launches []int, from, another int) int {
	for j := len(launches) - 1; j >= from; j-- {
		if c.HeldBack(launches[j], another) >= 0 {
			return j
		}
	}
	return -1
}

// items are the fills and digests of a call by item; nil where they are not one of each for every item, in its own
// slot.
func (c call) items() (fills, digests []int) {
	bySlot := c.fills()
	for i := range c.W.items {
		slot, lap := i%c.W.slots, i/c.W.slots
		digest := c.LastInto(digestKernel, i)
		if lap >= len(bySlot[slot]) || digest < 0 || c.slot(c.Record(digest)) != slot {
			return nil, nil
		}
		fills, digests = append(fills, bySlot[slot][lap]), append(digests, digest)
	}
	return fills, digests
}

// events finds the first event that is too many.
func events(m *suite.Made[workload]) []verdict.Finding {
	made, most := m.Find(trace.OpEventCreate), 2*m.W.slots
	if len(made) <= most {
		return nil
	}
	return []verdict.Finding{m.Finding(made[most], suite.Rule{ID: "too-many-events",
		Why: "An event may be recorded again for the next item: who waits already goes on waiting for what it stood for at " +
			"the call.",
		Fix: "Create the events before the first item, two for each slot at most, and use them again in every lap.",
	}, "Run should create %d events at most, two for each slot, but creates %d.", most, len(made))}
}

// handedBack finds digests that work which comes next in producer does not come after, be it a second call's or the
// caller's own, and also where a call has failed.
func handedBack(e *suite.Evidence) (found []verdict.Finding) {
	for _, m := range again.Made(e) {
		c := call{m}
		if !m.Outcome.OK() {
			return []verdict.Finding{m.UnexpectedError("Run")}
		}
		if first := c.LastInto(digestKernel, c.W.items-1); first >= 0 {
			found = append(found, c.takenTooEarly(c.From, first, c.laterFills(first, c.To))...)
		}
		found = append(found, c.takenTooEarly(c.From, c.To, c.laterFills(c.To, len(c.Notes.Trace.Records)))...)
	}
	if found = append(found, e.Of(verdict.EndRules, again.ID)...); len(found) > 0 {
		return verdict.Unique(found) // without any failure; behind one it would only be told again
	}
	notes, all := e.Cases[faults.ID], faults.Made(e)
	for _, run := range suite.FaultRuns(notes) {
		c := call{all[run.Index]}
		if run.Op.Synchronises() {
			continue // nothing is left that could put the slots in order
		}
		for _, f := range c.takenTooEarly(c.From, c.To, c.laterFills(c.To, len(c.Notes.Trace.Records))) {
			f = e.Because(suite.OnError(notes, f, run.What, "Run"), notes, run)
			if run.Op == trace.OpEventRecord || run.Op == trace.OpStreamWaitEvent {
				f.Fix = "On the way out have producer wait for an event that is recorded in consumer then; where that fails as " +
					"well, only the host is left to wait: cuda.StreamSynchronize(consumer)."
			}
			found = append(found, f)
		}
	}
	return verdict.Unique(found)
}

// laterFills are the fills of the call's slots behind one record and ahead of another, whoever launched them.
func (c call) laterFills(behind, ahead int) (fills []int) {
	for at := behind + 1; at < ahead; at++ {
		if r := c.Record(at); r.Op == trace.OpLaunch && r.Kernel == fillKernel && r.Code == 0 && c.slot(r) >= 0 {
			fills = append(fills, at)
		}
	}
	return fills
}

// takenTooEarly is the finding about the first digest among some records that a later fill of its slot does not wait
// for.
func (c call) takenTooEarly(from, to int, later []int) []verdict.Finding {
	for _, at := range c.Launches(digestKernel) {
		slot := c.slot(c.Record(at))
		if at < from || at > to || slot < 0 {
			continue
		}
		for _, fill := range later {
			if c.slot(c.Record(fill)) != slot || c.Before(at, fill) {
				continue
			}
			return []verdict.Finding{c.At(at, verdict.Finding{Rule: "not-handed-back",
				Message: "When Run has returned, what is enqueued in producer should come after this digest, but nothing makes " +
					"producer wait for it.",
				Why: "The slots are the caller's again, who takes them for the next items, while consumer may still be reading " +
					"these.",
				Fix: "On every way out record an event in consumer behind all digests (cuda.EventRecord), and have producer wait " +
					"for it (cuda.StreamWaitEvent).",
			})}
		}
	}
	return nil
}
