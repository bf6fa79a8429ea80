package conformance

import (
	"math"

	"cudalab/native/cuda"
	"cudalab/native/device"
)

// setPoolUp lets the default pool keep everything, so that a synchronisation does not take away what is to be reused.
func (l *log) setPoolUp() {
	l.mustCode(l.setPool(device.PoolReleaseThreshold, math.MaxUint64))
}

var poolRows = []row{
	{Name: "pool/defaults", Run: func(l *log) {
		for _, a := range []struct {
			name string
			attr device.PoolAttr
		}{
			{"ReleaseThreshold", device.PoolReleaseThreshold},
			{"ReuseFollowEventDependencies", device.PoolReuseFollowEventDependencies},
			{"ReuseAllowOpportunistic", device.PoolReuseAllowOpportunistic},
			{"ReuseAllowInternalDependencies", device.PoolReuseAllowInternalDependencies},
		} {
			l.saw("%s is %d", a.name, l.getPool(a.attr))
		}
		l.pool("empty")
	}},
	{Name: "pool/one-byte", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		p := l.mallocAsync(1, s)
		l.pool("after MallocAsync(1)")
		l.must(cuda.FreeAsync(p, s))
		l.pool("after FreeAsync")
		l.must(cuda.StreamSynchronize(s))
		l.pool("after StreamSynchronize")
	}},
	{Name: "pool/grows-in-steps", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		l.mallocAsync(20*mib, s)
		l.pool("after 20 MiB")
		l.mallocAsync(4*mib, s)
		l.pool("after 4 MiB more")
		l.mallocAsync(40*mib, s)
		l.pool("after 40 MiB more")
	}},
	{Name: "pool/free-pending", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		p := l.mallocAsync(20*mib, s)
		l.delay(s)
		l.must(cuda.FreeAsync(p, s))
		l.pool("after FreeAsync, pending")
		l.must(cuda.StreamSynchronize(s))
		l.pool("after StreamSynchronize")
	}},
	{Name: "pool/free-synchronously", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		p := l.mallocAsync(20*mib, s)
		l.must(cuda.StreamSynchronize(s))
		l.must(cuda.Free(p))
		l.pool("after Free")
		l.must(cuda.DeviceSynchronize())
		l.pool("after DeviceSynchronize")
	}},
	{Name: "pool/malloc-is-not-of-it", Run: func(l *log) {
		p := l.malloc(20 * mib)
		l.pool("after Malloc(20 MiB)")
		l.must(cuda.FreeAsync(p, l.stream(cuda.StreamNonBlocking)))
		l.pool("after FreeAsync")
	}},
	{Name: "pool/threshold-keeps", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		l.setPoolUp()
		p := l.mallocAsync(20*mib, s)
		l.must(cuda.FreeAsync(p, s))
		l.must(cuda.StreamSynchronize(s))
		l.pool("after StreamSynchronize")
		l.mustCode(l.setPool(device.PoolReleaseThreshold, 0))
		l.pool("threshold 0 again")
		l.must(cuda.StreamSynchronize(s))
		l.pool("after StreamSynchronize")
	}},
	{Name: "pool/threshold-below-a-step", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		l.mustCode(l.setPool(device.PoolReleaseThreshold, 1))
		l.saw("ReleaseThreshold is %d", l.getPool(device.PoolReleaseThreshold))
		p, q := l.mallocAsync(32*mib, s), l.mallocAsync(32*mib, s)
		l.pool("after 2 x 32 MiB")
		l.must(cuda.FreeAsync(p, s))
		l.must(cuda.FreeAsync(q, s))
		l.must(cuda.StreamSynchronize(s))
		l.pool("after StreamSynchronize")
	}},
	{Name: "pool/event-synchronize-releases", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		p := l.mallocAsync(20*mib, s)
		l.must(cuda.FreeAsync(p, s))
		l.must(cuda.EventSynchronize(l.recorded(s)))
		l.pool("after EventSynchronize")
	}},
	{Name: "pool/set-read-only", Run: func(l *log) {
		l.saw("ReservedMemCurrent = 0 → %s", l.setPool(device.PoolReservedMemCurrent, 0).Name())
		l.saw("UsedMemCurrent = 0 → %s", l.setPool(device.PoolUsedMemCurrent, 0).Name())
		l.saw("ReservedMemHigh = 1 → %s", l.setPool(device.PoolReservedMemHigh, 1).Name())
		l.saw("UsedMemHigh = 1 → %s", l.setPool(device.PoolUsedMemHigh, 1).Name())
		l.saw("attribute 99 = 0 → %s", l.setPool(99, 0).Name())
	}},
	{Name: "pool/high-watermarks", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		l.saw("UsedMemHigh = 0 → %s", l.setPool(device.PoolUsedMemHigh, 0).Name())
		l.saw("ReservedMemHigh = 0 → %s", l.setPool(device.PoolReservedMemHigh, 0).Name())
		p, q := l.mallocAsync(1000, s), l.mallocAsync(500, s)
		l.must(cuda.FreeAsync(p, s))
		l.saw("UsedMemHigh is %d", l.getPool(device.PoolUsedMemHigh))
		l.mustCode(l.setPool(device.PoolUsedMemHigh, 0))
		l.saw("reset, UsedMemHigh is %d", l.getPool(device.PoolUsedMemHigh))
		l.must(cuda.FreeAsync(q, s))
		l.must(cuda.StreamSynchronize(s))
		l.saw("freed, UsedMemHigh is %d, ReservedMemHigh is %d",
			l.getPool(device.PoolUsedMemHigh), l.getPool(device.PoolReservedMemHigh))
	}},
}
