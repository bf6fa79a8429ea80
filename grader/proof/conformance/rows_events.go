package conformance

import "cudalab/native/cuda"

var eventRows = []row{
	{Name: "event/create-destroy", Run: func(l *log) {
		e, err := cuda.EventCreate()
		l.answer("EventCreate()", err)
		l.answer("EventDestroy(e)", cuda.EventDestroy(e))
	}},
	{Name: "event/create-flags", Run: func(l *log) {
		for _, f := range []struct {
			name  string
			flags uint32
		}{
			{"EventBlockingSync", cuda.EventBlockingSync}, {"EventDisableTiming", cuda.EventDisableTiming},
			{"EventBlockingSync|EventDisableTiming", cuda.EventBlockingSync | cuda.EventDisableTiming},
			{"interprocess", 4}, {"interprocess|EventDisableTiming", 4 | cuda.EventDisableTiming},
			{"interprocess|EventDisableTiming|EventBlockingSync", 4 | cuda.EventDisableTiming | cuda.EventBlockingSync},
			{"8", 8}, {"64", 64},
		} {
			_, err := cuda.EventCreateWithFlags(f.flags)
			l.answer("EventCreateWithFlags("+f.name+")", err)
		}
	}},
	{Name: "event/null", Run: func(l *log) {
		s, e := l.stream(cuda.StreamNonBlocking), l.recorded(cuda.Stream{})
		l.answer("EventDestroy(null)", cuda.EventDestroy(cuda.Event{}))
		l.answer("EventRecord(null, s)", cuda.EventRecord(cuda.Event{}, s))
		l.answer("EventRecord(null, legacy)", cuda.EventRecord(cuda.Event{}, cuda.Stream{}))
		l.answer("StreamWaitEvent(s, null)", cuda.StreamWaitEvent(s, cuda.Event{}))
		l.answer("EventQuery(null)", cuda.EventQuery(cuda.Event{}))
		l.answer("EventSynchronize(null)", cuda.EventSynchronize(cuda.Event{}))
		l.elapsed("EventElapsedTime(null, e)", cuda.Event{}, e)
		l.elapsed("EventElapsedTime(e, null)", e, cuda.Event{})
	}},
	{Name: "event/destroyed", Note: binding, Run: func(l *log) {
		s, e, f := l.stream(0), l.recorded(cuda.Stream{}), l.recorded(cuda.Stream{})
		l.must(cuda.EventDestroy(e))
		l.answer("EventDestroy(e)", cuda.EventDestroy(e))
		l.answer("EventRecord(e, s)", cuda.EventRecord(e, s))
		l.answer("StreamWaitEvent(s, e)", cuda.StreamWaitEvent(s, e))
		l.answer("EventQuery(e)", cuda.EventQuery(e))
		l.answer("EventSynchronize(e)", cuda.EventSynchronize(e))
		l.elapsed("EventElapsedTime(e, f)", e, f)
		l.elapsed("EventElapsedTime(f, e)", f, e)
	}},
	{Name: "event/never-recorded", Run: func(l *log) {
		s, e := l.busy(), l.event()
		l.answer("EventQuery(e)", cuda.EventQuery(e))
		l.timed("EventSynchronize(e)", func() error { return cuda.EventSynchronize(e) })
		free := l.stream(cuda.StreamNonBlocking)
		l.answer("StreamWaitEvent(free, e)", cuda.StreamWaitEvent(free, e))
		l.timed("StreamSynchronize(free)", func() error { return cuda.StreamSynchronize(free) })
		l.timed("StreamSynchronize(s)", func() error { return cuda.StreamSynchronize(s) })
	}},
	{Name: "event/query", Run: func(l *log) {
		e := l.recorded(l.busy())
		l.answer("EventQuery(e), pending", cuda.EventQuery(e))
		l.timed("EventSynchronize(e)", func() error { return cuda.EventSynchronize(e) })
		l.answer("EventQuery(e), done", cuda.EventQuery(e))
	}},
	{Name: "event/query-remembers-its-place", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		e := l.recorded(s)
		l.must(cuda.StreamSynchronize(s))
		l.delay(s)
		l.answer("EventQuery(e), later work is pending", cuda.EventQuery(e))
	}},
	{Name: "event/blocking-sync", Run: func(l *log) {
		s := l.busy()
		e, err := cuda.EventCreateWithFlags(cuda.EventBlockingSync)
		l.must(err)
		l.must(cuda.EventRecord(e, s))
		l.timed("EventSynchronize(e)", func() error { return cuda.EventSynchronize(e) })
	}},
	{Name: "event/record-behind-work", Run: func(l *log) {
		s, e := l.busy(), l.event()
		l.timed("EventRecord(e, s)", func() error { return cuda.EventRecord(e, s) })
	}},
	{Name: "event/re-record-same-stream", Run: func(l *log) {
		s := l.busy()
		e := l.recorded(s)
		l.delay(s)
		l.answer("EventRecord(e, s) again", cuda.EventRecord(e, s))
		l.timed("EventSynchronize(e)", func() error { return cuda.EventSynchronize(e) })
	}},
	{Name: "event/re-record-idle-stream", Run: func(l *log) {
		e := l.recorded(l.busy())
		idle := l.stream(cuda.StreamNonBlocking)
		l.answer("EventRecord(e, idle)", cuda.EventRecord(e, idle))
		l.timed("EventSynchronize(e)", func() error { return cuda.EventSynchronize(e) })
		l.answer("EventQuery(e)", cuda.EventQuery(e))
	}},
	{Name: "event/wait", Run: func(l *log) {
		e := l.recorded(l.busy())
		s := l.stream(cuda.StreamNonBlocking)
		l.timed("StreamWaitEvent(s, e)", func() error { return cuda.StreamWaitEvent(s, e) })
		l.answer("StreamQuery(s)", cuda.StreamQuery(s))
		l.timed("StreamSynchronize(s)", func() error { return cuda.StreamSynchronize(s) })
	}},
	{Name: "event/wait-covers-later-work-only", Run: func(l *log) {
		e := l.recorded(l.busy())
		s := l.stream(cuda.StreamNonBlocking)
		before := l.recorded(s)
		l.must(cuda.StreamWaitEvent(s, e))
		l.timed("EventSynchronize(before the wait)", func() error { return cuda.EventSynchronize(before) })
		after := l.recorded(s)
		l.timed("EventSynchronize(after the wait)", func() error { return cuda.EventSynchronize(after) })
	}},
	{Name: "event/wait-then-re-record", Run: func(l *log) {
		a := l.busy()
		e := l.recorded(a)
		s := l.stream(cuda.StreamNonBlocking)
		l.must(cuda.StreamWaitEvent(s, e))
		l.delay(a)
		l.must(cuda.EventRecord(e, a))
		l.timed("StreamSynchronize(s)", func() error { return cuda.StreamSynchronize(s) })
		l.timed("EventSynchronize(e)", func() error { return cuda.EventSynchronize(e) })
	}},
	{Name: "event/re-record-then-wait", Run: func(l *log) {
		a := l.busy()
		e := l.recorded(a)
		l.delay(a)
		l.must(cuda.EventRecord(e, a))
		s := l.stream(cuda.StreamNonBlocking)
		l.must(cuda.StreamWaitEvent(s, e))
		l.timed("StreamSynchronize(s)", func() error { return cuda.StreamSynchronize(s) })
	}},
	{Name: "event/wait-in-own-stream", Run: func(l *log) {
		s := l.busy()
		e := l.recorded(s)
		l.answer("StreamWaitEvent(s, e)", cuda.StreamWaitEvent(s, e))
		l.timed("StreamSynchronize(s)", func() error { return cuda.StreamSynchronize(s) })
	}},
	{Name: "event/wait-without-timing", Run: func(l *log) {
		a, s := l.busy(), l.stream(cuda.StreamNonBlocking)
		e, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
		l.must(err)
		l.must(cuda.EventRecord(e, a))
		l.must(cuda.StreamWaitEvent(s, e))
		l.timed("StreamSynchronize(s)", func() error { return cuda.StreamSynchronize(s) })
	}},
	{Name: "event/wait-orders-data", Run: func(l *log) {
		a, s := l.stream(cuda.StreamNonBlocking), l.stream(cuda.StreamNonBlocking)
		p, q := l.filled(0, 64), l.filled(0, 64)
		l.delay(a)
		l.must(cuda.MemsetAsync(p, 5, 64, a))
		l.must(cuda.StreamWaitEvent(s, l.recorded(a)))
		l.must(cuda.MemcpyDtoDAsync(q, p, 64, s))
		l.bytes("q", q, 64)
	}},
	{Name: "event/chain-of-ten", Run: func(l *log) {
		s := l.busy()
		for range 10 {
			next := l.stream(cuda.StreamNonBlocking)
			l.must(cuda.StreamWaitEvent(next, l.recorded(s)))
			s = next
		}
		l.timed("StreamSynchronize(last)", func() error { return cuda.StreamSynchronize(s) })
	}},
	{Name: "event/destroy-pending", Run: func(l *log) {
		e := l.recorded(l.busy())
		s := l.stream(cuda.StreamNonBlocking)
		l.must(cuda.StreamWaitEvent(s, e))
		l.timed("EventDestroy(e)", func() error { return cuda.EventDestroy(e) })
		l.timed("StreamSynchronize(s)", func() error { return cuda.StreamSynchronize(s) })
	}},
	{Name: "event/stream-destroyed-after-record", Run: func(l *log) {
		s := l.busy()
		e := l.recorded(s)
		l.must(cuda.StreamDestroy(s))
		l.answer("EventQuery(e)", cuda.EventQuery(e))
		l.timed("EventSynchronize(e)", func() error { return cuda.EventSynchronize(e) })
	}},
	{Name: "event/synchronize-orders-later-work", Run: func(l *log) {
		a, s := l.stream(cuda.StreamNonBlocking), l.stream(cuda.StreamNonBlocking)
		p := l.filled(0, 64)
		l.delay(a)
		l.must(cuda.MemsetAsync(p, 5, 64, a))
		l.must(cuda.EventSynchronize(l.recorded(a)))
		l.must(cuda.MemsetAsync(p, 6, 32, s))
		l.bytes("p", p, 64)
	}},

	{Name: "elapsed/over-work", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		start := l.recorded(s)
		l.delay(s)
		end := l.recorded(s)
		l.must(cuda.StreamSynchronize(s))
		l.elapsed("EventElapsedTime(start, end)", start, end)
		l.elapsed("EventElapsedTime(end, start)", end, start)
		l.elapsed("EventElapsedTime(end, end)", end, end)
	}},
	{Name: "elapsed/across-streams", Run: func(l *log) {
		a, s := l.stream(cuda.StreamNonBlocking), l.stream(cuda.StreamNonBlocking)
		start := l.recorded(a)
		l.delay(s)
		l.delay(s)
		end := l.recorded(s)
		l.must(cuda.DeviceSynchronize())
		l.elapsed("EventElapsedTime(start, end)", start, end)
	}},
	{Name: "elapsed/pending", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		start := l.recorded(s)
		l.must(cuda.StreamSynchronize(s))
		l.delay(s)
		end := l.recorded(s)
		l.elapsed("EventElapsedTime(start, end)", start, end)
		l.elapsed("EventElapsedTime(end, start)", end, start)
		l.must(cuda.StreamSynchronize(s))
		l.elapsed("EventElapsedTime(start, end), done", start, end)
	}},
	{Name: "elapsed/never-recorded", Run: func(l *log) {
		never, e := l.event(), l.recorded(cuda.Stream{})
		l.must(cuda.DeviceSynchronize())
		l.elapsed("EventElapsedTime(never, e)", never, e)
		l.elapsed("EventElapsedTime(e, never)", e, never)
		l.elapsed("EventElapsedTime(never, never)", never, never)
	}},
	{Name: "elapsed/timing-disabled", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		e := l.recorded(s)
		untimed, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
		l.must(err)
		l.must(cuda.EventRecord(untimed, s))
		l.must(cuda.StreamSynchronize(s))
		l.elapsed("EventElapsedTime(e, untimed)", e, untimed)
		l.elapsed("EventElapsedTime(untimed, e)", untimed, e)
	}},
	{Name: "elapsed/timing-disabled-pending", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		e := l.recorded(s)
		l.delay(s)
		untimed, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
		l.must(err)
		l.must(cuda.EventRecord(untimed, s))
		l.elapsed("EventElapsedTime(e, untimed)", e, untimed)
	}},
	{Name: "elapsed/re-recorded", Run: func(l *log) {
		s := l.stream(cuda.StreamNonBlocking)
		start := l.recorded(s)
		l.delay(s)
		end := l.recorded(s)
		l.delay(s)
		l.must(cuda.EventRecord(end, s))
		l.must(cuda.StreamSynchronize(s))
		l.elapsed("EventElapsedTime(start, end)", start, end)
	}},
}
