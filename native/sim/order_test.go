package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

// An effect happens when something that is ordered behind it needs it, and never because of something that is not.
func TestUnorderedReadsSeeGarbage(t *testing.T) {
	const n = 4096
	poison, sevens := filled(n, poisonByte), filled(n, 7)
	for _, c := range []struct {
		name string
		link func(t *testing.T, d *Device, writer, reader device.Stream) // between write and read
		want []byte
	}{
		{"nothing", func(*testing.T, *Device, device.Stream, device.Stream) {}, poison},
		{"the other stream synchronised", func(t *testing.T, d *Device, _, r device.Stream) {
			ok(t, d.StreamSynchronize(r))
		}, poison},
		{"event", func(t *testing.T, d *Device, w, r device.Stream) {
			e := newEvent(t, d)
			ok(t, d.EventRecord(e, w))
			ok(t, d.StreamWaitEvent(r, e))
		}, sevens},
		{"event never recorded", func(t *testing.T, d *Device, w, r device.Stream) {
			ok(t, d.StreamWaitEvent(r, newEvent(t, d)))
		}, poison},
		{"event recorded only after the wait", func(t *testing.T, d *Device, w, r device.Stream) {
			e := newEvent(t, d)
			ok(t, d.StreamWaitEvent(r, e))
			ok(t, d.EventRecord(e, w))
		}, poison},
		{"chain of events", func(t *testing.T, d *Device, w, r device.Stream) {
			for range 10 {
				e, next := newEvent(t, d), newStream(t, d)
				ok(t, d.EventRecord(e, w))
				ok(t, d.StreamWaitEvent(next, e))
				w = next
			}
			e := newEvent(t, d)
			ok(t, d.EventRecord(e, w))
			ok(t, d.StreamWaitEvent(r, e))
		}, sevens},
		{"stream synchronised", func(t *testing.T, d *Device, w, _ device.Stream) { ok(t, d.StreamSynchronize(w)) }, sevens},
		{"device synchronised", func(t *testing.T, d *Device, _, _ device.Stream) { ok(t, d.CtxSynchronize()) }, sevens},
		{"stream queried until done", func(t *testing.T, d *Device, w, _ device.Stream) {
			for d.StreamQuery(w) == device.ErrorNotReady {
			}
		}, sevens},
		{"event queried until done", func(t *testing.T, d *Device, w, _ device.Stream) {
			e := newEvent(t, d)
			ok(t, d.EventRecord(e, w))
			for d.EventQuery(e) == device.ErrorNotReady {
			}
		}, sevens},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := New(Options{})
			w, r := newStream(t, d), newStream(t, d)
			p := malloc(t, d, n)
			ok(t, d.MemsetD8Async(p, 7, n, w))
			c.link(t, d, w, r)
			got := make([]byte, n)
			ok(t, d.MemcpyDtoHAsync(got, p, r))
			require.Equal(t, c.want, got)
		})
	}
}

// Work in the legacy stream and in blocking streams is in one order; non-blocking streams stand aside.
func TestLegacyStream(t *testing.T) {
	const n = 64
	for _, c := range []struct {
		name  string
		flags uint32
		want  byte
	}{{"blocking", 0, 7}, {"non-blocking", device.StreamNonBlocking, poisonByte}} {
		t.Run(c.name+" then legacy", func(t *testing.T) {
			d := New(Options{})
			p := malloc(t, d, n)
			w := must[device.Stream](t)(d.StreamCreate(c.flags))
			ok(t, d.MemsetD8Async(p, 7, n, w))
			ok(t, d.StreamDestroy(w))
			got := make([]byte, n)
			ok(t, d.MemcpyDtoH(got, p))
			require.Equal(t, filled(n, c.want), got)
		})
		t.Run("legacy then "+c.name, func(t *testing.T) {
			d := New(Options{})
			p := malloc(t, d, n)
			r := must[device.Stream](t)(d.StreamCreate(c.flags))
			ok(t, d.MemsetD8(p, 7, n))
			got := make([]byte, n)
			ok(t, d.MemcpyDtoHAsync(got, p, r))
			require.Equal(t, filled(n, c.want), got)
		})
		t.Run(c.name+" to another through legacy", func(t *testing.T) {
			d := New(Options{})
			p, q := malloc(t, d, n), malloc(t, d, n)
			w, r := must[device.Stream](t)(d.StreamCreate(c.flags)), must[device.Stream](t)(d.StreamCreate(c.flags))
			ok(t, d.MemsetD8Async(p, 7, n, w))
			ok(t, d.MemsetD8(q, 1, n))
			got := make([]byte, n)
			ok(t, d.MemcpyDtoHAsync(got, p, r))
			require.Equal(t, filled(n, c.want), got)
		})
	}
}

// The host sees pinned memory as it is, and changes what a pending copy will copy.
func TestPinnedMemory(t *testing.T) {
	d := New(Options{})
	s := newStream(t, d)
	p := malloc(t, d, 8)
	h := must[device.Host](t)(d.MemAllocHost(16))
	got := make([]byte, 8)

	d.HostWrite(h, 8, []byte("12345678"))
	ok(t, d.MemcpyHostToDAsync(p, h, 8, 8, s))
	d.HostWrite(h, 8, []byte("abcd"))
	ok(t, d.MemcpyDToHostAsync(h, 0, p, 8, s))
	d.HostRead(h, 0, got)
	require.Equal(t, make([]byte, 8), got, "the copy has not landed")
	ok(t, d.StreamSynchronize(s))
	d.HostRead(h, 0, got)
	require.Equal(t, "abcd5678", string(got), "the host's change came before the copy ran")
	ok(t, d.MemFreeHost(h))
}

// A pageable source may be changed as soon as the call returns.
func TestPageableSourceIsStaged(t *testing.T) {
	for _, n := range []int{8, 64 << 10, 64<<10 + 1, 3 * mib} {
		d := New(Options{})
		s := newStream(t, d)
		p := malloc(t, d, uint64(n))
		src := filled(n, 5)
		ok(t, d.MemcpyHtoDAsync(p, src, s))
		fill(src, 9)
		ok(t, d.StreamSynchronize(s))
		require.Equal(t, filled(n, 5), read(t, d, p, n))
	}
}

func TestCopiesAndKernels(t *testing.T) {
	const n = 3*chunkSize + 40 // off the chunks' borders
	d := New(Options{})
	s := newStream(t, d)
	p, q := mallocAsync(t, d, n, s), mallocAsync(t, d, n, s)
	ok(t, d.MemsetD8Async(p, 1, n, s))
	add(t, d, s, p+8, 2, 0x0202020202020202)
	ok(t, d.MemcpyDtoDAsync(q+8, p+8, n-8, s))
	got := make([]byte, n)
	ok(t, d.MemcpyDtoHAsync(got, q, s))
	want := filled(n, 1)
	fill(want[:8], poisonByte)
	fill(want[8:24], 3)
	require.Equal(t, want, got)
}

// Memory holds garbage when it is new and when it is freed, the free being an operation in its stream.
func TestPoison(t *testing.T) {
	const n = chunkSize + 512
	d := New(Options{})
	s := newStream(t, d)
	p := mallocAsync(t, d, n, s)
	ok(t, d.MemsetD8Async(p, 7, n, s))
	ok(t, d.StreamSynchronize(s))
	require.Equal(t, filled(n, 7), read(t, d, p, n))
	ok(t, d.MemFreeAsync(p, s))
	again := mallocAsync(t, d, n, s)
	require.Equal(t, p, again)
	got := make([]byte, n)
	ok(t, d.MemcpyDtoHAsync(got, p, s))
	require.Equal(t, filled(n, poisonByte), got)
}

// The same program is the same to the last nanosecond and byte; jitter is another schedule, chosen by the seed.
func TestDeterminism(t *testing.T) {
	program := func(o Options) (times []int64, bytes []byte) {
		d := New(o)
		var streams []device.Stream
		for range 4 {
			streams = append(streams, newStream(t, d))
		}
		for i := range 100 {
			s := streams[i%4]
			p := mallocAsync(t, d, uint64(1+i)*100_000, s)
			ok(t, d.MemsetD8Async(p, byte(i), 1000, s))
			launch(t, d, stepsKernel, s, uint32(1+i*40), 256, uint64(i*100), uint64(i)*mib)
			got := make([]byte, 1000)
			ok(t, d.MemcpyDtoHAsync(got, p, streams[(i/4)%4]))
			bytes = append(bytes, got...)
			ok(t, d.MemFreeAsync(p, s))
			times = append(times, d.Now(), int64(p))
		}
		ok(t, d.CtxSynchronize())
		return append(times, d.Now()), bytes
	}
	for _, o := range []Options{{}, {Jitter: true, Seed: 1}} {
		times, bytes := program(o)
		timesAgain, bytesAgain := program(o)
		require.Equal(t, times, timesAgain)
		require.Equal(t, bytes, bytesAgain)
	}
	one, _ := program(Options{Jitter: true, Seed: 1})
	two, _ := program(Options{Jitter: true, Seed: 2})
	plain, _ := program(Options{Seed: 2})
	plainAgain, _ := program(Options{})
	require.NotEqual(t, one, two)
	require.Equal(t, plain, plainAgain, "the seed alone changes nothing")
}
