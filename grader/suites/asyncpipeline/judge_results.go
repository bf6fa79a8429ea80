package asyncpipeline

import (
	"fmt"

	"cudalab/grader/suite"
	"cudalab/kernels/oracle"
	"cudalab/native/trace"
)

func judgeResults(e *suite.Evidence) suite.Answer {
	var a suite.Answer
	batches := 0
	for _, c := range good(e) {
		if !c.Outcome.OK() {
			a.Findings = append(a.Findings, c.UnexpectedError("Run"))
			continue
		}
		for i, got := range c.sums {
			batches++
			if want := c.w.want(i); got != want {
				a.Findings = append(a.Findings, c.wrongResult(i, want, got))
			} else if !c.Reduced(i, c.w.batches[i].N) {
				a.Findings = append(a.Findings, c.notComputed(i))
			}
		}
	}
	a.Findings = suite.Unique(a.Findings)
	if len(a.Findings) == 0 {
		a.Skip = incomplete(e)
	}
	a.Message = fmt.Sprintf("%d sums are exact, from 1 element to %d.", batches, largest(e))
	return a
}

func largest(e *suite.Evidence) int {
	n := 0
	for _, c := range good(e) {
		for _, b := range c.w.batches {
			n = max(n, b.N)
		}
	}
	return n
}

func (c *call) wrongResult(i int, want, got uint64) suite.Finding {
	f := suite.Finding{
		Rule:    "wrong-result",
		Message: fmt.Sprintf("With %s, %s should have the sum %d, but has %d", c.w.label, c.batchName(i), want, got),
		Why:     "The sum is over the exact bits of every element, so a single element that is missing or different shows.",
	}
	words, fix := c.explain(i, want, got)
	f.Message += words + "."
	f.Fix = fix
	_, at := c.buffer(i)
	return c.At(at, f)
}

// notComputed is the finding where a sum is right, but not the kernels' work.
func (c *call) notComputed(i int) suite.Finding {
	return c.At(-1, suite.Finding{
		Rule: "not-computed",
		Message: fmt.Sprintf("With %s, kernels.Process and kernels.Reduce should compute the sum of %s on the device, but the right sum came "+
			"there without them.", c.w.label, c.batchName(i)),
		Why: "What is asked for is a pipeline of work on the device; where the sum comes from elsewhere there is none.",
		Fix: "Allocate N floats for every batch, launch kernels.Process on them, and kernels.Reduce into batch.Result.",
	})
}

// wrongSum says in a clause which sum is wrong; "" where none is.
func (c *call) wrongSum() string {
	for i, got := range c.sums {
		if want := c.w.want(i); got != want {
			return fmt.Sprintf("the sum of %s is %d instead of %d.", c.batchName(i), got, want)
		}
	}
	return ""
}

// explain recognises the commonest ways of getting a sum wrong.
func (c *call) explain(i int, want, got uint64) (words, fix string) {
	b := c.w.batches[i]
	zeroed, reduced := false, 0
	c.Records(func(_ int, r *trace.Record) bool {
		if c.Touches(r, i) && r.Code == 0 {
			if r.Op == trace.OpLaunch {
				reduced++
			} else {
				zeroed = true
			}
		}
		return true
	})
	switch {
	case got == suite.Garbage && reduced == 0:
		return ": nothing was ever written there", "Launch kernels.Reduce for every batch, with batch.Result as its result."
	case reduced == 0:
		return ": no kernel added to it", "Launch kernels.Reduce for every batch, with batch.Result as its result."
	case !zeroed || got == want+suite.Garbage:
		return ": reduce added to the garbage that was there before", "Set batch.Result to zero in the batch's stream before " +
			"reduce: cuda.MemsetAsync(batch.Result, 0, 8, stream)."
	case reduced > 1:
		return fmt.Sprintf(": reduce ran %d times for it", reduced), "Launch kernels.Reduce once per batch."
	case got == oracle.ReduceProcess(b.N, b.Multiplier, 0):
		return ", the sum for no work at all", "Pass batch.Work to kernels.Process."
	case got == oracle.ReduceProcess(b.N, 1, b.Work):
		return ", the sum for a multiplier of 1", "Pass batch.Multiplier to kernels.Process."
	case got == oracle.ReduceProcess(b.N-1, b.Multiplier, b.Work):
		return ", the sum without the last element", "Cover all elements: a grid of (n + block - 1) / block blocks."
	}
	return "", "Launch kernels.Process and then kernels.Reduce over all N elements of this batch, with its own Multiplier and " +
		"Work, into its own Result. Where memory is used too early or too late, the check of the order below names the line."
}
