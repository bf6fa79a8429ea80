package conformance

import "cudalab/native/cuda"

// waitRows ask which calls wait for the device.
var waitRows = []row{
	{Name: "waits/malloc", Run: func(l *log) {
		l.busy()
		l.timed("Malloc(4096)", func() error { _, err := cuda.Malloc(4096); return err })
		l.timed("Malloc(1 GiB)", func() error { _, err := cuda.Malloc(1024 * mib); return err })
	}},
	{Name: "waits/free-malloc-memory", Run: func(l *log) {
		p := l.malloc(4096)
		l.busy()
		l.timed("Free(p)", func() error { return cuda.Free(p) })
	}},
	{Name: "waits/free-malloc-memory-blocking-stream", Run: func(l *log) {
		p := l.malloc(4096)
		l.delay(l.stream(0))
		l.timed("Free(p)", func() error { return cuda.Free(p) })
	}},
	{Name: "waits/free-pool-memory", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		p := l.mallocAsync(4096, s)
		l.must(cuda.StreamSynchronize(s))
		l.delay(s)
		l.timed("Free(p)", func() error { return cuda.Free(p) })
		l.answer("StreamQuery(s)", cuda.StreamQuery(s))
	}},
	{Name: "waits/free-null", Run: func(l *log) {
		l.busy()
		l.timed("Free(null)", func() error { return cuda.Free(0) })
	}},
	{Name: "waits/malloc-async", Run: func(l *log) {
		s := l.busy()
		l.timed("MallocAsync(4096, s)", func() error { _, err := cuda.MallocAsync(4096, s); return err })
	}},
	{Name: "waits/free-async", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		p := l.mallocAsync(4096, s)
		l.delay(s)
		l.timed("FreeAsync(p, s)", func() error { return cuda.FreeAsync(p, s) })
	}},
	{Name: "waits/free-async-malloc-memory", Run: func(l *log) {
		p := l.malloc(4096)
		s := l.busy()
		l.timed("FreeAsync(p, s)", func() error { return cuda.FreeAsync(p, s) })
	}},
	{Name: "waits/malloc-host", Run: func(l *log) {
		l.busy()
		l.timed("MallocHost(4096)", func() error { _, err := cuda.MallocHost(4096); return err })
	}},
	{Name: "waits/free-host", Run: func(l *log) {
		h := l.host(4096)
		l.busy()
		l.timed("FreeHost(h)", func() error { return cuda.FreeHost(h) })
	}},
	{Name: "waits/memory-info", Run: func(l *log) {
		l.busy()
		l.timed("MemGetInfo()", func() error { _, _, err := cuda.MemGetInfo(); return err })
	}},
	{Name: "waits/launch", Run: func(l *log) {
		s := l.busy()
		l.timed("launch", func() error { return launchNothing(cuda.Dim3{X: 1}, cuda.Dim3{X: 1}, s) })
	}},
	waitsLegacy("memset", 64, func(x *sides) error { return cuda.Memset(x.p, 1, x.n) }),
	waitsLegacy("dtod", 64, func(x *sides) error { return cuda.MemcpyDtoD(x.p, x.q, x.n) }),
	waitsLegacy("htod", 64, func(x *sides) error { return cuda.MemcpyHtoD(x.p, x.slice, x.n) }),
	waitsLegacy("htod-large", 64*mib, func(x *sides) error { return cuda.MemcpyHtoD(x.p, x.slice, x.n) }),
	waitsLegacy("htod-pinned", 64, func(x *sides) error { return cuda.MemcpyHtoD(x.p, x.h, x.n) }),
	waitsLegacy("dtoh", 4, func(x *sides) error { return cuda.MemcpyDtoH(x.slice, x.p, x.n) }),
	waitsLegacy("dtoh-pinned", 64, func(x *sides) error { return cuda.MemcpyDtoH(x.h, x.p, x.n) }),
	waitsInStream("memset-async", 64, func(x *sides) error { return cuda.MemsetAsync(x.p, 1, x.n, x.s) }),
	waitsInStream("dtod-async", 64, func(x *sides) error { return cuda.MemcpyDtoDAsync(x.p, x.q, x.n, x.s) }),
	waitsInStream("htod-async-4-bytes", 4, htodAsync),
	waitsInStream("htod-async-32-kib", 32<<10, htodAsync),
	waitsInStream("htod-async-64-mib", 64*mib, htodAsync),
	waitsInStream("dtoh-async-4-bytes", 4, dtohAsync),
	waitsInStream("dtoh-async-64-mib", 64*mib, dtohAsync),
	waitsInStream("htod-async-pinned", mib, func(x *sides) error { return cuda.MemcpyHtoDAsync(x.p, x.h, x.n, x.s) }),
	waitsInStream("dtoh-async-pinned", mib, func(x *sides) error { return cuda.MemcpyDtoHAsync(x.h, x.p, x.n, x.s) }),
}

func htodAsync(x *sides) error { return cuda.MemcpyHtoDAsync(x.p, x.slice, x.n, x.s) }
func dtohAsync(x *sides) error { return cuda.MemcpyDtoHAsync(x.slice, x.p, x.n, x.s) }

// sides are n bytes of every kind of memory, touched before, so that making them costs no time later.
type sides struct {
	n     int64
	p, q  cuda.DevicePtr
	slice cuda.Pageable
	h     cuda.HostBuffer
	s     cuda.Stream // non-blocking
}

func newSides(l *log, n int64) *sides {
	x := &sides{n: n, p: l.filled(0, n), q: l.filled(0, n), slice: make(cuda.Pageable, n), h: l.host(n),
		s: l.stream(cuda.StreamNonBlocking)}
	for i := range x.slice {
		x.slice[i] = 1
	}
	return x
}

// waitsLegacy times a call of the legacy stream's behind a busy legacy, blocking and non-blocking stream.
func waitsLegacy(name string, n int64, call func(x *sides) error) row {
	return row{Name: "waits/" + name, Run: func(l *log) {
		x := newSides(l, n)
		for _, s := range []struct {
			name   string
			stream cuda.Stream
		}{{"legacy", cuda.Stream{}}, {"blocking", l.stream(0)}, {"non-blocking", x.s}} {
			l.delay(s.stream)
			l.timed(s.name+" stream busy", func() error { return call(x) })
			l.must(cuda.DeviceSynchronize())
		}
	}}
}

// waitsInStream times a call in a busy stream.
func waitsInStream(name string, n int64, call func(x *sides) error) row {
	return row{Name: "waits/" + name, Run: func(l *log) {
		x := newSides(l, n)
		l.delay(x.s)
		l.timed("behind work", func() error { return call(x) })
	}}
}
