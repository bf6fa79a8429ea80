package asyncpipeline

import (
	"fmt"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// misplaced finds the operations of a call that are not on their batch's stream.
func misplaced(c *call) (found []verdict.Finding) {
	for i := range c.W.batches {
		if len(c.Streams) == 0 {
			return nil
		}
		index := i % len(c.Streams)
		buffer, _ := buffer(c, i)
		c.Records(func(at int, r *trace.Record) bool {
			if r.Code != 0 || r.Stream == c.Stream(index) || !c.Touches(r, i) && !concerns(r, buffer) {
				return true
			}
			found = append(found, c.Finding(at, suite.Rule{ID: "wrong-stream",
				Why: "Work in one stream runs in order by itself, and work in different streams can run at the same time.",
				Fix: "Take stream := streams[i%len(streams)] once per batch and give it to every call of that batch.",
			}, "every call for %s should be on streams[%d %% %d], which is streams[%d], but %s is on %s.",
				batchName(c, i), i, len(c.Streams), index, suite.CallName(r), c.StreamName(r.Stream, streamName)))
			return true
		})
	}
	return found
}

// streamName is how the student sees a stream: by its place in the slice.
func streamName(i int) string { return fmt.Sprintf("streams[%d]", i) }

// concerns reports whether r makes, uses or frees the buffer.
func concerns(r *trace.Record, buffer trace.ID) bool {
	if buffer == 0 || r.Op == trace.OpMalloc || r.Op == trace.OpFree {
		return false // they belong to no stream; the check for waiting has a word on them
	}
	return r.Alloc == buffer || suite.Touching(r, buffer)
}
