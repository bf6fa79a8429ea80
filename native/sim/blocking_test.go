package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

// What of the calls waits for a kernel of 100 ms, and for which one's stream.
func TestWhatBlocks(t *testing.T) {
	type world struct {
		d                    *Device
		same, other          device.Stream // non-blocking
		blocking             device.Stream
		event                device.Event // recorded behind the kernel
		p, q, pooled         device.Ptr   // 1 MiB each
		pinned               device.Host
		small, large, onByte []byte
	}
	at := func(w *world) device.Stream { return w.same }
	legacy := func(*world) device.Stream { return 0 }
	blocking := func(w *world) device.Stream { return w.blocking }
	for _, c := range []struct {
		name  string
		busy  func(*world) device.Stream // the stream of the kernel
		call  func(*world) device.Code
		waits bool
	}{
		{"StreamSynchronize, same", at, func(w *world) device.Code { return w.d.StreamSynchronize(w.same) }, true},
		{"StreamSynchronize, other", at, func(w *world) device.Code { return w.d.StreamSynchronize(w.other) }, false},
		{"StreamSynchronize, legacy, of blocking work", blocking,
			func(w *world) device.Code { return w.d.StreamSynchronize(0) }, true},
		{"StreamSynchronize, legacy, of non-blocking work", at,
			func(w *world) device.Code { return w.d.StreamSynchronize(0) }, false},
		{"CtxSynchronize", at, func(w *world) device.Code { return w.d.CtxSynchronize() }, true},
		{"EventSynchronize", at, func(w *world) device.Code { return w.d.EventSynchronize(w.event) }, true},
		{"EventRecord", at, func(w *world) device.Code { return w.d.EventRecord(w.event, w.same) }, false},
		{"StreamWaitEvent", at, func(w *world) device.Code { return w.d.StreamWaitEvent(w.other, w.event) }, false},
		{"EventDestroy, pending", at, func(w *world) device.Code { return w.d.EventDestroy(w.event) }, false},
		{"StreamDestroy", at, func(w *world) device.Code { return w.d.StreamDestroy(w.same) }, false},
		{"MemAlloc 1 GiB", at, func(w *world) device.Code { _, c := w.d.MemAlloc(1 << 30); return c }, false},
		{"MemFree of MemAlloc memory", at, func(w *world) device.Code { return w.d.MemFree(w.p) }, true},
		{"MemFree of pool memory", at, func(w *world) device.Code { return w.d.MemFree(w.pooled) }, false},
		{"MemAllocAsync", at, func(w *world) device.Code { _, c := w.d.MemAllocAsync(mib, w.same); return c }, false},
		{"MemFreeAsync", at, func(w *world) device.Code { return w.d.MemFreeAsync(w.pooled, w.same) }, false},
		{"MemFreeAsync of MemAlloc memory", at, func(w *world) device.Code { return w.d.MemFreeAsync(w.p, w.same) }, false},
		{"MemAllocHost", at, func(w *world) device.Code { _, c := w.d.MemAllocHost(mib); return c }, false},
		{"MemFreeHost", at, func(w *world) device.Code { return w.d.MemFreeHost(w.pinned) }, true},
		{"HtoD pageable 64 KiB", at, func(w *world) device.Code { return w.d.MemcpyHtoDAsync(w.p, w.small, w.same) }, false},
		{"HtoD pageable, more", at, func(w *world) device.Code { return w.d.MemcpyHtoDAsync(w.p, w.large, w.same) }, true},
		{"HtoD pageable, more, other stream", at, func(w *world) device.Code {
			return w.d.MemcpyHtoDAsync(w.p, w.large,
				w.other)
		}, false},
		{"DtoH pageable, 1 byte", at, func(w *world) device.Code { return w.d.MemcpyDtoHAsync(w.onByte, w.p, w.same) }, true},
		{"HtoD pinned", at, func(w *world) device.Code { return w.d.MemcpyHostToDAsync(w.p, w.pinned, 0, mib, w.same) },
			false},
		{"DtoH pinned", at, func(w *world) device.Code { return w.d.MemcpyDToHostAsync(w.pinned, 0, w.p, mib, w.same) },
			false},
		{"DtoD", at, func(w *world) device.Code { return w.d.MemcpyDtoDAsync(w.p, w.q, mib, w.same) }, false},
		{"memset", at, func(w *world) device.Code { return w.d.MemsetD8Async(w.p, 1, mib, w.same) }, false},
		{"synchronous HtoD pageable, small", legacy, func(w *world) device.Code { return w.d.MemcpyHtoD(w.p, w.small) },
			true},
		{"synchronous HtoD pageable, large", legacy, func(w *world) device.Code { return w.d.MemcpyHtoD(w.p, w.large) },
			true},
		{"synchronous HtoD pinned", legacy, func(w *world) device.Code { return w.d.MemcpyHostToD(w.p, w.pinned, 0, 8) },
			true},
		{"synchronous DtoH pageable", legacy, func(w *world) device.Code { return w.d.MemcpyDtoH(w.onByte, w.p) }, true},
		{"synchronous DtoH pinned", legacy, func(w *world) device.Code { return w.d.MemcpyDToHost(w.pinned, 0, w.p, 8) },
			true},
		{"synchronous DtoD", legacy, func(w *world) device.Code { return w.d.MemcpyDtoD(w.p, w.q, mib) }, false},
		{"synchronous memset", legacy, func(w *world) device.Code { return w.d.MemsetD8(w.p, 1, mib) }, false},
		{"synchronous DtoH behind a blocking stream", blocking, func(w *world) device.Code {
			return w.d.MemcpyDtoH(w.onByte,
				w.p)
		}, true},
		{"synchronous DtoH beside a non-blocking stream", at, func(w *world) device.Code {
			return w.d.MemcpyDtoH(w.onByte,
				w.p)
		}, false},
		{"DtoH in a blocking stream behind the legacy one", legacy,
			func(w *world) device.Code { return w.d.MemcpyDtoHAsync(w.onByte, w.p, w.blocking) }, true},
		{"DtoH in a non-blocking stream beside the legacy one", legacy,
			func(w *world) device.Code { return w.d.MemcpyDtoHAsync(w.onByte, w.p, w.same) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := New(Options{})
			w := &world{d: d, same: newStream(t, d), other: newStream(t, d), blocking: blockingStream(t, d),
				event: newEvent(t, d)}
			w.p, w.q, w.pooled = malloc(t, d, mib), malloc(t, d, mib), mallocAsync(t, d, mib, w.same)
			w.pinned = must[device.Host](t)(d.MemAllocHost(mib))
			w.small, w.large, w.onByte = make([]byte, 64<<10), make([]byte, 64<<10+1), make([]byte, 1)
			ok(t, d.CtxSynchronize())

			start := d.Now()
			delay(t, d, c.busy(w), long)
			ok(t, d.EventRecord(w.event, c.busy(w)))
			ok(t, c.call(w))
			if took := d.Now() - start; c.waits {
				require.Greater(t, took, long)
			} else {
				require.Less(t, took, long/10)
			}
		})
	}
}

func TestQueries(t *testing.T) {
	d := New(Options{})
	s, e := newStream(t, d), newEvent(t, d)
	ok(t, d.EventQuery(e))
	ok(t, d.EventSynchronize(e))
	ok(t, d.StreamWaitEvent(s, e))
	ok(t, d.StreamQuery(s))

	delay(t, d, s, long)
	ok(t, d.EventRecord(e, s))
	require.Equal(t, device.ErrorNotReady, d.StreamQuery(s))
	require.Equal(t, device.ErrorNotReady, d.EventQuery(e))
	ok(t, d.StreamQuery(0))
	ok(t, d.StreamSynchronize(s))
	ok(t, d.StreamQuery(s))
	ok(t, d.EventQuery(e))
}

func TestElapsedTime(t *testing.T) {
	d := New(Options{})
	s := newStream(t, d)
	start, end, never := newEvent(t, d), newEvent(t, d), newEvent(t, d)
	untimed := must[device.Event](t)(d.EventCreate(device.EventDisableTiming))
	elapsed := func(a, b device.Event) device.Code { _, c := d.EventElapsedTime(a, b); return c }

	ok(t, d.EventRecord(start, s))
	delay(t, d, s, long)
	ok(t, d.EventRecord(end, s))
	ok(t, d.EventRecord(untimed, s))
	require.Equal(t, device.ErrorNotReady, elapsed(start, end))
	require.Equal(t, device.ErrorInvalidHandle, elapsed(start, never))
	ok(t, d.StreamSynchronize(s))
	require.Equal(t, device.ErrorInvalidHandle, elapsed(start, untimed))
	ms, c := d.EventElapsedTime(start, end)
	ok(t, c)
	require.InDelta(t, 100, ms, 0.1)
}

// A wait takes what the event remembers at the call; recording it again changes nothing for that wait.
func TestWaitKeepsTheRecordItSaw(t *testing.T) {
	d := New(Options{})
	a, b, e := newStream(t, d), newStream(t, d), newEvent(t, d)
	ok(t, d.EventRecord(e, a))
	ok(t, d.StreamWaitEvent(b, e))
	delay(t, d, a, long)
	ok(t, d.EventRecord(e, a))
	ok(t, d.StreamSynchronize(b))
	require.Less(t, d.Now(), long)
	ok(t, d.StreamWaitEvent(b, e))
	ok(t, d.EventDestroy(e)) // pending, and the wait still holds
	ok(t, d.StreamSynchronize(b))
	require.Greater(t, d.Now(), long)
}

// A stream takes so many operations; the launch after that waits until the first has ended.
func TestQueueDepth(t *testing.T) {
	d := New(Options{})
	s := newStream(t, d)
	delay(t, d, s, long)
	for range H200.QueueDepth - 1 {
		delay(t, d, s, 0)
	}
	require.Less(t, d.Now(), long)
	delay(t, d, s, 0)
	require.Greater(t, d.Now(), long)
}
