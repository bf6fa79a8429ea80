package asyncpipeline

import (
	"fmt"

	"cudalab/grader/suite"
	"cudalab/native/trace"
)

// call is one call of Run as the trace shows it.
type call struct {
	suite.Call
	w    workload
	sums []uint64
}

// calls pairs a case's calls with the workloads they came from.
func calls(e *suite.Evidence, caseID string, ws []workload) []call {
	sums := e.Cases[caseID].Values[noteSum]
	var found []call
	for i, made := range e.Calls(caseID) {
		c := call{Call: made, w: ws[min(i, len(ws)-1)]}
		if n := len(c.w.batches); len(sums) >= n {
			c.sums, sums = sums[:n], sums[n:]
		}
		found = append(found, c)
	}
	return found
}

// good are the calls of the two cases that every right program completes.
func good(e *suite.Evidence) []call {
	return suite.Once(e.Cases[caseRandom], "good", func() []call {
		return append(calls(e, caseShapes, shapes()), calls(e, caseRandom, drawn(e.Seed))...)
	})
}

// incomplete says why good has not seen everything; "" if it has.
func incomplete(e *suite.Evidence) string {
	want, ok := len(shapes())+len(drawn(e.Seed)), 0
	for _, c := range good(e) {
		if c.Outcome.OK() {
			ok++
		}
	}
	if ok < want {
		return "Run ended early with an error, so this could not be seen in full."
	}
	return ""
}

// batchName is "batches[2] (257 elements)".
func (c *call) batchName(i int) string {
	return fmt.Sprintf("batches[%d] (%s)", i, suite.Count(c.w.batches[i].N, "element", "elements"))
}

// streamName is how the student sees a stream: by its place in the slice.
func (c *call) streamName(id trace.ID) string {
	return c.StreamName(id, func(i int) string { return fmt.Sprintf("streams[%d]", i) })
}

// buffer is the allocation that the sum of batch i was taken from, and the record of the reduce that did; -1 if none.
func (c *call) buffer(i int) (alloc trace.ID, record int) {
	record = -1
	c.Records(func(at int, r *trace.Record) bool {
		if r.Op == trace.OpLaunch && c.Touches(r, i) {
			record = at
			for _, a := range r.Accesses {
				if a.Alloc != c.Results {
					alloc = a.Alloc
				}
			}
		}
		return true
	})
	return alloc, record
}

func judgeArguments(e *suite.Evidence) suite.Answer {
	a := e.JudgeArguments(caseArguments, len(badArguments), suite.Refusal{
		Function: "Run",
		Why:      "An argument that is refused before the first CUDA call leaves nothing to undo.",
		Fix:      "Return contract.ErrArgument when there are no streams or a batch has N < 1.",
		FixLate:  "Look at all the arguments, every batch included, before the first CUDA call.",
	})
	a.Message = "No streams and empty batches are refused, and nothing was touched."
	return a
}
