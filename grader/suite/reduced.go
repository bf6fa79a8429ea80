package suite

import "cudalab/native/trace"

// SumKernels are the names of the kernels with which a lesson has a sum computed: the one fills an array, the other
// adds it up.
type SumKernels struct{ Fill, Sum string }

const elementBytes = 4

// Reduced says of n results over how many elements the call computed them as they are to be computed: with the one
// kernel, in memory that the call itself allocated and that the other alone filled; and nothing else wrote the sum
// afterwards.
func (c *Call) Reduced(kernels SumKernels, n int) (elements []int64) {
	filled := map[trace.ID]int64{} // bytes, by allocation, since anything else wrote there
	elements = make([]int64, n)
	for at := c.From; at < c.To; at++ {
		r := c.Record(at)
		if r.Code != 0 || r.Phase == trace.Enter {
			continue
		}
		fills, sums := r.Op == trace.OpLaunch && r.Kernel == kernels.Fill, r.Op == trace.OpLaunch && r.Kernel == kernels.Sum
		into := c.Written(r, n)
		if !sums {
			for _, i := range into {
				elements[i] = 0 // whatever had been added is gone
			}
		}
		for _, a := range r.Accesses {
			switch {
			case a.Alloc == c.Results:
			case a.Kind == trace.Read && sums && filled[a.Alloc] >= a.Size:
				for _, i := range into {
					elements[i] += a.Size / elementBytes
				}
			case a.Kind == trace.Read:
			case fills:
				filled[a.Alloc] += a.Size
			default:
				filled[a.Alloc] = 0
			}
		}
	}
	return elements
}
