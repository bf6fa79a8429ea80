package conformance

import "cudalab/native/cuda"

const (
	tooMuch = int64(1) << 50
	garbage = cuda.DevicePtr(12345)
	mib     = int64(1) << 20
)

var mallocRows = []row{
	{Name: "malloc/one-byte", Run: func(l *log) {
		p, err := cuda.Malloc(1)
		l.pointer("Malloc(1)", p, err)
		l.answer("Memset(p, 1 byte)", cuda.Memset(p, 1, 1))
		l.answer("Free(p)", cuda.Free(p))
	}},
	{Name: "malloc/aligned", Run: func(l *log) {
		p, q := l.malloc(1), l.malloc(1)
		l.saw("addresses are multiples of 256: %t", p%256 == 0 && q%256 == 0)
	}},
	{Name: "malloc/zero-bytes", Run: func(l *log) {
		p, err := cuda.Malloc(0)
		l.pointer("Malloc(0)", p, err)
	}},
	{Name: "malloc/negative", Note: binding, Run: func(l *log) {
		p, err := cuda.Malloc(-1)
		l.pointer("Malloc(-1)", p, err)
	}},
	{Name: "malloc/too-much", Run: func(l *log) {
		p, err := cuda.Malloc(tooMuch)
		l.pointer("Malloc(1 PiB)", p, err)
		p, err = cuda.Malloc(64)
		l.pointer("Malloc(64)", p, err)
	}},
	{Name: "malloc/the-whole-device", Run: func(l *log) {
		_, total, err := cuda.MemGetInfo()
		l.must(err)
		p, err := cuda.Malloc(total)
		l.pointer("Malloc(total)", p, err)
	}},
	{Name: "malloc/memory-info", Run: func(l *log) {
		before, _, err := cuda.MemGetInfo()
		l.must(err)
		p := l.malloc(512 * mib)
		during, _, err := cuda.MemGetInfo()
		l.must(err)
		l.must(cuda.Free(p))
		after, _, err := cuda.MemGetInfo()
		l.must(err)
		l.saw("Malloc(512 MiB) takes %d MiB, Free gives back %d MiB", (before-during)/mib, (after-during)/mib)
	}},
	{Name: "free/null", Run: func(l *log) {
		l.answer("Free(null)", cuda.Free(0))
	}},
	{Name: "free/garbage", Run: func(l *log) {
		l.answer("Free(12345)", cuda.Free(garbage))
	}},
	{Name: "free/interior", Run: func(l *log) {
		p := l.malloc(4096)
		l.answer("Free(p+256)", cuda.Free(p+256))
		l.answer("Free(p+1)", cuda.Free(p+1))
		l.answer("Free(p)", cuda.Free(p))
	}},
	{Name: "free/twice", Run: func(l *log) {
		p := l.malloc(4096)
		l.answer("Free(p)", cuda.Free(p))
		l.answer("Free(p)", cuda.Free(p))
	}},
	{Name: "free/pool-memory", Run: func(l *log) {
		p := l.mallocAsync(4096, l.stream(cuda.StreamNonBlocking))
		l.must(cuda.DeviceSynchronize())
		l.answer("Free(p)", cuda.Free(p))
		l.answer("Free(p)", cuda.Free(p))
	}},
	{Name: "free/pool-memory-interior", Run: func(l *log) {
		p := l.mallocAsync(4096, l.stream(cuda.StreamNonBlocking))
		l.must(cuda.DeviceSynchronize())
		l.answer("Free(p+256)", cuda.Free(p+256))
		l.answer("Free(p)", cuda.Free(p))
	}},
	{Name: "free/after-free-async-pending", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		p := l.mallocAsync(4096, s)
		l.delay(s)
		l.must(cuda.FreeAsync(p, s))
		l.timed("Free(p)", func() error { return cuda.Free(p) })
	}},
	{Name: "free/after-free-async-done", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		p := l.mallocAsync(4096, s)
		l.must(cuda.FreeAsync(p, s))
		l.must(cuda.StreamSynchronize(s))
		l.answer("Free(p)", cuda.Free(p))
	}},
	{Name: "malloc/memset-and-copies", Run: func(l *log) {
		p, q := l.malloc(64), l.malloc(64)
		l.answer("Memset(p, 1, 64)", cuda.Memset(p, 1, 64))
		l.answer("Memset(p+8, 2, 8)", cuda.Memset(p+8, 2, 8))
		l.answer("MemcpyDtoD(q, p, 64)", cuda.MemcpyDtoD(q, p, 64))
		l.answer("MemcpyHtoD(q+60, …, 4)", cuda.MemcpyHtoD(q+60, cuda.Pageable{7, 7, 7, 7}, 4))
		l.bytes("q", q, 64)
	}},
}

var mallocAsyncRows = []row{
	{Name: "malloc-async/use-and-free", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		p, err := cuda.MallocAsync(1, s)
		l.pointer("MallocAsync(1, s)", p, err)
		l.answer("MemsetAsync(p, 1 byte, s)", cuda.MemsetAsync(p, 1, 1, s))
		l.answer("FreeAsync(p, s)", cuda.FreeAsync(p, s))
		l.answer("StreamSynchronize(s)", cuda.StreamSynchronize(s))
	}},
	{Name: "malloc-async/aligned", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		p, q := l.mallocAsync(1, s), l.mallocAsync(1, s)
		l.saw("addresses are multiples of 256: %t", p%256 == 0 && q%256 == 0)
	}},
	{Name: "malloc-async/zero-bytes", Run: func(l *log) {
		p, err := cuda.MallocAsync(0, l.stream(cuda.StreamNonBlocking))
		l.pointer("MallocAsync(0, s)", p, err)
	}},
	{Name: "malloc-async/negative", Note: binding, Run: func(l *log) {
		p, err := cuda.MallocAsync(-1, l.stream(cuda.StreamNonBlocking))
		l.pointer("MallocAsync(-1, s)", p, err)
	}},
	{Name: "malloc-async/too-much", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		p, err := cuda.MallocAsync(tooMuch, s)
		l.pointer("MallocAsync(1 PiB, s)", p, err)
		p, err = cuda.MallocAsync(64, s)
		l.pointer("MallocAsync(64, s)", p, err)
	}},
	{Name: "free-async/null", Run: func(l *log) {
		l.answer("FreeAsync(null, s)", cuda.FreeAsync(0, l.stream(cuda.StreamNonBlocking)))
		l.answer("FreeAsync(null, legacy)", cuda.FreeAsync(0, cuda.Stream{}))
	}},
	{Name: "free-async/garbage", Run: func(l *log) {
		l.answer("FreeAsync(12345, s)", cuda.FreeAsync(garbage, l.stream(cuda.StreamNonBlocking)))
	}},
	{Name: "free-async/interior", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		p := l.mallocAsync(4096, s)
		l.answer("FreeAsync(p+256, s)", cuda.FreeAsync(p+256, s))
		l.answer("FreeAsync(p, s)", cuda.FreeAsync(p, s))
	}},
	{Name: "free-async/twice-pending", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		p := l.mallocAsync(4096, s)
		l.delay(s)
		l.answer("FreeAsync(p, s)", cuda.FreeAsync(p, s))
		l.answer("FreeAsync(p, s)", cuda.FreeAsync(p, s))
	}},
	{Name: "free-async/twice-done", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		p := l.mallocAsync(4096, s)
		l.answer("FreeAsync(p, s)", cuda.FreeAsync(p, s))
		l.must(cuda.StreamSynchronize(s))
		l.answer("FreeAsync(p, s)", cuda.FreeAsync(p, s))
	}},
	{Name: "free-async/twice-other-stream", Run: func(l *log) {
		s, other := l.stream(cuda.StreamNonBlocking), l.stream(cuda.StreamNonBlocking)
		p := l.mallocAsync(4096, s)
		l.delay(s)
		l.answer("FreeAsync(p, s)", cuda.FreeAsync(p, s))
		l.answer("FreeAsync(p, other)", cuda.FreeAsync(p, other))
	}},
	{Name: "free-async/other-stream", Run: func(l *log) {
		s, other := l.stream(cuda.StreamNonBlocking), l.stream(cuda.StreamNonBlocking)
		p := l.mallocAsync(4096, s)
		l.answer("FreeAsync(p, other)", cuda.FreeAsync(p, other))
	}},
	{Name: "free-async/legacy-stream", Run: func(l *log) {
		p := l.mallocAsync(4096, l.stream(cuda.StreamNonBlocking))
		l.answer("FreeAsync(p, legacy)", cuda.FreeAsync(p, cuda.Stream{}))
	}},
	{Name: "free-async/malloc-memory", Run: func(l *log) {
		s, p := l.stream(cuda.StreamNonBlocking), l.malloc(4096)
		l.answer("FreeAsync(p, s)", cuda.FreeAsync(p, s))
		l.must(cuda.StreamSynchronize(s))
		l.answer("FreeAsync(p, s)", cuda.FreeAsync(p, s))
		l.answer("Free(p)", cuda.Free(p))
	}},
	{Name: "free-async/malloc-memory-interior", Run: func(l *log) {
		s, p := l.stream(cuda.StreamNonBlocking), l.malloc(4096)
		l.answer("FreeAsync(p+256, s)", cuda.FreeAsync(p+256, s))
		l.answer("Free(p)", cuda.Free(p))
	}},
	{Name: "free-async/after-free", Run: func(l *log) {
		s, p := l.stream(cuda.StreamNonBlocking), l.malloc(4096)
		l.must(cuda.Free(p))
		l.answer("FreeAsync(p, s)", cuda.FreeAsync(p, s))
	}},
}
