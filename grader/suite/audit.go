package suite

import (
	"slices"

	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// audit runs code as in a timed sample, but off the clock and with the trace on, and returns what it did, or nil where
// it failed.
func (b *Bench) audit(run func() error) *trace.Trace {
	b.Session.StartTrace()
	var o verdict.Outcome
	b.guard(&o, run)
	t := b.Session.StopTrace()
	b.Must(cuda.DeviceSynchronize())
	if !o.OK() {
		return nil
	}
	return t
}

// SumKernels are the names of the kernels with which a lesson has a sum computed: the one fills an array, the other adds
// it up.
type SumKernels struct{ Fill, Sum string }

const elementBytes = 4

// Reduced reports whether an audited call computed the sum at an address as it is to be computed: with the one kernel,
// over n elements or more in memory that the call itself allocated and that the other alone filled; and nothing else wrote
// the sum afterwards.
func Reduced(t *trace.Trace, kernels SumKernels, sum cuda.DevicePtr, n int) bool {
	if t == nil {
		return false
	}
	// The trace knows the sum by its address alone: it was allocated before the audit.
	return reduced(t.Records, kernels, 0, int64(sum), n)
}

// Reduced is the same of result i of a call that was traced with all that was made for it.
func (c *Call) Reduced(kernels SumKernels, i, n int) bool {
	return reduced(c.Notes.Trace.Records[c.From:c.To], kernels, c.Results, int64(resultSize*i), n)
}

func reduced(records []trace.Record, kernels SumKernels, alloc trace.ID, offset int64, n int) bool {
	filled := map[trace.ID]int64{} // bytes, by allocation, since anything else wrote there
	read := int64(0)               // bytes that went into the sum
	for i := range records {
		r := &records[i]
		if r.Code != 0 || r.Phase == trace.Enter {
			continue
		}
		fills, sums := r.Op == trace.OpLaunch && r.Kernel == kernels.Fill, r.Op == trace.OpLaunch && r.Kernel == kernels.Sum
		intoSum := slices.ContainsFunc(r.Accesses, func(a trace.Access) bool {
			return a.Kind != trace.Read && a.Alloc == alloc && a.Offset < offset+resultSize && offset < a.Offset+a.Size
		})
		if intoSum && !sums {
			read = 0 // whatever had been added is gone
		}
		for _, a := range r.Accesses {
			switch {
			case a.Alloc == alloc:
			case a.Kind == trace.Read && sums && intoSum && filled[a.Alloc] >= a.Size:
				read += a.Size
			case a.Kind == trace.Read:
			case fills:
				filled[a.Alloc] += a.Size
			default:
				filled[a.Alloc] = 0
			}
		}
	}
	return read >= elementBytes*int64(n)
}

// NotReduced are the results of a stage that an audited call did not compute as they are to be computed, over n(i) elements
// each.
func (s *Stage) NotReduced(t *trace.Trace, kernels SumKernels, n func(i int) int) (left []uint64) {
	for i := range s.results.n {
		if !Reduced(t, kernels, s.results.At(i), n(i)) {
			left = append(left, uint64(i))
		}
	}
	return left
}
