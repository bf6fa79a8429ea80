package crossstreamevents

import (
	"fmt"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels/oracle"
)

func judgeResults(e *suite.Evidence) suite.Answer {
	sums := 0
	a := good.Judge(e, "", func(m *suite.Made[workload]) []verdict.Finding {
		if !m.Outcome.OK() {
			return []verdict.Finding{m.UnexpectedError(m.W.function())}
		}
		sums += len(m.Sums())
		return call{m}.wrongResults()
	})
	a.Message = fmt.Sprintf("%d sums are exact, with each stream late in turn.", sums)
	return a
}

// wrongResults finds the results that are wrong.
func (c call) wrongResults() (found []verdict.Finding) {
	sums := c.Sums()
	for i, got := range sums[:min(len(sums), c.W.outs())] {
		if got != c.W.want() {
			found = append(found, c.wrongResult(i, got))
		}
	}
	return found
}

// incomplete finds the results that are wrong, and those that did not come from the steps that lead to them.
func incomplete(m *suite.Made[workload]) []verdict.Finding {
	c := call{m}
	return append(c.wrongResults(), c.leftOut()...)
}

func (c call) wrongResult(i int, got uint64) verdict.Finding {
	words, fix := c.explain(i, got)
	return c.At(c.checksum(i), verdict.Finding{
		Rule: "wrong-result", Function: c.W.function(),
		Message: fmt.Sprintf("%s for %s: %s should have the sum %d, but has %d%s.",
			c.W.function(), c.W.Label(), c.W.outName(i), c.W.want(), got, words),
		Why: "Every element counts with its index, so a single one that is missing, different or out of place shows.",
		Fix: fix,
	})
}

// explain recognises the commonest ways of getting a sum wrong.
func (c call) explain(i int, got uint64) (words, fix string) {
	out, stream := c.W.outName(i), c.W.streamName(i+1)
	added := c.checksum(i) >= 0
	switch {
	case !added && got == suite.Garbage:
		return ": nothing was ever written there",
			fmt.Sprintf("Launch kernels.Checksum in %s, with %s as its result.", stream, out)
	case !added:
		return ": no kernel added to it", fmt.Sprintf("Launch kernels.Checksum in %s, with %s as its result.", stream, out)
	case got == c.W.want()+suite.Garbage:
		return ": checksum added to the garbage that was there before",
			fmt.Sprintf("Set it to zero in %s before checksum: cuda.MemsetAsync(%s, 0, 8, %s).", stream, out, stream)
	case c.W.n > 1 && got == oracle.ChecksumFilled(c.W.n-1):
		return ", the sum without the last element", "Cover all elements: a grid of (n + block - 1) / block blocks."
	}
	return "", fmt.Sprintf("Launch kernels.Fill over all n elements, make %s wait for it before it reads them, "+
		"and free them only after that; the check of the order below names the line where a wait is missing.", stream)
}
