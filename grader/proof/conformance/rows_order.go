package conformance

import "cudalab/native/cuda"

// orderRows ask what the legacy default stream waits for and what waits for it.
var orderRows = []row{
	{Name: "legacy/after-blocking", Run: func(l *log) {
		l.delay(l.stream(0))
		l.delay(cuda.Stream{})
		l.timed("DeviceSynchronize()", cuda.DeviceSynchronize)
	}},
	{Name: "legacy/before-blocking", Run: func(l *log) {
		s := l.stream(0)
		l.delay(cuda.Stream{})
		l.delay(s)
		l.timed("StreamSynchronize(s)", func() error { return cuda.StreamSynchronize(s) })
	}},
	{Name: "legacy/between-blocking", Run: func(l *log) {
		a, b := l.stream(0), l.stream(0)
		l.delay(a)
		l.delay(cuda.Stream{})
		l.delay(b)
		l.timed("StreamSynchronize(b)", func() error { return cuda.StreamSynchronize(b) })
	}},
	{Name: "legacy/before-two-blocking", Run: func(l *log) {
		a, b := l.stream(0), l.stream(0)
		l.delay(cuda.Stream{})
		l.delay(a)
		l.delay(b)
		l.timed("DeviceSynchronize()", cuda.DeviceSynchronize)
	}},
	{Name: "legacy/after-non-blocking", Run: func(l *log) {
		l.busy()
		l.delay(cuda.Stream{})
		l.timed("DeviceSynchronize()", cuda.DeviceSynchronize)
	}},
	{Name: "legacy/before-non-blocking", Run: func(l *log) {
		l.delay(cuda.Stream{})
		s := l.busy()
		l.timed("StreamSynchronize(s)", func() error { return cuda.StreamSynchronize(s) })
	}},
	{Name: "legacy/memset-after-blocking", Run: func(l *log) {
		s, p := l.stream(0), l.filled(0, 64)
		l.delay(s)
		l.must(cuda.MemsetAsync(p, 1, 64, s))
		l.timed("Memset(p)", func() error { return cuda.Memset(p, 2, 32) })
		l.timed("StreamSynchronize(legacy)", func() error { return cuda.StreamSynchronize(cuda.Stream{}) })
		l.bytes("p", p, 64)
	}},
	{Name: "legacy/memset-after-non-blocking", Run: func(l *log) {
		p := l.filled(0, 64)
		s := l.busy()
		l.must(cuda.MemsetAsync(p, 1, 64, s))
		l.must(cuda.Memset(p, 2, 32))
		l.timed("StreamSynchronize(legacy)", func() error { return cuda.StreamSynchronize(cuda.Stream{}) })
		l.bytes("p", p, 64)
	}},
	{Name: "legacy/blocking-waits-for-memset", Run: func(l *log) {
		a, b, p := l.stream(0), l.stream(0), l.filled(0, 64)
		l.delay(a)
		l.must(cuda.Memset(p, 1, 64))
		l.must(cuda.MemsetAsync(p, 2, 32, b))
		l.timed("StreamSynchronize(b)", func() error { return cuda.StreamSynchronize(b) })
		l.bytes("p", p, 64)
	}},
	{Name: "legacy/record-after-blocking", Run: func(l *log) {
		l.delay(l.stream(0))
		e := l.recorded(cuda.Stream{})
		l.answer("EventQuery(e)", cuda.EventQuery(e))
		l.timed("EventSynchronize(e)", func() error { return cuda.EventSynchronize(e) })
	}},
	{Name: "legacy/record-after-non-blocking", Run: func(l *log) {
		l.busy()
		e := l.recorded(cuda.Stream{})
		l.timed("EventSynchronize(e)", func() error { return cuda.EventSynchronize(e) })
	}},
	{Name: "legacy/synchronize-after-blocking", Run: func(l *log) {
		l.delay(l.stream(0))
		l.answer("StreamQuery(legacy)", cuda.StreamQuery(cuda.Stream{}))
		l.timed("StreamSynchronize(legacy)", func() error { return cuda.StreamSynchronize(cuda.Stream{}) })
	}},
	{Name: "legacy/synchronize-after-non-blocking", Run: func(l *log) {
		l.busy()
		l.answer("StreamQuery(legacy)", cuda.StreamQuery(cuda.Stream{}))
		l.timed("StreamSynchronize(legacy)", func() error { return cuda.StreamSynchronize(cuda.Stream{}) })
	}},
	{Name: "legacy/wait-event", Run: func(l *log) {
		e := l.recorded(l.busy())
		l.answer("StreamWaitEvent(legacy, e)", cuda.StreamWaitEvent(cuda.Stream{}, e))
		l.timed("StreamSynchronize(legacy)", func() error { return cuda.StreamSynchronize(cuda.Stream{}) })
	}},
	{Name: "legacy/wait-event-holds-blocking", Run: func(l *log) {
		s := l.stream(0)
		l.must(cuda.StreamWaitEvent(cuda.Stream{}, l.recorded(l.busy())))
		l.must(launchNothing(cuda.Dim3{X: 1}, cuda.Dim3{X: 1}, s))
		l.timed("StreamSynchronize(s)", func() error { return cuda.StreamSynchronize(s) })
	}},
	{Name: "legacy/malloc-async", Run: func(l *log) {
		p, err := cuda.MallocAsync(64, cuda.Stream{})
		l.pointer("MallocAsync(64, legacy)", p, err)
		l.answer("Memset(p)", cuda.Memset(p, 3, 64))
		l.bytes("p", p, 64)
		l.answer("FreeAsync(p, legacy)", cuda.FreeAsync(p, cuda.Stream{}))
	}},
}
