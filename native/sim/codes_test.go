package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

func TestCodes(t *testing.T) {
	const (
		good    = device.Success
		value   = device.ErrorInvalidValue
		handle  = device.ErrorInvalidHandle
		memory  = device.ErrorOutOfMemory
		garbage = device.Ptr(0x1234)
	)
	type world struct {
		*Device
		s, dead device.Stream
		e, gone device.Event
		p, q    device.Ptr // 1000 bytes of MemAlloc; of the pool
		freed   device.Ptr // 1000 bytes of the pool, freed behind a long kernel
		host    device.Host
		pool    device.Pool
	}
	b := make([]byte, 1000)
	grid := func(w world, grid, block device.Dim) device.Code {
		return w.LaunchKernel(&device.Launch{Kernel: delayKernel, Grid: grid, Block: block, Stream: w.s})
	}
	for _, c := range []struct {
		name string
		call func(world) device.Code
		want device.Code
	}{
		{"allocate 0 bytes", func(w world) device.Code { _, c := w.MemAlloc(0); return c }, value},
		{"allocate too much", func(w world) device.Code { _, c := w.MemAlloc(1 << 40); return c }, memory},
		{"allocate everything there could be", func(w world) device.Code { _, c := w.MemAlloc(^uint64(0)); return c },
			memory},
		{"allocate async too much", func(w world) device.Code { _, c := w.MemAllocAsync(1<<40, w.s); return c }, memory},
		{"allocate async everything", func(w world) device.Code { _, c := w.MemAllocAsync(^uint64(0), w.s); return c },
			memory},
		{"allocate pinned 0 bytes", func(w world) device.Code { _, c := w.MemAllocHost(0); return c }, good},
		{"free null", func(w world) device.Code { return w.MemFree(0) }, good},
		{"free null async", func(w world) device.Code { return w.MemFreeAsync(0, w.s) }, good},
		{"free null pinned", func(w world) device.Code { return w.MemFreeHost(0) }, good},
		{"free garbage", func(w world) device.Code { return w.MemFree(garbage) }, value},
		{"free garbage async", func(w world) device.Code { return w.MemFreeAsync(garbage, w.s) }, value},
		{"free garbage pinned", func(w world) device.Code { return w.MemFreeHost(w.host + 8) }, value},
		{"free interior", func(w world) device.Code { return w.MemFree(w.p + 8) }, value},
		{"free interior async", func(w world) device.Code { return w.MemFreeAsync(w.q+8, w.s) }, value},
		{"free twice, first pending", func(w world) device.Code { return w.MemFree(w.freed) }, value},
		{"free twice async, first pending", func(w world) device.Code { return w.MemFreeAsync(w.freed, w.s) }, value},
		{"memset after free", func(w world) device.Code { return w.MemsetD8Async(w.freed, 0, 1, w.s) }, value},
		{"copy from freed", func(w world) device.Code { return w.MemcpyDtoHAsync(b, w.freed, w.s) }, value},
		{"copy to freed", func(w world) device.Code { return w.MemcpyHtoDAsync(w.freed, b, w.s) }, value},
		{"copy freed to live", func(w world) device.Code { return w.MemcpyDtoDAsync(w.p, w.freed, 8, w.s) }, value},
		{"free pool memory with MemFree", func(w world) device.Code { return w.MemFree(w.q) }, good},
		{"free MemAlloc memory with MemFreeAsync", func(w world) device.Code { return w.MemFreeAsync(w.p, w.s) }, good},
		{"free on a stream that was never ordered", func(w world) device.Code { return w.MemFreeAsync(w.q, 0) }, good},

		{"copy of all", func(w world) device.Code { return w.MemcpyDtoHAsync(b, w.p, w.s) }, good},
		{"copy one byte beyond the end", func(w world) device.Code { return w.MemcpyDtoHAsync(b, w.p+1, w.s) }, value},
		{"copy to pinned beyond the end", func(w world) device.Code {
			return w.MemcpyDToHostAsync(w.host, 0, w.p, 1001,
				w.s)
		}, value},
		{"copy to pinned beyond its end", func(w world) device.Code {
			return w.MemcpyDToHostAsync(w.host, 4000, w.p, 97,
				w.s)
		}, value},
		{"copy from pinned garbage", func(w world) device.Code { return w.MemcpyHostToDAsync(w.p, 77, 0, 1, w.s) }, value},
		{"copy within the device beyond the end", func(w world) device.Code {
			return w.MemcpyDtoDAsync(w.p, w.q+1, 1000,
				w.s)
		}, value},
		{"memset beyond the end", func(w world) device.Code { return w.MemsetD8(w.p, 0, 1001) }, value},
		{"copy 0 bytes", func(w world) device.Code { return w.MemcpyHtoDAsync(garbage, nil, w.s) }, good},
		{"memset 0 bytes", func(w world) device.Code { return w.MemsetD8Async(garbage, 0, 0, w.s) }, good},

		{"record a null event", func(w world) device.Code { return w.EventRecord(0, w.s) }, handle},
		{"wait for a null event", func(w world) device.Code { return w.StreamWaitEvent(w.s, 0) }, handle},
		{"destroy a null event", func(w world) device.Code { return w.EventDestroy(0) }, handle},
		{"query a null event", func(w world) device.Code { return w.EventQuery(0) }, handle},
		{"synchronise a null event", func(w world) device.Code { return w.EventSynchronize(0) }, handle},
		{"record a destroyed event", func(w world) device.Code { return w.EventRecord(w.gone, w.s) }, handle},
		{"destroy an event twice", func(w world) device.Code { return w.EventDestroy(w.gone) }, handle},
		{"elapsed time of a destroyed event", func(w world) device.Code { _, c := w.EventElapsedTime(w.gone, w.e); return c },
			handle},
		{"event flags unknown", func(w world) device.Code { _, c := w.EventCreate(64); return c }, value},
		{"event of several processes", func(w world) device.Code { _, c := w.EventCreate(6); return c }, good},
		{"the same that blocks", func(w world) device.Code { _, c := w.EventCreate(7); return c }, good},
		{"event of several processes, with timing", func(w world) device.Code { _, c := w.EventCreate(4); return c }, value},
		{"the same that blocks, with timing", func(w world) device.Code { _, c := w.EventCreate(5); return c }, value},
		{"stream flags unknown", func(w world) device.Code { _, c := w.StreamCreate(2); return c }, value},
		{"destroy the legacy stream", func(w world) device.Code { return w.StreamDestroy(0) }, handle},
		{"destroy a stream twice", func(w world) device.Code { return w.StreamDestroy(w.dead) }, handle},
		{"synchronise a destroyed stream", func(w world) device.Code { return w.StreamSynchronize(w.dead) }, handle},
		{"query a destroyed stream", func(w world) device.Code { return w.StreamQuery(w.dead) }, handle},
		{"record in a destroyed stream", func(w world) device.Code { return w.EventRecord(w.e, w.dead) }, handle},
		{"wait in a destroyed stream", func(w world) device.Code { return w.StreamWaitEvent(w.dead, w.e) }, handle},
		{"allocate in a destroyed stream", func(w world) device.Code { _, c := w.MemAllocAsync(8, w.dead); return c },
			handle},
		{"free in a destroyed stream", func(w world) device.Code { return w.MemFreeAsync(w.q, w.dead) }, handle},
		{"copy in a destroyed stream", func(w world) device.Code { return w.MemcpyDtoHAsync(b, w.p, w.dead) }, handle},

		{"grid of 0", func(w world) device.Code { return grid(w, device.Dim{}, device.Dim{X: 1}) }, value},
		{"grid too high", func(w world) device.Code { return grid(w, device.Dim{X: 1, Y: 65_536}, device.Dim{X: 1}) }, value},
		{"block of 0", func(w world) device.Code { return grid(w, device.Dim{X: 1}, device.Dim{}) }, value},
		{"block of 1024", func(w world) device.Code { return grid(w, device.Dim{X: 1}, device.Dim{X: 32, Y: 32}) }, good},
		{"block of 1025", func(w world) device.Code { return grid(w, device.Dim{X: 1}, device.Dim{X: 1025}) }, value},
		{"block of 2048", func(w world) device.Code { return grid(w, device.Dim{X: 1}, device.Dim{X: 64, Y: 32}) }, value},
		{"largest grid", func(w world) device.Code {
			return grid(w, device.Dim{X: 1<<31 - 1, Y: 65_535, Z: 65_535}, device.Dim{X: 1})
		}, good},
		{"no kernel", func(w world) device.Code {
			return w.LaunchKernel(&device.Launch{Grid: device.Dim{X: 1}, Block: device.Dim{X: 1}})
		}, value},
		{"launch in a destroyed stream", func(w world) device.Code {
			return w.LaunchKernel(&device.Launch{Kernel: delayKernel, Grid: device.Dim{X: 1}, Block: device.Dim{X: 1},
				Stream: w.dead})
		}, handle},

		{"pool: set reserved", func(w world) device.Code {
			return w.MemPoolSetAttribute(w.pool, device.PoolReservedMemCurrent,
				0)
		}, value},
		{"pool: set used", func(w world) device.Code { return w.MemPoolSetAttribute(w.pool, device.PoolUsedMemCurrent, 0) },
			value},
		{"pool: set a high-watermark", func(w world) device.Code {
			return w.MemPoolSetAttribute(w.pool,
				device.PoolUsedMemHigh, 1)
		}, value},
		{"pool: reset a high-watermark", func(w world) device.Code {
			return w.MemPoolSetAttribute(w.pool,
				device.PoolReservedMemHigh, 0)
		}, good},
		{"pool: unknown attribute", func(w world) device.Code { _, c := w.MemPoolGetAttribute(w.pool, 99); return c }, value},
		{"pool: unknown pool", func(w world) device.Code {
			_, c := w.MemPoolGetAttribute(w.pool+1, device.PoolUsedMemHigh)
			return c
		}, value},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world{Device: New(Options{})}
			d := w.Device
			w.s, w.dead, w.e, w.gone = newStream(t, d), newStream(t, d), newEvent(t, d), newEvent(t, d)
			w.p, w.q, w.freed = malloc(t, d, 1000), mallocAsync(t, d, 1000, w.s), mallocAsync(t, d, 1000, w.s)
			w.host = must[device.Host](t)(d.MemAllocHost(4096))
			w.pool = must[device.Pool](t)(d.DeviceGetDefaultMemPool())
			ok(t, d.StreamDestroy(w.dead))
			ok(t, d.EventDestroy(w.gone))
			delay(t, d, w.s, long)
			ok(t, d.MemFreeAsync(w.freed, w.s))
			before := d.Now()
			require.Equal(t, c.want, c.call(w))
			require.Greater(t, d.Now(), before, "every call takes host time")
			ok(t, d.CtxSynchronize())
		})
	}
}

func TestAllocateNothingAsync(t *testing.T) {
	d := New(Options{})
	require.Zero(t, mallocAsync(t, d, 0, 0))
	require.Zero(t, poolAttr(t, d, device.PoolReservedMemCurrent))
}

// A kernel that touches unmapped memory ends the context, once it has run.
func TestIllegalAddressIsSticky(t *testing.T) {
	for name, address := range map[string]func(d *Device, s device.Stream) device.Ptr{
		"garbage": func(*Device, device.Stream) device.Ptr { return 0x1000 },
		"past the granule": func(d *Device, s device.Stream) device.Ptr {
			return malloc(t, d, 16) + device.Ptr(H200.Granule)
		},
		"given back by the pool": func(d *Device, s device.Stream) device.Ptr {
			p := mallocAsync(t, d, 64, s)
			ok(t, d.MemFreeAsync(p, s))
			ok(t, d.StreamSynchronize(s))
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := New(Options{})
			s, e := newStream(t, d), newEvent(t, d)
			live := malloc(t, d, 64)
			host := must[device.Host](t)(d.MemAllocHost(8))
			add(t, d, s, address(d, s), 1, 1)
			ok(t, d.StreamQuery(0))
			const lost = device.ErrorIllegalAddress
			require.Equal(t, lost, d.StreamSynchronize(s))

			require.Equal(t, lost, d.CtxSynchronize())
			require.Equal(t, lost, d.StreamQuery(0))
			require.Equal(t, lost, d.EventRecord(e, s))
			require.Equal(t, lost, d.MemFree(live))
			require.Equal(t, lost, d.MemFree(0))
			require.Equal(t, lost, d.MemsetD8(live, 0, 0))
			require.Equal(t, lost, d.MemFreeHost(host))
			require.Equal(t, lost, d.StreamDestroy(s))
			_, c := d.MemAllocAsync(8, 0)
			require.Equal(t, lost, c)
			_, _, c = d.MemGetInfo()
			require.Equal(t, lost, c)

			d.HostWrite(host, 0, []byte{1})
			got := make([]byte, 1)
			d.HostRead(host, 0, got)
			require.Equal(t, []byte{1}, got)
			require.NoError(t, d.Close())
		})
	}
}

// So does work that finds its memory gone: freed by the host, and given back while the work was still to run.
func TestMemoryGoneUnderPendingWork(t *testing.T) {
	for name, use := range map[string]func(d *Device, p device.Ptr, s device.Stream) device.Code{
		"memset": func(d *Device, p device.Ptr, s device.Stream) device.Code { return d.MemsetD8Async(p, 1, 8, s) },
		"upload": func(d *Device, p device.Ptr, s device.Stream) device.Code {
			return d.MemcpyHtoDAsync(p, []byte{1}, s)
		},
		"download": func(d *Device, p device.Ptr, s device.Stream) device.Code {
			h := must[device.Host](t)(d.MemAllocHost(8))
			return d.MemcpyDToHostAsync(h, 0, p, 8, s)
		},
		"copy from": func(d *Device, p device.Ptr, s device.Stream) device.Code {
			return d.MemcpyDtoDAsync(malloc(t, d, 8), p, 8, s)
		},
		"copy to": func(d *Device, p device.Ptr, s device.Stream) device.Code {
			return d.MemcpyDtoDAsync(p, malloc(t, d, 8), 8, s)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := New(Options{})
			s, other := newStream(t, d), newStream(t, d)
			p := mallocAsync(t, d, 8, s)
			delay(t, d, s, long)
			ok(t, use(d, p, s))
			ok(t, d.MemFree(p))
			ok(t, d.StreamSynchronize(other))
			require.Equal(t, device.ErrorIllegalAddress, d.StreamSynchronize(s))
		})
	}
}

// A kernel may run past its allocation into what is mapped behind it, as on a GPU; the neighbour pays.
func TestOverrunWithinAGranule(t *testing.T) {
	d := New(Options{})
	p, q := malloc(t, d, 512), malloc(t, d, 512)
	require.Equal(t, p+512, q)
	ok(t, d.MemsetD8(q, 1, 512))
	add(t, d, 0, p+512, 1, 1)
	ok(t, d.CtxSynchronize())
	require.Equal(t, byte(2), read(t, d, q, 1)[0])
}
