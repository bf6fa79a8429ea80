package conformance

import "cudalab/native/cuda"

// eventMisuseRows use events in ways that look wrong, and mostly are legal.
var eventMisuseRows = []row{
	{Name: "event/recorded-after-the-wait", Run: func(l *log) {
		a, s, e := l.busy(), l.stream(cuda.StreamNonBlocking), l.event()
		l.answer("StreamWaitEvent(s, e), never recorded", cuda.StreamWaitEvent(s, e))
		l.must(cuda.EventRecord(e, a))
		l.timed("StreamSynchronize(s)", func() error { return cuda.StreamSynchronize(s) })
		l.timed("EventSynchronize(e)", func() error { return cuda.EventSynchronize(e) })
	}},
	{Name: "event/waits-in-a-ring", Run: func(l *log) {
		a, b, e, f := l.stream(cuda.StreamNonBlocking), l.stream(cuda.StreamNonBlocking), l.event(), l.event()
		l.must(cuda.StreamWaitEvent(a, f))
		l.must(cuda.EventRecord(e, a))
		l.must(cuda.StreamWaitEvent(b, e))
		l.must(cuda.EventRecord(f, b))
		l.timed("DeviceSynchronize()", cuda.DeviceSynchronize)
	}},
	{Name: "event/wait-twice", Run: func(l *log) {
		e, s := l.recorded(l.busy()), l.stream(cuda.StreamNonBlocking)
		l.answer("StreamWaitEvent(s, e)", cuda.StreamWaitEvent(s, e))
		l.answer("StreamWaitEvent(s, e) again", cuda.StreamWaitEvent(s, e))
		l.timed("StreamSynchronize(s)", func() error { return cuda.StreamSynchronize(s) })
	}},
	{Name: "event/wait-for-what-is-done", Run: func(l *log) {
		a, s := l.stream(cuda.StreamNonBlocking), l.stream(cuda.StreamNonBlocking)
		e := l.recorded(a)
		l.must(cuda.EventSynchronize(e))
		l.delay(a)
		l.answer("StreamWaitEvent(s, e)", cuda.StreamWaitEvent(s, e))
		l.timed("StreamSynchronize(s)", func() error { return cuda.StreamSynchronize(s) })
	}},
	{Name: "event/destroyed-and-made-again", Run: func(l *log) {
		a, s, e := l.busy(), l.stream(cuda.StreamNonBlocking), l.event()
		l.must(cuda.EventRecord(e, a))
		l.must(cuda.StreamWaitEvent(s, e))
		l.must(cuda.EventDestroy(e))
		f := l.event()
		l.answer("EventQuery(e), destroyed", cuda.EventQuery(e))
		l.answer("EventQuery(f), new", cuda.EventQuery(f))
		l.timed("StreamSynchronize(s)", func() error { return cuda.StreamSynchronize(s) })
	}},
	{Name: "event/destroy-while-recorded-in-two", Run: func(l *log) {
		a, b, e := l.busy(), l.busy(), l.event()
		l.must(cuda.EventRecord(e, a))
		l.must(cuda.EventRecord(e, b))
		l.timed("EventDestroy(e)", func() error { return cuda.EventDestroy(e) })
		l.timed("DeviceSynchronize()", cuda.DeviceSynchronize)
	}},
	{Name: "event/record-in-destroyed-stream", Note: binding, Run: func(l *log) {
		s, e := l.stream(0), l.event()
		l.must(cuda.StreamDestroy(s))
		l.answer("EventRecord(e, s)", cuda.EventRecord(e, s))
		l.answer("EventQuery(e)", cuda.EventQuery(e))
	}},
	{Name: "event/wait-in-destroyed-stream", Note: binding, Run: func(l *log) {
		s, e := l.stream(0), l.recorded(cuda.Stream{})
		l.must(cuda.StreamDestroy(s))
		l.answer("StreamWaitEvent(s, e)", cuda.StreamWaitEvent(s, e))
	}},
	{Name: "elapsed/with-itself", Run: func(l *log) {
		s := l.busy()
		e := l.recorded(s)
		l.elapsed("EventElapsedTime(e, e), pending", e, e)
		l.must(cuda.EventSynchronize(e))
		l.elapsed("EventElapsedTime(e, e), done", e, e)
	}},
	{Name: "elapsed/re-recorded-pending", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		start, end := l.recorded(s), l.recorded(s)
		l.must(cuda.StreamSynchronize(s))
		l.delay(s)
		l.must(cuda.EventRecord(end, s))
		l.elapsed("EventElapsedTime(start, end)", start, end)
		l.must(cuda.StreamSynchronize(s))
		l.elapsed("EventElapsedTime(start, end), done", start, end)
	}},
}
