package conformance

import "cudalab/native/cuda"

var streamRows = []row{
	{Name: "stream/create-destroy", Run: func(l *log) {
		s, err := cuda.StreamCreate()
		l.answer("StreamCreate()", err)
		l.answer("StreamDestroy(s)", cuda.StreamDestroy(s))
	}},
	{Name: "stream/create-non-blocking", Run: func(l *log) {
		_, err := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
		l.answer("StreamCreateWithFlags(StreamNonBlocking)", err)
	}},
	{Name: "stream/create-unknown-flags", Run: func(l *log) {
		_, err := cuda.StreamCreateWithFlags(2)
		l.answer("StreamCreateWithFlags(2)", err)
		_, err = cuda.StreamCreateWithFlags(64)
		l.answer("StreamCreateWithFlags(64)", err)
	}},
	{Name: "stream/destroy-legacy", Run: func(l *log) {
		l.answer("StreamDestroy(legacy)", cuda.StreamDestroy(cuda.Stream{}))
		l.answer("StreamSynchronize(legacy)", cuda.StreamSynchronize(cuda.Stream{}))
	}},
	{Name: "stream/destroy-pending", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		p := l.filled(1, 64)
		l.delay(s)
		l.must(cuda.MemsetAsync(p, 2, 64, s))
		l.timed("StreamDestroy(s), busy", func() error { return cuda.StreamDestroy(s) })
		l.timed("DeviceSynchronize()", cuda.DeviceSynchronize)
		l.bytes("p", p, 64)
	}},
	{Name: "stream/destroyed", Note: binding, Run: func(l *log) {
		s, e, p := l.stream(0), l.event(), l.malloc(64)
		l.must(cuda.StreamDestroy(s))
		l.answer("StreamDestroy(s)", cuda.StreamDestroy(s))
		l.answer("StreamSynchronize(s)", cuda.StreamSynchronize(s))
		l.answer("StreamQuery(s)", cuda.StreamQuery(s))
		l.answer("StreamWaitEvent(s, e)", cuda.StreamWaitEvent(s, e))
		l.answer("EventRecord(e, s)", cuda.EventRecord(e, s))
		_, err := cuda.MallocAsync(64, s)
		l.answer("MallocAsync(64, s)", err)
		l.answer("FreeAsync(p, s)", cuda.FreeAsync(p, s))
		l.answer("MemsetAsync(p, 0, 64, s)", cuda.MemsetAsync(p, 0, 64, s))
		l.answer("launch on s", launchNothing(cuda.Dim3{X: 1}, cuda.Dim3{X: 1}, s))
	}},
	{Name: "stream/synchronize-idle", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		l.timed("StreamSynchronize(s)", func() error { return cuda.StreamSynchronize(s) })
		l.timed("StreamSynchronize(legacy)", func() error { return cuda.StreamSynchronize(cuda.Stream{}) })
	}},
	{Name: "stream/synchronize-busy", Run: func(l *log) {
		s := l.busy()
		l.timed("StreamSynchronize(s)", func() error { return cuda.StreamSynchronize(s) })
		l.timed("StreamSynchronize(s)", func() error { return cuda.StreamSynchronize(s) })
	}},
	{Name: "stream/synchronize-another", Run: func(l *log) {
		l.busy()
		s := l.stream(cuda.StreamNonBlocking)
		l.timed("StreamSynchronize(s), another is busy", func() error { return cuda.StreamSynchronize(s) })
		l.timed("DeviceSynchronize()", cuda.DeviceSynchronize)
	}},
	{Name: "stream/query", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		l.answer("StreamQuery(s), idle", cuda.StreamQuery(s))
		l.delay(s)
		l.answer("StreamQuery(s), busy", cuda.StreamQuery(s))
		l.must(cuda.StreamSynchronize(s))
		l.answer("StreamQuery(s), synchronised", cuda.StreamQuery(s))
	}},
	{Name: "stream/query-another", Run: func(l *log) {
		l.busy()
		s := l.stream(cuda.StreamNonBlocking)
		l.answer("StreamQuery(s), another is busy", cuda.StreamQuery(s))
	}},
	{Name: "stream/query-until-done", Run: func(l *log) {
		s := l.busy()
		l.timed("StreamQuery(s) until it is done", func() error {
			for {
				if err := cuda.StreamQuery(s); codeName(err) != "CUDA_ERROR_NOT_READY" {
					return err
				}
			}
		})
	}},
	{Name: "stream/in-order", Run: func(l *log) {
		s, p := l.stream(cuda.StreamNonBlocking), l.malloc(64)
		l.must(cuda.MemsetAsync(p, 1, 64, s))
		l.delay(s)
		l.must(cuda.MemsetAsync(p+16, 2, 16, s))
		l.must(cuda.MemcpyDtoDAsync(p+32, p, 32, s))
		l.bytes("p", p, 64)
	}},
	{Name: "stream/two-delays-in-one", Run: func(l *log) {
		s := l.busy()
		l.delay(s)
		l.timed("StreamSynchronize(s)", func() error { return cuda.StreamSynchronize(s) })
	}},
	{Name: "stream/non-blocking-overlap", Run: func(l *log) {
		l.busy()
		l.busy()
		l.timed("DeviceSynchronize()", cuda.DeviceSynchronize)
	}},
	{Name: "stream/blocking-overlap", Run: func(l *log) {
		l.delay(l.stream(0))
		l.delay(l.stream(0))
		l.timed("DeviceSynchronize()", cuda.DeviceSynchronize)
	}},
	{Name: "stream/create-behind-work", Run: func(l *log) {
		l.busy()
		l.timed("StreamCreate()", func() error { _, err := cuda.StreamCreate(); return err })
	}},
}
