package asyncpipeline

import (
	"fmt"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels/oracle"
	"cudalab/native/trace"
)

// call is one call of Run as the trace shows it.
type call = suite.Made[workload]

// batchName is "batches[2] (257 elements)".
func batchName(c *call, i int) string {
	return fmt.Sprintf("batches[%d] (%s)", i, verdict.Count(c.W.batches[i].N, "element", "elements"))
}

// taken is the allocation that the sum of a batch was taken from, and the record of the reduce that did; 0 and -1 where
// there is none.
type taken struct {
	alloc  trace.ID
	record int
}

// buffers are the batches'.
func buffers(c *call) []taken {
	all := make([]taken, len(c.W.batches))
	for i := range all {
		all[i].record = -1
	}
	c.Records(func(at int, r *trace.Record) bool {
		if r.Op != trace.OpLaunch {
			return true
		}
		for _, i := range c.Touched(r, len(all)) {
			all[i].record = at
			for _, a := range r.Accesses {
				if a.Alloc != c.Results {
					all[i].alloc = a.Alloc
				}
			}
		}
		return true
	})
	return all
}

// exact says of calls that all of their sums are right.
func exact(all []call) string {
	batches, largest := 0, 0
	for _, c := range all {
		batches += len(c.Sums())
		for _, b := range c.W.batches {
			largest = max(largest, b.N)
		}
	}
	return fmt.Sprintf("%d sums are exact, from 1 element to %d.", batches, largest)
}

// wrongResults finds the sums of a call that are wrong, and those that did not come from the kernels.
func wrongResults(c *call) (found []verdict.Finding) {
	sums, reduced := c.Sums(), c.Reduced(sumKernels, len(c.W.batches))
	for i, got := range sums[:min(len(sums), len(c.W.batches))] {
		if want := c.W.want(i); got != want {
			found = append(found, wrongResult(c, i, want, got))
		} else if reduced[i] < int64(c.W.batches[i].N) {
			found = append(found, notComputed(c, i))
		}
	}
	return found
}

// uncomputed finds what a far call should have launched, and has not.
func uncomputed(c *call) []verdict.Finding {
	if found := c.Unlaunched(c.W.launches()); len(found) > 0 {
		return found
	}
	for i, n := range c.Reduced(sumKernels, len(c.W.batches)) {
		if n < int64(c.W.batches[i].N) {
			return []verdict.Finding{notComputed(c, i)}
		}
	}
	return nil
}

func wrongResult(c *call, i int, want, got uint64) verdict.Finding {
	words, fix := explain(c, i, want, got)
	return c.Finding(buffers(c)[i].record, suite.Rule{ID: "wrong-result", Fix: fix,
		Why: "The sum is over the exact bits of every element, so a single element that is missing or different shows.",
	}, "%s should have the sum %d, but has %d%s.", batchName(c, i), want, got, words)
}

// notComputed is the finding where a sum is right, but not the kernels' work.
func notComputed(c *call, i int) verdict.Finding {
	return c.Finding(-1, suite.Rule{ID: "not-computed",
		Why: "What is asked for is a pipeline of work on the device; where the sum comes from elsewhere there is none.",
		Fix: "Allocate N floats for every batch, launch kernels.Process on them, and kernels.Reduce into batch.Result.",
	}, "kernels.Process and kernels.Reduce should compute the sum of %s on the device, but what is there came "+
		"without them.",
		batchName(c, i))
}

// explain recognises the commonest ways of getting a sum wrong.
func explain(c *call, i int, want, got uint64) (words, fix string) {
	b := c.W.batches[i]
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
		return ": reduce added to the garbage that was there before",
			"Set batch.Result to zero in the batch's stream before " +
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
	return "", "Launch kernels.Process and then kernels.Reduce over all N elements of this batch, with its own " +
		"Multiplier and Work, into its own Result. Where memory is used too early or too late, the check of the order " +
		"below names the line."
}
