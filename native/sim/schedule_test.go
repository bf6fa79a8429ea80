package sim

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// At any moment an operation takes as many grains as there are of what it has least of, and never more than is free; it
// ends once that adds up to its length. Nanosecond by nanosecond, in floating point.
func TestSchedule(t *testing.T) {
	const horizon = 400_000
	r := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		d := &Device{longest: longest}
		lines := [2]timeline{{capacity: 12}, {capacity: 7}}
		var taken [2][horizon]int64
		for range 25 {
			w := demand{lead: r.Int64N(500), length: r.Int64N(4000)}
			for i, line := range []*timeline{&lines[0], &lines[1]} {
				if r.IntN(3) > 0 {
					grain := 1 + r.Int64N(3)
					w.needs[i] = need{line, grain * (1 + r.Int64N(line.capacity/grain)), grain}
				}
			}
			ready := r.Int64N(10_000)
			end := d.schedule(ready, w)
			done, at := 0.0, ready+w.lead
			for ; ; at++ {
				speed := 1.0
				for i, n := range w.needs[:2] {
					if n.resource != nil {
						free := n.resource.capacity - taken[i][at]
						speed = min(speed, float64(free-free%n.grain)/float64(n.amount))
					}
				}
				if w.length == 0 && speed > 0 || w.length > 0 && done >= float64(w.length)-1e-6 {
					break
				}
				done += speed
				for i, n := range w.needs[:2] {
					if n.resource == nil || speed == 0 || at >= end {
						continue
					}
					grains := int64(float64(n.amount/n.grain)*speed + 1 - 1e-9)
					taken[i][at] += grains * n.grain
				}
			}
			require.InDelta(t, at, end, 40, "rounded at each change of speed")
			if done == float64(w.length) && at-ready == w.lead+w.length {
				require.Equal(t, at, end, "at full speed")
			}
			for ; at < end; at++ { // what rounding has added
				for i, n := range w.needs[:2] {
					if n.resource != nil {
						free, _ := n.resource.free(at)
						taken[i][at] = n.resource.capacity - free
					}
				}
			}
		}
		for i, line := range lines {
			require.Zero(t, line.steps[len(line.steps)-1].taken)
			for at := range int64(horizon) {
				if free, _ := line.free(at); line.capacity-taken[i][at] != free {
					require.Equal(t, line.capacity-taken[i][at], free, "at %d", at)
				}
			}
			for i, step := range line.steps[1:] {
				require.LessOrEqual(t, step.taken, line.capacity)
				require.Less(t, line.steps[i].at, step.at)
				require.NotEqual(t, line.steps[i].taken, step.taken)
			}
		}
	}
}
