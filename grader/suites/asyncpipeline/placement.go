package asyncpipeline

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// misplaced finds the operations of a call that are not on their batch's stream.
func misplaced(c *call) (found []verdict.Finding) {
	if len(c.Streams) == 0 {
		return nil
	}
	buffers, of := buffers(c), map[trace.ID][]int{}
	for i, b := range buffers {
		if b.alloc == 0 {
			continue
		}
		of[b.alloc] = append(of[b.alloc], i)
	}
	astray := make([][]int, len(buffers)) // by batch
	c.Records(func(at int, r *trace.Record) bool {
		if r.Code != 0 {
			return true
		}
		for _, i := range concerned(c, r, of) {
			if r.Stream != c.Stream(i%len(c.Streams)) {
				astray[i] = append(astray[i], at)
			}
		}
		return true
	})
	for i, records := range astray {
		index := i % len(c.Streams)
		for _, at := range records {
			r := c.Record(at)
			found = append(found, c.Finding(at, suite.Rule{ID: "wrong-stream",
				Why: "Work in one stream runs in order by itself, and work in different streams can run at the same time.",
				Fix: "Take stream := streams[i%len(streams)] once per batch and give it to every call of that batch.",
			}, "every call for %s should be on streams[%d %% %d], which is streams[%d], but %s is on %s.",
				batchName(c, i), i, len(c.Streams), index, suite.CallName(r), c.StreamName(r.Stream, streamName)))
		}
	}
	return found
}

// streamName is how the student sees a stream: by its place in the slice.
func streamName(i int) string { return fmt.Sprintf("streams[%d]", i) }

// concerned are the batches whose result a record touches, or whose buffer it makes, uses or frees.
func concerned(c *call, r *trace.Record, of map[trace.ID][]int) (batches []int) {
	batches = c.Touched(r, len(c.W.batches))
	if r.Op == trace.OpMalloc || r.Op == trace.OpFree {
		return batches // they belong to no stream; the check for waiting has a word on them
	}
	batches = append(batches, of[r.Alloc]...)
	for _, a := range r.Accesses {
		batches = append(batches, of[a.Alloc]...)
	}
	slices.Sort(batches)
	return slices.Compact(batches)
}
