package vmmarena

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/verdict"
)

// memory is the part about a device that is nearly full.
func memory() suite.Part[Make] {
	p := scarcity.Telling(scarcity.Part(ofMemory, "makes do with less when the device is nearly full, and a growth that "+
		"fails changes nothing",
		"Where there was no room for a generous growth, a small one was made; one that failed changed nothing.",
		func(e *suite.Evidence, r *allocator.Run[layout]) []verdict.Finding {
			c := replayOf(e, r)
			found := c.keptByFailure()
			if !slices.ContainsFunc(plenty.Runs(e), func(r allocator.Run[layout]) bool {
				return replayOf(e,
					&r).unusable() != nil
			}) {
				found = append(found, c.unusable()...) // else growth tells of it
			}
			return found
		}))
	judge := p.Judge
	p.Judge = func(e *suite.Evidence) suite.Answer {
		if verdict.HasError(e.Of(verdict.EndRules, scarcity.IDs()...)) {
			return suite.Answer{Skip: "What Close did not give back is missing in the next arena on the device, so this could " +
				"not be seen."}
		}
		return judge(e)
	}
	return p
}

// keptByFailure finds memory that an Alloc held on to, or gave up, although it answered an error.
func (c *replay) keptByFailure() []verdict.Finding {
	for i := range c.steps {
		s := &c.steps[i]
		if i == 0 || i > c.Right || s.answer.Err != outOfMemory || s.held == c.steps[i-1].held {
			continue
		}
		return c.finding(i, c.created(i), verdict.Finding{Rule: "changed-by-error",
			Message: fmt.Sprintf("%s should have failed and kept the %d bytes of memory that it had, but has %d now.",
				c.doing(i), c.steps[i-1].held, s.held),
			Why: "Memory that a growth leaves behind when it fails is missing in every later one.",
			Fix: "Give back all that the growth has made before returning its error: unmap what was mapped, release what was " +
				"created."})
	}
	return nil
}
