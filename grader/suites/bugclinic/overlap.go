package bugclinic

import (
	"fmt"

	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// heldBack is the finding where one record of the trace makes another wait for it by way of an event, though it need
// not; none where it does not, or where the host waits, which is said as such.
func (c call) heldBack(first, then int, message, fix string) []verdict.Finding {
	if first < 0 || then < 0 {
		return nil
	}
	wait := c.HeldBack(first, then)
	if wait < 0 {
		return nil
	}
	return []verdict.Finding{c.At(wait, verdict.Finding{
		Rule: "overlap-lost", Message: message, Fix: fix,
		Why: "A stream that waits for an event waits for all that was in the event's stream when it was recorded, needed " +
			"or not.",
	})}
}

// nth is the i-th of some records; -1 if there are not so many.
func nth(records []int, i int) int {
	if i < len(records) {
		return records[i]
	}
	return -1
}

func pingPongOverlap(c call) (found []verdict.Finding) {
	var filled [2][]int
	for i := range filled {
		filled[i] = c.launches(fills, c.memory(i))
	}
	for i := 1; i < c.W.steps; i++ {
		found = append(found, c.heldBack(c.digest(i-1), nth(filled[i%2], i/2),
			fmt.Sprintf("The fill of item %d should run beside the digest of item %d, but this call makes it wait for that.", i,
				i-1), "Have the fill of item i wait for the digest of item i-2, whose block it takes, and for no later one: "+
				"record an event in b right behind each digest, one for each block.")...)
	}
	return found
}

func mergeOverlap(c call) []verdict.Finding {
	return c.heldBack(nth(c.launches(fills, c.memory(1)), 0), nth(c.launches(fills, c.memory(0)), 0),
		"The fill of data in c should not have to wait for a's work on other, but this call makes it wait.",
		"Record the event for c in a right behind a's wait for b, ahead of the fill of other; or record it in b.")
}

func scratchOverlap(c call) (found []verdict.Finding) {
	earlier, later := -1, -1
	for at := c.Set; at < len(c.Notes.Trace.Records) && later < 0; at++ {
		if r := c.Record(at); r.Op == trace.OpLaunch && r.Kernel == delays && r.Stream == c.Stream(0) {
			if at < c.From {
				earlier = at
			} else {
				later = at
			}
		}
	}
	fix := "Allocate and free in b, where the memory is used; then there is nothing that a has to know."
	for _, at := range c.All(func(r *trace.Record) bool { return r.Op == trace.OpLaunch && r.Stream == c.Stream(1) }) {
		found = append(found, c.heldBack(earlier, at, "The work in b should not have to wait for what a is busy with, but "+
			"this call makes it wait.", fix)...)
		found = append(found, c.heldBack(at, later, "What a does next should not have to wait for the work in b, but this "+
			"call makes it wait.", fix)...)
	}
	return found
}
