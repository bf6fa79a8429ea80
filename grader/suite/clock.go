package suite

import (
	"math"

	"cudalab/native/trace"
)

// Clock is one answer of EventElapsedTime, between two records of events.
type Clock struct {
	Start, Stop int     // the records of EventRecord
	Ms          float64 // the answer, in milliseconds
}

// Clocks are those that the call has read, in their order.
func (c *Call) Clocks() (read []Clock) {
	recorded := map[trace.ID]int{}
	c.Records(func(at int, r *trace.Record) bool {
		start, stop := recorded[r.Event], recorded[r.Event2]
		switch {
		case r.Code != 0:
		case r.Op == trace.OpEventRecord:
			recorded[r.Event] = at
		case r.Op == trace.OpEventElapsedTime && start > 0 && stop > 0:
			read = append(read, Clock{start, stop, float64(math.Float32frombits(uint32(r.Value)))})
		}
		return true
	})
	return read
}
