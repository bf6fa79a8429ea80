package conformance

import (
	"cudalab/kernels/probe"
	"cudalab/native/cuda"
)

// threadRows make every call from a thread that has never called CUDA. The driver answers some of them
// INVALID_CONTEXT there; nobody above may see that.
func threadRows() []row {
	calls := []struct {
		name string
		call func(l *log, t thing) error
	}{
		{"stream-create", func(*log, thing) error { _, err := cuda.StreamCreate(); return err }},
		{"stream-destroy", func(_ *log, t thing) error { return cuda.StreamDestroy(t.s) }},
		{"stream-synchronize", func(_ *log, t thing) error { return cuda.StreamSynchronize(t.s) }},
		{"stream-synchronize-legacy", func(*log, thing) error { return cuda.StreamSynchronize(cuda.Stream{}) }},
		{"stream-query", func(_ *log, t thing) error { return cuda.StreamQuery(t.s) }},
		{"stream-query-legacy", func(*log, thing) error { return cuda.StreamQuery(cuda.Stream{}) }},
		{"stream-wait-event", func(_ *log, t thing) error { return cuda.StreamWaitEvent(t.s, t.e) }},
		{"stream-wait-event-legacy", func(_ *log, t thing) error { return cuda.StreamWaitEvent(cuda.Stream{}, t.e) }},
		{"device-synchronize", func(*log, thing) error { return cuda.DeviceSynchronize() }},
		{"event-create", func(*log, thing) error { _, err := cuda.EventCreate(); return err }},
		{"event-destroy", func(_ *log, t thing) error { return cuda.EventDestroy(t.e) }},
		{"event-record", func(_ *log, t thing) error { return cuda.EventRecord(t.e, t.s) }},
		{"event-record-legacy", func(_ *log, t thing) error { return cuda.EventRecord(t.e, cuda.Stream{}) }},
		{"event-synchronize", func(_ *log, t thing) error { return cuda.EventSynchronize(t.e) }},
		{"event-query", func(_ *log, t thing) error { return cuda.EventQuery(t.e) }},
		{"event-elapsed-time", func(_ *log, t thing) error { _, err := cuda.EventElapsedTime(t.e, t.e); return err }},
		{"malloc", func(*log, thing) error { _, err := cuda.Malloc(64); return err }},
		{"free", func(_ *log, t thing) error { return cuda.Free(t.p) }},
		{"malloc-async", func(_ *log, t thing) error { _, err := cuda.MallocAsync(64, t.s); return err }},
		{"malloc-async-legacy", func(*log, thing) error { _, err := cuda.MallocAsync(64, cuda.Stream{}); return err }},
		{"free-async", func(_ *log, t thing) error { return cuda.FreeAsync(t.q, t.s) }},
		{"free-async-legacy", func(_ *log, t thing) error { return cuda.FreeAsync(t.q, cuda.Stream{}) }},
		{"malloc-host", func(*log, thing) error { _, err := cuda.MallocHost(64); return err }},
		{"free-host", func(_ *log, t thing) error { return cuda.FreeHost(t.h) }},
		{"htod", func(_ *log, t thing) error { return cuda.MemcpyHtoD(t.p, make(cuda.Pageable, 64), 64) }},
		{"dtoh", func(_ *log, t thing) error { return cuda.MemcpyDtoH(make(cuda.Pageable, 64), t.p, 64) }},
		{"dtod", func(_ *log, t thing) error { return cuda.MemcpyDtoD(t.p, t.q, 64) }},
		{"htod-async", func(_ *log, t thing) error { return cuda.MemcpyHtoDAsync(t.p, t.h, 64, t.s) }},
		{"htod-async-legacy", func(_ *log, t thing) error { return cuda.MemcpyHtoDAsync(t.p, t.h, 64, cuda.Stream{}) }},
		{"dtoh-async", func(_ *log, t thing) error { return cuda.MemcpyDtoHAsync(t.h, t.p, 64, t.s) }},
		{"dtod-async", func(_ *log, t thing) error { return cuda.MemcpyDtoDAsync(t.p, t.q, 64, t.s) }},
		{"memset", func(_ *log, t thing) error { return cuda.Memset(t.p, 0, 64) }},
		{"memset-async", func(_ *log, t thing) error { return cuda.MemsetAsync(t.p, 0, 64, t.s) }},
		{"memset-async-legacy", func(_ *log, t thing) error { return cuda.MemsetAsync(t.p, 0, 64, cuda.Stream{}) }},
		{"launch", func(_ *log, t thing) error { return probe.Delay(t.s, 1000) }},
		{"launch-legacy", func(*log, thing) error { return probe.Delay(cuda.Stream{}, 1000) }},
		{"memory-info", func(*log, thing) error { _, _, err := cuda.MemGetInfo(); return err }},
		{"device-properties", func(*log, thing) error { _, err := cuda.GetDeviceProperties(0); return err }},
	}
	var rows []row
	for _, c := range calls {
		rows = append(rows, row{Name: "threads/" + c.name, Run: func(l *log) {
			t := newThing(l)
			l.answer("on this thread", c.call(l, t))
			t = newThing(l)
			onFreshThread(func() { l.answer("on a fresh thread", c.call(l, t)) })
			l.answer("DeviceSynchronize()", cuda.DeviceSynchronize())
		}})
	}
	return append(rows,
		row{Name: "threads/errors", Run: func(l *log) {
			onFreshThread(func() {
				_, err := cuda.Malloc(tooMuch)
				l.answer("Malloc(1 PiB)", err)
				l.answer("Free(12345)", cuda.Free(garbage))
				l.answer("Memset(12345)", cuda.Memset(garbage, 0, 1))
				l.answer("EventDestroy(null)", cuda.EventDestroy(cuda.Event{}))
			})
		}},
		row{Name: "threads/hand-over", Run: func(l *log) {
			var s cuda.Stream
			var p cuda.DevicePtr
			onFreshThread(func() { s = l.stream(cuda.StreamNonBlocking) })
			onFreshThread(func() { p = l.mallocAsync(64, s) })
			onFreshThread(func() { l.must(cuda.MemsetAsync(p, 4, 64, s)) })
			onFreshThread(func() { l.bytes("p", p, 64) })
			onFreshThread(func() { l.answer("FreeAsync(p, s)", cuda.FreeAsync(p, s)) })
			onFreshThread(func() { l.answer("StreamDestroy(s)", cuda.StreamDestroy(s)) })
		}},
	)
}

// thing is one of everything that a call can name, idle.
type thing struct {
	s    cuda.Stream
	e    cuda.Event
	p, q cuda.DevicePtr // from Malloc, from MallocAsync
	h    cuda.HostBuffer
}

func newThing(l *log) thing {
	s := l.stream(cuda.StreamNonBlocking)
	t := thing{s: s, e: l.recorded(s), p: l.malloc(64), q: l.mallocAsync(64, s), h: l.host(64)}
	l.must(cuda.DeviceSynchronize())
	return t
}
