package conformance

import "cudalab/native/cuda"

// poolsLifeRows ask which pool is current, where memory goes back to, and what is left of a pool that was destroyed.
var poolsLifeRows = []row{
	{Name: "pools/current-at-first", Run: func(l *log) { l.whose("at first", nil) }},
	{Name: "pools/set-current", Run: func(l *log) {
		s, pool := l.stream(cuda.StreamNonBlocking), l.newPool()
		l.answer("DeviceSetMemPool(0, pool)", cuda.DeviceSetMemPool(0, pool))
		l.whose("then", map[string]cuda.MemPool{"pool": pool})
		l.mallocAsync(1000, s)
		l.holds("after MallocAsync(1000), pool", pool)
		l.pool("after MallocAsync(1000), the default pool")
		l.answer("DeviceSetMemPool(0, default)", cuda.DeviceSetMemPool(0, l.defaultPool()))
		l.whose("then", map[string]cuda.MemPool{"pool": pool})
		l.mallocAsync(500, s)
		l.holds("after MallocAsync(500), pool", pool)
		l.pool("after MallocAsync(500), the default pool")
	}},
	{Name: "pools/set-current-twice", Run: func(l *log) {
		a, b := l.newPool(), l.newPool()
		named := map[string]cuda.MemPool{"a": a, "b": b}
		l.must(cuda.DeviceSetMemPool(0, a))
		l.must(cuda.DeviceSetMemPool(0, b))
		l.whose("after a and b", named)
		l.answer("MemPoolDestroy(a)", cuda.MemPoolDestroy(a))
		l.whose("after it", named)
		l.answer("MemPoolDestroy(b)", cuda.MemPoolDestroy(b))
		l.whose("after it", named)
	}},
	{Name: "pools/destroy-current", Run: func(l *log) {
		s, pool := l.stream(cuda.StreamNonBlocking), l.newPool()
		l.must(cuda.DeviceSetMemPool(0, pool))
		l.answer("MemPoolDestroy(pool)", cuda.MemPoolDestroy(pool))
		l.whose("after it", map[string]cuda.MemPool{"pool": pool})
		l.mallocAsync(1000, s)
		l.pool("after MallocAsync(1000), the default pool")
	}},
	{Name: "pools/destroy-current-live", Run: func(l *log) {
		s, pool := l.stream(cuda.StreamNonBlocking), l.newPool()
		l.must(cuda.DeviceSetMemPool(0, pool))
		p := l.mallocAsync(1000, s)
		l.answer("MemPoolDestroy(pool)", cuda.MemPoolDestroy(pool))
		q := l.mallocAsync(500, s)
		l.pool("after MallocAsync(500), the default pool")
		l.answer("FreeAsync(p, s)", cuda.FreeAsync(p, s))
		l.answer("FreeAsync(q, s)", cuda.FreeAsync(q, s))
		l.must(cuda.StreamSynchronize(s))
		l.pool("after both frees, the default pool")
	}},
	{Name: "pools/destroy-default-not-current", Run: func(l *log) {
		pool := l.newPool()
		l.must(cuda.DeviceSetMemPool(0, pool))
		l.answer("MemPoolDestroy(default)", cuda.MemPoolDestroy(l.defaultPool()))
		l.whose("after it", map[string]cuda.MemPool{"pool": pool})
	}},
	{Name: "pools/free-goes-to-its-own", Run: func(l *log) {
		s, a, b := l.stream(cuda.StreamNonBlocking), l.newPool(), l.newPool()
		p := l.mallocFrom(a, 1000, s)
		l.must(cuda.DeviceSetMemPool(0, b))
		q := l.mallocAsync(500, s)
		l.holds("a", a)
		l.holds("b", b)
		l.must(cuda.FreeAsync(p, s))
		l.holds("p freed, a", a)
		l.holds("p freed, b", b)
		l.must(cuda.FreeAsync(q, s))
		l.holds("q freed, b", b)
	}},
	{Name: "pools/memory-stays-in-its-own", Run: func(l *log) {
		s, a, b := l.stream(cuda.StreamNonBlocking), l.keepingPool(), l.keepingPool()
		p, err := cuda.MallocFromPoolAsync(20*mib, a, s)
		l.pointer("MallocFromPoolAsync(20 MiB, a)", p, err)
		l.must(cuda.FreeAsync(p, s))
		q, err := cuda.MallocFromPoolAsync(20*mib, b, s)
		l.pointer("freed, MallocFromPoolAsync(20 MiB, b)", q, err)
		p, err = cuda.MallocFromPoolAsync(20*mib, a, s)
		l.pointer("MallocFromPoolAsync(20 MiB, a)", p, err)
	}},
	{Name: "pools/synchronise-releases-all", Run: func(l *log) {
		s, a, b := l.stream(cuda.StreamNonBlocking), l.newPool(), l.keepingPool()
		l.must(cuda.FreeAsync(l.mallocFrom(a, 20*mib, s), s))
		l.must(cuda.FreeAsync(l.mallocFrom(b, 20*mib, s), s))
		l.must(cuda.FreeAsync(l.mallocAsync(20*mib, s), s))
		l.must(cuda.StreamSynchronize(s))
		l.holds("threshold 0", a)
		l.holds("threshold max", b)
		l.pool("the default pool")
	}},
	{Name: "pools/synchronise-another-stream", Run: func(l *log) {
		s, other, pool := l.stream(cuda.StreamNonBlocking), l.stream(cuda.StreamNonBlocking), l.newPool()
		p := l.mallocFrom(pool, 20*mib, s)
		l.delay(s)
		l.must(cuda.FreeAsync(p, s))
		l.must(cuda.StreamSynchronize(other))
		l.holds("other synchronised, the free pending", pool)
		l.must(cuda.StreamSynchronize(s))
		l.holds("s synchronised", pool)
	}},

	{Name: "pools/destroy-live", Run: func(l *log) {
		s, pool := l.stream(cuda.StreamNonBlocking), l.newPool()
		p := l.mallocFrom(pool, 64, s)
		l.must(cuda.MemsetAsync(p, 1, 64, s))
		l.answer("MemPoolDestroy(pool)", cuda.MemPoolDestroy(pool))
		l.answer("MemsetAsync(p, 2, 32, s)", cuda.MemsetAsync(p, 2, 32, s))
		l.bytes("p", p, 64)
		l.answer("FreeAsync(p, s)", cuda.FreeAsync(p, s))
		l.answer("MemsetAsync(p, 3, 32, s)", cuda.MemsetAsync(p, 3, 32, s))
		l.answer("FreeAsync(p, s) again", cuda.FreeAsync(p, s))
		l.answer("StreamSynchronize(s)", cuda.StreamSynchronize(s))
	}},
	{Name: "pools/destroy-live-free-synchronously", Run: func(l *log) {
		s, pool := l.stream(cuda.StreamNonBlocking), l.newPool()
		p := l.mallocFrom(pool, 64, s)
		l.must(cuda.StreamSynchronize(s))
		l.answer("MemPoolDestroy(pool)", cuda.MemPoolDestroy(pool))
		l.answer("Free(p)", cuda.Free(p))
		l.answer("Free(p)", cuda.Free(p))
	}},
	{Name: "pools/destroy-pending-work", Run: func(l *log) {
		s, pool := l.stream(cuda.StreamNonBlocking), l.newPool()
		p := l.mallocFrom(pool, 64, s)
		l.delay(s)
		l.must(cuda.MemsetAsync(p, 5, 64, s))
		l.timed("MemPoolDestroy(pool)", func() error { return cuda.MemPoolDestroy(pool) })
		l.bytes("p", p, 64)
		l.answer("FreeAsync(p, s)", cuda.FreeAsync(p, s))
	}},
	{Name: "pools/destroy-pending-free", Run: func(l *log) {
		s, pool := l.stream(cuda.StreamNonBlocking), l.newPool()
		p := l.mallocFrom(pool, 64, s)
		l.delay(s)
		l.must(cuda.FreeAsync(p, s))
		l.timed("MemPoolDestroy(pool)", func() error { return cuda.MemPoolDestroy(pool) })
		l.timed("StreamSynchronize(s)", func() error { return cuda.StreamSynchronize(s) })
	}},
	{Name: "pools/destroy-again-and-again", Run: func(l *log) {
		s, free := l.stream(cuda.StreamNonBlocking), l.freeMemory()
		for range 8 {
			pool := l.keepingPool()
			l.must(cuda.DeviceSetMemPool(0, pool))
			freed, kept := l.mallocAsync(mib, s), l.mallocAsync(mib, s)
			l.delay(s)
			l.must(cuda.FreeAsync(freed, s))
			l.must(cuda.MemPoolDestroy(pool))
			l.must(cuda.MemsetAsync(kept, 1, mib, s))
			l.must(cuda.FreeAsync(kept, s))
		}
		l.whose("after 8 pools with work and frees ahead", nil)
		l.answer("StreamSynchronize(s)", cuda.StreamSynchronize(s))
		l.taken("synchronised", free)
	}},
	{Name: "pools/destroy-gives-back-what-was-kept", Run: func(l *log) {
		s, pool, free := l.stream(cuda.StreamNonBlocking), l.keepingPool(), l.freeMemory()
		l.must(cuda.FreeAsync(l.mallocFrom(pool, 100*mib, s), s))
		l.must(cuda.StreamSynchronize(s))
		l.taken("freed, synchronised", free)
		l.must(cuda.MemPoolDestroy(pool))
		l.taken("destroyed", free)
	}},
	{Name: "pools/destroy-gives-back-with-the-last-free", Run: func(l *log) {
		s, pool, free := l.stream(cuda.StreamNonBlocking), l.keepingPool(), l.freeMemory()
		p, q := l.mallocFrom(pool, 64*mib, s), l.mallocFrom(pool, 64*mib, s)
		l.must(cuda.StreamSynchronize(s))
		l.taken("2 x 64 MiB", free)
		l.must(cuda.MemPoolDestroy(pool))
		l.taken("destroyed", free)
		l.must(cuda.FreeAsync(p, s))
		l.must(cuda.StreamSynchronize(s))
		l.taken("one freed, synchronised", free)
		l.must(cuda.FreeAsync(q, s))
		l.must(cuda.StreamSynchronize(s))
		l.taken("both freed, synchronised", free)
	}},
	{Name: "pools/destroy-gives-back-behind-a-pending-free", Run: func(l *log) {
		s, pool, free := l.stream(cuda.StreamNonBlocking), l.keepingPool(), l.freeMemory()
		p := l.mallocFrom(pool, 64*mib, s)
		l.delay(s)
		l.must(cuda.FreeAsync(p, s))
		l.must(cuda.MemPoolDestroy(pool))
		l.taken("destroyed, the free pending", free)
		l.must(cuda.StreamSynchronize(s))
		l.taken("synchronised", free)
	}},
	{Name: "pools/trim-gives-back", Run: func(l *log) {
		s, pool, free := l.stream(cuda.StreamNonBlocking), l.keepingPool(), l.freeMemory()
		l.must(cuda.FreeAsync(l.mallocFrom(pool, 100*mib, s), s))
		l.must(cuda.StreamSynchronize(s))
		l.taken("freed, synchronised", free)
		l.must(cuda.MemPoolTrimTo(pool, 64*mib))
		l.taken("trimmed to 64 MiB", free)
		l.must(cuda.MemPoolTrimTo(pool, 0))
		l.taken("trimmed to 0", free)
	}},
	{Name: "pools/create-again", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		for range 3 {
			pool := l.newPool()
			l.holds("new", pool)
			l.must(cuda.FreeAsync(l.mallocFrom(pool, mib, s), s))
			l.answer("MemPoolDestroy(pool)", cuda.MemPoolDestroy(pool))
		}
	}},
}
