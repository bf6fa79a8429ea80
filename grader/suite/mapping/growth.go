package mapping

import "cudalab/native/trace"

// RoundUp is the smallest multiple of unit that is not below n.
func RoundUp(n, unit int64) int64 { return (n + unit - 1) / unit * unit }

// Most is how many bytes may be mapped where so many are used.
func Most(used, granularity int64) int64 { return RoundUp(max(2*used, granularity), granularity) }

// Quarters is memory that grows when it has to, by a quarter or by what is needed, whichever is more: what a program
// may be held against that should grow by a factor, whichever that is.
type Quarters struct {
	Granularity int64
	Growths     int // so far
	committed   int64
}

// Need has so many bytes used.
func (q *Quarters) Need(used int64) {
	if used > q.committed {
		q.committed = max(RoundUp(used, q.Granularity), RoundUp(q.committed+q.committed/4, q.Granularity))
		q.Growths++
	}
}

// Shrink gives back all that is not needed for so many bytes.
func (q *Quarters) Shrink(used int64) { q.committed = min(q.committed, RoundUp(used, q.Granularity)) }

// Most is how many growths a program may take for the same.
func (q *Quarters) Most() int { return q.Growths + q.Growths/2 + 1 }

// Growing is what may be called to put memory behind addresses, and what may be asked on the way.
var Growing = []trace.Op{trace.OpMemCreate, trace.OpMemMap, trace.OpMemSetAccess, trace.OpMemRelease, trace.OpMemUnmap,
	trace.OpMemGetAllocationGranularity, trace.OpMemGetInfo, trace.OpDeviceInfo}

// Moving is what moves data, or makes memory that has addresses of its own.
var Moving = []trace.Op{trace.OpMalloc, trace.OpMallocAsync, trace.OpMallocFromPoolAsync, trace.OpMallocHost,
	trace.OpMemcpyDtoD, trace.OpMemcpyDtoDAsync, trace.OpMemcpyDtoH, trace.OpMemcpyDtoHAsync, trace.OpMemcpyHtoD,
	trace.OpMemcpyHtoDAsync}
