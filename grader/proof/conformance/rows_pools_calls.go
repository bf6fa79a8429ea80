package conformance

import (
	"math"

	"cudalab/native/cuda"
)

// poolAttributes are all attributes, in the order of their numbers.
var poolAttributes = []struct {
	name string
	attr cuda.MemPoolAttr
}{
	{"ReuseFollowEventDependencies", cuda.MemPoolReuseFollowEventDependencies},
	{"ReuseAllowOpportunistic", cuda.MemPoolReuseAllowOpportunistic},
	{"ReuseAllowInternalDependencies", cuda.MemPoolReuseAllowInternalDependencies},
	{"ReleaseThreshold", cuda.MemPoolAttrReleaseThreshold},
	{"ReservedMemCurrent", cuda.MemPoolAttrReservedMemCurrent},
	{"ReservedMemHigh", cuda.MemPoolAttrReservedMemHigh},
	{"UsedMemCurrent", cuda.MemPoolAttrUsedMemCurrent},
	{"UsedMemHigh", cuda.MemPoolAttrUsedMemHigh},
}

// poolCalls are the calls that name a pool.
var poolCalls = []struct {
	name string
	call func(l *log, pool cuda.MemPool) error
}{
	{"MemPoolTrimTo(pool, 0)", func(_ *log, pool cuda.MemPool) error { return cuda.MemPoolTrimTo(pool, 0) }},
	{"MemPoolGetAttribute(pool, ReleaseThreshold)", func(_ *log, pool cuda.MemPool) error {
		_, err := cuda.MemPoolGetAttribute(pool, cuda.MemPoolAttrReleaseThreshold)
		return err
	}},
	{"MemPoolSetAttribute(pool, ReleaseThreshold, 1)", func(_ *log, pool cuda.MemPool) error {
		return cuda.MemPoolSetAttribute(pool, cuda.MemPoolAttrReleaseThreshold, 1)
	}},
	{"DeviceSetMemPool(0, pool)", func(_ *log, pool cuda.MemPool) error { return cuda.DeviceSetMemPool(0, pool) }},
	{"MallocFromPoolAsync(64, pool, s)", func(l *log, pool cuda.MemPool) error {
		_, err := cuda.MallocFromPoolAsync(64, pool, l.stream(cuda.StreamNonBlocking))
		return err
	}},
	{"MallocFromPoolAsync(0, pool, s)", func(l *log, pool cuda.MemPool) error {
		_, err := cuda.MallocFromPoolAsync(0, pool, l.stream(cuda.StreamNonBlocking))
		return err
	}},
	{"MemPoolDestroy(pool)", func(_ *log, pool cuda.MemPool) error { return cuda.MemPoolDestroy(pool) }},
}

// callAll makes every call that names a pool with one pool.
func (l *log) callAll(pool cuda.MemPool) {
	for _, c := range poolCalls {
		l.answer(c.name, c.call(l, pool))
	}
}

var poolsCallRows = []row{
	{Name: "pools/create-destroy", Run: func(l *log) {
		pool, err := cuda.MemPoolCreate(cuda.MemPoolProps{})
		l.answer("MemPoolCreate()", err)
		l.saw("it is the default pool: %t", pool == l.defaultPool())
		l.answer("MemPoolDestroy(pool)", cuda.MemPoolDestroy(pool))
	}},
	{Name: "pools/every-call", Run: func(l *log) { l.callAll(l.newPool()) }},
	{Name: "pools/default-pool-in-every-call", Run: func(l *log) { l.callAll(l.defaultPool()) }},
	{Name: "pools/destroyed", Note: binding, Run: func(l *log) {
		pool := l.newPool()
		l.must(cuda.MemPoolDestroy(pool))
		l.callAll(pool)
	}},
	{Name: "pools/fresh-thread", Run: func(l *log) {
		onFreshThread(func() { l.callAll(l.newPool()) })
		onFreshThread(func() { l.whose("on another", nil) })
	}},
	{Name: "pools/device-numbers", Note: binding, Run: func(l *log) {
		_, err := cuda.MemPoolCreate(cuda.MemPoolProps{Device: 1})
		l.answer("MemPoolCreate(device 1)", err)
		_, err = cuda.DeviceGetDefaultMemPool(1)
		l.answer("DeviceGetDefaultMemPool(1)", err)
		_, err = cuda.DeviceGetMemPool(-1)
		l.answer("DeviceGetMemPool(-1)", err)
		l.answer("DeviceSetMemPool(1, pool)", cuda.DeviceSetMemPool(1, l.newPool()))
	}},
	{Name: "pools/trim-negative", Note: binding, Run: func(l *log) {
		l.answer("MemPoolTrimTo(pool, -1)", cuda.MemPoolTrimTo(l.newPool(), -1))
	}},
	{Name: "pools/calls-do-not-wait", Run: func(l *log) {
		l.delay(cuda.Stream{})
		l.busy()
		var pool cuda.MemPool
		l.timed("MemPoolCreate()", func() (err error) { pool, err = cuda.MemPoolCreate(cuda.MemPoolProps{}); return err })
		for _, c := range poolCalls {
			l.timed(c.name, func() error { return c.call(l, pool) })
		}
	}},

	{Name: "pools/attributes", Run: func(l *log) {
		pool := l.newPool()
		for _, a := range poolAttributes {
			l.saw("%s is %d", a.name, l.get(pool, a.attr))
		}
	}},
	{Name: "pools/attributes-are-set", Run: func(l *log) {
		for _, value := range []uint64{0, 1, 2, 12345, 1 << 32, math.MaxUint64} {
			for _, a := range poolAttributes {
				pool := l.newPool()
				err := cuda.MemPoolSetAttribute(pool, a.attr, value)
				l.saw("%s = %d → %s, is %d", a.name, value, codeName(err), l.get(pool, a.attr))
			}
		}
	}},
	{Name: "pools/attributes-unknown", Run: func(l *log) {
		pool := l.newPool()
		for _, attr := range []cuda.MemPoolAttr{-1, 0, 99, math.MaxInt32} {
			_, err := cuda.MemPoolGetAttribute(pool, attr)
			l.saw("MemPoolGetAttribute(pool, %d) → %s", attr, codeName(err))
			l.saw("MemPoolSetAttribute(pool, %d, 0) → %s", attr, codeName(cuda.MemPoolSetAttribute(pool, attr, 0)))
		}
	}},
	{Name: "pools/attributes-of-two", Run: func(l *log) {
		a, b := l.newPool(), l.newPool()
		l.set(a, cuda.MemPoolAttrReleaseThreshold, 1000)
		l.set(a, cuda.MemPoolReuseAllowOpportunistic, 0)
		for _, pool := range []cuda.MemPool{a, b, l.defaultPool()} {
			l.saw("ReleaseThreshold is %d, ReuseAllowOpportunistic is %d",
				l.get(pool, cuda.MemPoolAttrReleaseThreshold), l.get(pool, cuda.MemPoolReuseAllowOpportunistic))
		}
	}},
	{Name: "pools/watermarks-reset-below", Run: func(l *log) {
		s, pool := l.stream(cuda.StreamNonBlocking), l.newPool()
		p, q := l.mallocFrom(pool, 40*mib, s), l.mallocFrom(pool, 10*mib, s)
		l.must(cuda.FreeAsync(p, s))
		l.must(cuda.StreamSynchronize(s))
		l.holds("one of two freed", pool)
		l.set(pool, cuda.MemPoolAttrReservedMemHigh, 0)
		l.holds("ReservedMemHigh = 0", pool)
		l.set(pool, cuda.MemPoolAttrUsedMemHigh, 0)
		l.holds("UsedMemHigh = 0", pool)
		l.must(cuda.FreeAsync(q, s))
		l.must(cuda.StreamSynchronize(s))
		l.holds("both freed", pool)
		l.mallocFrom(pool, 5*mib, s)
		l.holds("5 MiB", pool)
	}},

	{Name: "pools/malloc-zero-bytes", Run: func(l *log) {
		pool := l.newPool()
		p, err := cuda.MallocFromPoolAsync(0, pool, l.stream(cuda.StreamNonBlocking))
		l.pointer("MallocFromPoolAsync(0, pool, s)", p, err)
		l.holds("after", pool)
	}},
	{Name: "pools/malloc-negative", Note: binding, Run: func(l *log) {
		p, err := cuda.MallocFromPoolAsync(-1, l.newPool(), l.stream(cuda.StreamNonBlocking))
		l.pointer("MallocFromPoolAsync(-1, pool, s)", p, err)
	}},
	{Name: "pools/malloc-too-much", Run: func(l *log) {
		s, pool := l.stream(cuda.StreamNonBlocking), l.newPool()
		p, err := cuda.MallocFromPoolAsync(tooMuch, pool, s)
		l.pointer("MallocFromPoolAsync(1 PiB, pool, s)", p, err)
		l.holds("after", pool)
		p, err = cuda.MallocFromPoolAsync(64, pool, s)
		l.pointer("MallocFromPoolAsync(64, pool, s)", p, err)
		l.holds("after", pool)
	}},
	{Name: "pools/malloc-legacy-stream", Run: func(l *log) {
		p, err := cuda.MallocFromPoolAsync(64, l.newPool(), cuda.Stream{})
		l.pointer("MallocFromPoolAsync(64, pool, legacy)", p, err)
		l.answer("Memset(p, 3, 64)", cuda.Memset(p, 3, 64))
		l.bytes("p", p, 64)
		l.answer("FreeAsync(p, legacy)", cuda.FreeAsync(p, cuda.Stream{}))
	}},
	{Name: "pools/malloc-destroyed-stream", Note: binding, Run: func(l *log) {
		s := l.stream(0)
		l.must(cuda.StreamDestroy(s))
		p, err := cuda.MallocFromPoolAsync(64, l.newPool(), s)
		l.pointer("MallocFromPoolAsync(64, pool, s)", p, err)
	}},
	{Name: "pools/bounds", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		p := l.mallocFrom(l.newPool(), 1000, s)
		l.answer("MemsetAsync(p, 1000 bytes, s)", cuda.MemsetAsync(p, 1, 1000, s))
		l.answer("MemsetAsync(p, 1001 bytes, s)", cuda.MemsetAsync(p, 1, 1001, s))
	}},
	{Name: "pools/free-misuse", Run: func(l *log) {
		s, pool := l.stream(cuda.StreamNonBlocking), l.newPool()
		p := l.mallocFrom(pool, 4096, s)
		l.answer("FreeAsync(p+256, s)", cuda.FreeAsync(p+256, s))
		l.delay(s)
		l.answer("FreeAsync(p, s)", cuda.FreeAsync(p, s))
		l.answer("FreeAsync(p, s), pending", cuda.FreeAsync(p, s))
		l.answer("MemsetAsync(p, s), pending", cuda.MemsetAsync(p, 1, 64, s))
		l.answer("Free(p), pending", cuda.Free(p))
		l.must(cuda.StreamSynchronize(s))
		l.answer("FreeAsync(p, s), done", cuda.FreeAsync(p, s))
		l.answer("Free(p), done", cuda.Free(p))
		l.holds("after", pool)
	}},
	{Name: "pools/free-on-another-stream", Run: func(l *log) {
		s, other, pool := l.stream(cuda.StreamNonBlocking), l.stream(cuda.StreamNonBlocking), l.newPool()
		p := l.mallocFrom(pool, 4096, s)
		l.answer("FreeAsync(p, other)", cuda.FreeAsync(p, other))
		l.must(cuda.DeviceSynchronize())
		l.holds("after", pool)
	}},
}

// poolsNullRows come last: they hand the driver a null handle.
var poolsNullRows = []row{
	{Name: "pools/null", Run: func(l *log) { l.callAll(cuda.MemPool{}) }},
}
