package vmmarena

import (
	"fmt"
	"slices"

	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/mapping"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// tooMuch finds memory that is held beyond what the contract allows.
func (c *replay) tooMuch() []verdict.Finding {
	used, peak := int64(0), int64(0)
	for i := range c.Right {
		s := &c.steps[i]
		if s.answer.Err != sequence.Nil {
			continue
		}
		switch s.op.Kind {
		case allocator.KindAlloc:
			used += mapping.RoundUp(s.op.Size, alignment)
			peak = max(peak, used)
		case allocator.KindReset:
			used = 0
		default:
			return nil
		}
		most := mapping.Most(peak, c.Layout.granularity)
		if s.held <= most {
			continue
		}
		return c.finding(i, c.created(i), verdict.Finding{Rule: "too-much",
			Message: fmt.Sprintf("%s should hold at most %d bytes of memory then, since at most %d were used at a time and the "+
				"granularity is %d, but it holds %d.", c.doing(i), most, peak, c.Layout.granularity, s.held),
			Why: "Addresses cost nothing, memory does: what the arena holds without need, no other program on the device " +
				"can have.",
			Fix: "Commit up to twice what is needed, rounded up to the granularity, and not beyond the range."})
	}
	return nil
}

// misstated finds a Committed that is not what is mapped.
func (c *replay) misstated() []verdict.Finding {
	for i := range c.Right {
		s := &c.steps[i]
		if s.op.Kind == allocator.KindClose {
			return nil
		}
		if len(s.answer.Stats()) != statCount || s.answer.Stats()[statCommitted] == s.mapped {
			continue
		}
		return c.finding(i, -1, verdict.Finding{Rule: "wrong-stats",
			Message: fmt.Sprintf("%s should have left Stats with Committed = %d, which is what is mapped from Base on, but it "+
				"says %d.",
				c.doing(i), s.mapped, s.answer.Stats()[statCommitted]),
			Why: "A caller decides by these numbers what to do next.",
			Fix: "Add to the bytes that are committed what was mapped, when it was mapped."})
	}
	return nil
}

// tooOften finds an arena that takes many more steps to grow than one would that grows by a quarter each time.
func (c *replay) tooOften() []verdict.Finding {
	quarters, used := mapping.Quarters{Granularity: c.Layout.granularity}, int64(0)
	steps, last, most := 0, -1, int64(0)
	for i := range c.Right {
		s := &c.steps[i]
		if s.mapped > most {
			steps, last, most = steps+1, i, s.mapped
		}
		switch {
		case s.op.Kind == allocator.KindReset:
			used = 0
		case s.op.Kind == allocator.KindAlloc && s.answer.Err == sequence.Nil:
			used += mapping.RoundUp(s.op.Size, alignment)
		}
		quarters.Need(used)
	}
	if steps <= quarters.Most() {
		return nil
	}
	made := slices.IndexFunc(c.steps[last].calls,
		func(at int) bool { return c.Notes.Trace.Records[at].Op == trace.OpMemCreate })
	record := -1
	if made >= 0 {
		record = c.steps[last].calls[made]
	}
	return c.finding(last, record, verdict.Finding{Rule: "grows-too-often",
		Message: fmt.Sprintf("In the sequence %q with %s the arena should grow in few steps, %d if by a quarter each time, "+
			"but it grew %d times.",
			c.Name, c.Layout, quarters.Growths, steps),
		Why: "Every growth costs the same few calls, however little it adds. Steps that stay the same size make their " +
			"number grow with the arena; steps by a factor make it grow with the logarithm.",
		Fix: "Commit more than is needed, up to twice as much, so that the next growths are not needed."})
}
