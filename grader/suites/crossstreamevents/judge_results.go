package crossstreamevents

import (
	"fmt"

	"cudalab/grader/suite"
	"cudalab/kernels/oracle"
)

func judgeResults(e *suite.Evidence) suite.Answer {
	sums := 0
	a := judgeCalls(e, "", func(c *call) []suite.Finding {
		if !c.Outcome.OK() {
			return []suite.Finding{c.UnexpectedError(c.w.function())}
		}
		var found []suite.Finding
		for i, got := range c.sums {
			sums++
			if got != c.w.want() {
				found = append(found, c.wrongResult(i, got))
			}
		}
		return found
	})
	a.Message = fmt.Sprintf("%d sums are exact, with each stream late in turn.", sums)
	return a
}

func (c *call) wrongResult(i int, got uint64) suite.Finding {
	words, fix := c.explain(i, got)
	return c.At(c.reduction(i), suite.Finding{
		Rule: "wrong-result", Function: c.w.function(),
		Message: fmt.Sprintf("%s for %s: %s should have the sum %d, but has %d%s.",
			c.w.function(), c.w.label(), c.w.outName(i), c.w.want(), got, words),
		Why: "The sum is over the exact bits of every element, so a single element that is missing or different shows.",
		Fix: fix,
	})
}

// wrongSum says in a clause which sum is wrong; "" where none is.
func (c *call) wrongSum() string {
	for i, got := range c.sums {
		if want := c.w.want(); got != want {
			return fmt.Sprintf("the sum at %s is %d instead of %d.", c.w.outName(i), got, want)
		}
	}
	return ""
}

// explain recognises the commonest ways of getting a sum wrong.
func (c *call) explain(i int, got uint64) (words, fix string) {
	out, stream := c.w.outName(i), c.w.streamName(i+1)
	reduced := c.reduction(i) >= 0
	switch {
	case !reduced && got == suite.Garbage:
		return ": nothing was ever written there",
			fmt.Sprintf("Launch kernels.Reduce in %s, with %s as its result.", stream, out)
	case !reduced:
		return ": no kernel added to it", fmt.Sprintf("Launch kernels.Reduce in %s, with %s as its result.", stream, out)
	case got == c.w.want()+suite.Garbage:
		return ": reduce added to the garbage that was there before",
			fmt.Sprintf("Set it to zero in %s before reduce: cuda.MemsetAsync(%s, 0, 8, %s).", stream, out, stream)
	case got == oracle.ReduceProcess(c.w.n-1, 1, 0):
		return ", the sum without the last element", "Cover all elements: a grid of (n + block - 1) / block blocks."
	}
	return "", fmt.Sprintf("Launch kernels.Process over all n elements, with multiplier 1 and work 0, make %s wait for it before it "+
		"reduces them, and free them only after that; the check of the order below names the line where a wait is missing.", stream)
}
