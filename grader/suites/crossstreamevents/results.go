package crossstreamevents

import (
	"fmt"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels/oracle"
)

// wrongResults finds the results that are wrong.
func wrongResults(m *suite.Made[workload]) (found []verdict.Finding) {
	c, sums := call{m}, m.Sums()
	for i, got := range sums[:min(len(sums), c.W.outs())] {
		if got != c.W.want() {
			found = append(found, c.wrongResult(i, got))
		}
	}
	return found
}

// uncomputed finds what a far call should have launched, and has not. What was left out whole is placement's.
func uncomputed(m *suite.Made[workload]) []verdict.Finding {
	if len(placement(m)) > 0 {
		return nil
	}
	return m.Unlaunched(m.W.launches())
}

// incomplete finds the results that are wrong, and those that did not come from the steps that lead to them.
func incomplete(m *suite.Made[workload]) []verdict.Finding {
	return append(wrongResults(m), call{m}.leftOut()...)
}

func (c call) wrongResult(i int, got uint64) verdict.Finding {
	words, fix := c.explain(i, got)
	return c.At(c.LastInto(sumKernels.Sum, i), verdict.Finding{
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
	added := c.LastInto(sumKernels.Sum, i) >= 0
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
