package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

// What programs took on an H200 (driver 580.159) that have several things going on at a time, in milliseconds. Its host
// took 5.1 µs for a launch, as the thousand empty kernels show, where the profile's takes 2.9, as those of package
// fidelity do.
func TestSideBySide(t *testing.T) {
	p := H200
	p.Launch = 5_100
	const (
		spin = 20_000_000
		big  = 256 * mib
	)
	type world struct {
		*Device
		t    *testing.T
		s    []device.Stream
		p, q device.Ptr
		host device.Host
	}
	blocks := func(n uint32) func(w *world) {
		return func(w *world) {
			launch(w.t, w.Device, stepsKernel, w.s[1], n, 256, 150, 4*256*uint64(n))
			ok(w.t, w.StreamSynchronize(w.s[1]))
		}
	}
	spinning := func(w *world) { delay(w.t, w.Device, w.s[0], spin) }
	spread := func(n, streams int, nanos int64) func(w *world) {
		return func(w *world) {
			for i := range n {
				delay(w.t, w.Device, w.s[i%streams], nanos)
			}
			ok(w.t, w.CtxSynchronize())
		}
	}
	memsets := func(n int) func(w *world) {
		return func(w *world) {
			for i := range n {
				ok(w.t, w.MemsetD8Async([]device.Ptr{w.p, w.q}[i], 1, big, w.s[i]))
			}
			ok(w.t, w.CtxSynchronize())
		}
	}
	up := func(w *world, size uint64) { ok(w.t, w.MemcpyHostToDAsync(w.p, w.host, 0, size, w.s[0])) }
	down := func(w *world, size uint64, s device.Stream) {
		ok(w.t, w.MemcpyDToHostAsync(w.host, 0, w.q, size, s))
	}
	for _, c := range []struct {
		name         string
		before, work func(w *world)
		milliseconds float64
	}{
		{"1,055 blocks beside a thread that spins", spinning, blocks(1055), 0.022},
		{"1,056 blocks beside a thread that spins", spinning, blocks(1056), 0.022},
		{"4,096 blocks beside a thread that spins", spinning, blocks(4096), 0.032},
		{"128 kernels of one thread, 2 ms each", nil, spread(128, 128, 2_000_000), 3.1},
		{"256 kernels of one thread, 2 ms each", nil, spread(256, 256, 2_000_000), 4.9},
		{"1,000 kernels of 10 µs on 32 streams", nil, spread(1000, 32, 10_000), 5.9},
		{"1,000 empty kernels on one stream", nil, spread(1000, 1, 0), 5.1},
		{"up", nil, func(w *world) { up(w, big); ok(w.t, w.CtxSynchronize()) }, 4.9},
		{"up and down", nil, func(w *world) { up(w, big); down(w, big, w.s[1]); ok(w.t, w.CtxSynchronize()) }, 5.3},
		{"4 bytes down behind many", func(w *world) { down(w, big, w.s[0]) }, func(w *world) {
			down(w, 4, w.s[1])
			ok(w.t, w.StreamSynchronize(w.s[1]))
		}, 4.9},
		{"a memset", nil, memsets(1), 0.089},
		{"two memsets", nil, memsets(2), 0.139},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{Device: New(Options{Profile: &p}), t: t}
			defer w.Close()
			for range 256 {
				w.s = append(w.s, newStream(t, w.Device))
			}
			w.p, w.q = malloc(t, w.Device, big), malloc(t, w.Device, big)
			w.host = must[device.Host](t)(w.MemAllocHost(big))
			if c.before != nil {
				c.before(w)
			}
			start := w.Now()
			c.work(w)
			took := float64(w.Now()-start) / 1e6
			t.Logf("%.4f ms, on the H200 %.4f", took, c.milliseconds)
			require.InEpsilon(t, c.milliseconds, took, 0.4)
		})
	}
}

// What draws little does not have to end before something else begins.
func TestNothingWaitsForTheWholeDevice(t *testing.T) {
	type use func(d *Device, s device.Stream)
	took := func(work, beside use) float64 {
		d := New(Options{})
		s := []device.Stream{newStream(t, d), newStream(t, d)}
		beside(d, s[0])
		start := d.Now()
		work(d, s[1])
		ok(t, d.StreamSynchronize(s[1]))
		return float64(d.Now() - start)
	}
	nothing := func(*Device, device.Stream) {}
	steps := uint64(20e9 / H200.StepPicos) // 20 ms
	few := func(d *Device, s device.Stream) { launch(t, d, stepsKernel, s, 4, 256, steps, 0) }
	trickle := func(d *Device, s device.Stream) { launch(t, d, stepsKernel, s, 4, 256, 0, 100e6*4) }
	crowd := func(d *Device, s device.Stream) { launch(t, d, stepsKernel, s, 132*4, 256, steps, 0) }
	memset := func(d *Device, s device.Stream) {
		p := malloc(t, d, 256*mib)
		ok(t, d.MemsetD8Async(p, 1, 256*mib, s))
	}
	small := func(d *Device, s device.Stream) { launch(t, d, stepsKernel, s, 16, 256, 1000, 0) }
	full := func(d *Device, s device.Stream) { launch(t, d, stepsKernel, s, 132*8, 256, 1000, 0) }
	copies := func(d *Device, s device.Stream) {
		p, q := malloc(t, d, 256*mib), malloc(t, d, 256*mib)
		ok(t, d.MemcpyDtoDAsync(p, q, 256*mib, s))
	}
	for name, c := range map[string]struct{ work, beside use }{
		"a memset beside a kernel that draws little": {memset, trickle},
		"a copy beside a kernel that draws little":   {copies, trickle},
		"a full grid beside a small one":             {full, few},
		"a small grid beside one with many warps":    {small, crowd},
		"a small kernel beside a memset":             {small, memset},
	} {
		t.Run(name, func(t *testing.T) {
			require.InEpsilon(t, took(c.work, nothing), took(c.work, c.beside), 0.1)
		})
	}
}

// Blocks have room or not: where there is room for one of two, they run one after the other, and where there is half of
// what one needs, it waits.
func TestBlocksAreWhole(t *testing.T) {
	const block, nanos = 1024, 10_000_000
	// the threads of what runs in other streams, for ten times as long
	took := func(blocks uint32, taken ...uint32) float64 {
		d := New(Options{})
		for _, threads := range taken {
			launch(t, d, delayKernel, newStream(t, d), (threads+block-1)/block, min(threads, block), 10*nanos)
		}
		s, start := newStream(t, d), d.Now()
		launch(t, d, delayKernel, s, blocks, block, nanos)
		ok(t, d.StreamSynchronize(s))
		return float64(d.Now()-start) / nanos
	}
	const all = 132 * 2048
	require.InEpsilon(t, 1, took(2), 0.01)
	require.InEpsilon(t, 2, took(2, all-block), 0.01)
	require.InEpsilon(t, 1, took(1, all-block), 0.01)
	require.InEpsilon(t, 10, took(2, all-block, block/2), 0.2)
}
