package suite

import (
	"slices"

	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// audit runs code as in a timed sample, but off the clock and with the trace on, and returns what it did, or nil where
// it failed.
func (b *Bench) audit(run func() error) *trace.Trace {
	b.Session.StartTrace()
	var o Outcome
	err := guard(&o, run)
	t := b.Session.StopTrace()
	b.Must(cuda.DeviceSynchronize())
	if err != nil || o.Panic != "" {
		return nil
	}
	return t
}

// The kernels that compute the sum of an array's bit patterns.
const (
	kernelProcess = "process"
	kernelReduce  = "reduce"
)

const elementBytes = 4

// Reduced reports whether an audited call computed the sum at an address as it is to be computed: with kernel reduce,
// over n elements or more in memory that the call itself allocated and that kernel process alone filled; and nothing else
// wrote the sum afterwards.
func Reduced(t *trace.Trace, sum cuda.DevicePtr, n int) bool {
	if t == nil {
		return false
	}
	// The trace knows the sum by its address alone: it was allocated before the audit.
	return reduced(t.Records, 0, int64(sum), n)
}

// Reduced is the same of result i of a call that was traced with all that was made for it.
func (c *Call) Reduced(i, n int) bool {
	return reduced(c.Notes.Trace.Records[c.From:c.To], c.Results, int64(resultSize*i), n)
}

func reduced(records []trace.Record, alloc trace.ID, offset int64, n int) bool {
	processed := map[trace.ID]int64{} // bytes, by allocation, since anything else wrote there
	read := int64(0)                  // bytes that went into the sum
	for i := range records {
		r := &records[i]
		if r.Code != 0 || r.Phase == trace.Enter {
			continue
		}
		process, reduce := r.Op == trace.OpLaunch && r.Kernel == kernelProcess, r.Op == trace.OpLaunch && r.Kernel == kernelReduce
		intoSum := slices.ContainsFunc(r.Accesses, func(a trace.Access) bool {
			return a.Kind != trace.Read && a.Alloc == alloc && a.Offset < offset+resultSize && offset < a.Offset+a.Size
		})
		if intoSum && !reduce {
			read = 0 // whatever had been added is gone
		}
		for _, a := range r.Accesses {
			switch {
			case a.Alloc == alloc:
			case a.Kind == trace.Read && reduce && intoSum && processed[a.Alloc] >= a.Size:
				read += a.Size
			case a.Kind == trace.Read:
			case process:
				processed[a.Alloc] += a.Size
			default:
				processed[a.Alloc] = 0
			}
		}
	}
	return read >= elementBytes*int64(n)
}
