package conformance

import (
	"cudalab/native/cuda"
	"cudalab/native/device"
)

// reuseRows ask whether a block that was freed in one stream is handed out again.
var reuseRows = []row{
	{Name: "reuse/same-stream", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		reuse(l, s, s, nil, nil)
	}},
	{Name: "reuse/same-stream-busy", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		reuse(l, s, s, func() { l.delay(s) }, nil)
	}},
	{Name: "reuse/other-stream-busy", Run: func(l *log) {
		s, other := l.stream(cuda.StreamNonBlocking), l.stream(cuda.StreamNonBlocking)
		reuse(l, s, other, func() { l.delay(s) }, nil)
	}},
	{Name: "reuse/other-stream-behind-event", Run: func(l *log) {
		s, other := l.stream(cuda.StreamNonBlocking), l.stream(cuda.StreamNonBlocking)
		reuse(l, s, other, func() { l.delay(s) }, func() { l.must(cuda.StreamWaitEvent(other, l.recorded(s))) })
	}},
	{Name: "reuse/other-stream-behind-event-not-followed", Run: func(l *log) {
		s, other := l.stream(cuda.StreamNonBlocking), l.stream(cuda.StreamNonBlocking)
		l.mustCode(l.setPool(device.PoolReuseFollowEventDependencies, 0))
		reuse(l, s, other, func() { l.delay(s) }, func() { l.must(cuda.StreamWaitEvent(other, l.recorded(s))) })
	}},
	{Name: "reuse/other-stream-synchronised", Run: func(l *log) {
		s, other := l.stream(cuda.StreamNonBlocking), l.stream(cuda.StreamNonBlocking)
		reuse(l, s, other, nil, func() { l.must(cuda.StreamSynchronize(s)) })
	}},
}

// reuse frees a block in one stream and allocates one of the same size in another, doing something before and after
// the free.
func reuse(l *log, freed, next cuda.Stream, before, after func()) {
	l.setPoolUp()
	p, err := cuda.MallocAsync(20*mib, freed)
	l.pointer("MallocAsync(20 MiB)", p, err)
	if before != nil {
		before()
	}
	l.must(cuda.FreeAsync(p, freed))
	if after != nil {
		after()
	}
	q, err := cuda.MallocAsync(20*mib, next)
	l.pointer("MallocAsync(20 MiB), freed", q, err)
}
