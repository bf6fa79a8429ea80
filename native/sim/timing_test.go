package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

// The clock says again what was measured on the GPU that the profile is of, within a tenth.
func TestProfilePredictsMeasurements(t *testing.T) {
	rounds := func(setup, round func(d *Device, s device.Stream)) float64 {
		d := New(Options{})
		s := newStream(t, d)
		setup(d, s)
		ok(t, d.CtxSynchronize())
		start := d.Now()
		for range 100 {
			round(d, s)
		}
		ok(t, d.CtxSynchronize())
		return float64(d.Now()-start) / 100_000
	}
	nothing := func(*Device, device.Stream) {}
	warm := func(d *Device, s device.Stream) {
		setPool(t, d, device.PoolReleaseThreshold, keepAll)
		p, _ := d.MemAllocAsync(1<<30, s)
		ok(t, d.MemFreeAsync(p, s))
	}
	var buffer device.Ptr
	kernel := func(d *Device, s device.Stream, p device.Ptr) {
		launch(t, d, stepsKernel, s, 4096, 256, 0, 4*mib)
	}
	async := func(size uint64, between func(d *Device, s device.Stream, p device.Ptr), synchronise bool) func(*Device,
		device.Stream) {
		return func(d *Device, s device.Stream) {
			p := mallocAsync(t, d, size, s)
			if between != nil {
				between(d, s, p)
			}
			ok(t, d.MemFreeAsync(p, s))
			if synchronise {
				ok(t, d.StreamSynchronize(s))
			}
		}
	}
	sync := func(size uint64) func(*Device, device.Stream) {
		return func(d *Device, _ device.Stream) { ok(t, d.MemFree(malloc(t, d, size))) }
	}
	for _, c := range []struct {
		name         string
		setup, round func(*Device, device.Stream)
		micros       float64
	}{
		{"cudaMalloc, cudaFree 4 KiB", nothing, sync(4 << 10), 50},
		{"cudaMalloc, cudaFree 16 MiB", nothing, sync(16 * mib), 54.6},
		{"cudaMalloc, cudaFree 256 MiB", nothing, sync(256 * mib), 135},
		{"cudaMalloc, cudaFree 1 GiB", nothing, sync(1 << 30), 300},
		{"warm pool", warm, async(1<<30, nil, false), 0.66},
		{"warm pool, synchronise", warm, async(mib, nil, true), 2.6},
		{"threshold 0, synchronise, 1 MiB", nothing, async(mib, nil, true), 70.7},
		{"threshold 0, synchronise, 16 MiB", nothing, async(16*mib, nil, true), 70.7},
		{"threshold 0, synchronise, 64 MiB", nothing, async(64*mib, nil, true), 116},
		{"launch, synchronise", nothing, func(d *Device, s device.Stream) {
			delay(t, d, s, 0)
			ok(t,
				d.StreamSynchronize(s))
		}, 8.9},
		{"4 MiB, one buffer, kernels", func(d *Device, _ device.Stream) { buffer = malloc(t, d, 4*mib) },
			func(d *Device, s device.Stream) { kernel(d, s, buffer) }, 4.4},
		{"4 MiB, threshold at max, kernel in between", warm, async(4*mib, kernel, false), 5.35},
		{"4 MiB, threshold 0, kernel in between", nothing, async(4*mib, kernel, false), 6.06},
		{"a stream created, used, waited for, destroyed", nothing, func(d *Device, _ device.Stream) {
			s := newStream(t, d)
			delay(t, d, s, 0)
			ok(t, d.StreamSynchronize(s))
			ok(t, d.StreamDestroy(s))
		}, 14.7},
	} {
		t.Run(c.name, func(t *testing.T) { require.InEpsilon(t, c.micros, rounds(c.setup, c.round), 0.1) })
	}
}

// elapsed is the virtual time from an idle device until all of work has ended.
func elapsed(t *testing.T, work func(d *Device, streams []device.Stream)) float64 {
	t.Helper()
	d := New(Options{})
	var streams []device.Stream
	for range 4 {
		streams = append(streams, newStream(t, d))
	}
	start := d.Now()
	work(d, streams)
	ok(t, d.CtxSynchronize())
	return float64(d.Now() - start)
}

func TestKernelsShareTheDevice(t *testing.T) {
	four := func(grid uint32, many bool, steps, bytes uint64) float64 {
		return elapsed(t, func(d *Device, streams []device.Stream) {
			for i := range 4 {
				s := streams[0]
				if many {
					s = streams[i]
				}
				launch(t, d, stepsKernel, s, grid, 256, steps, bytes)
			}
		})
	}
	steps := uint64(1e9 / H200.StepPicos) // 1 ms each
	require.InEpsilon(t, 4e6, four(16, false, steps, 0), 0.02, "one stream: one after the other")
	require.InEpsilon(t, 1e6, four(16, true, steps, 0), 0.05, "small grids overlap")
	full := four(132*8, false, steps, 0)
	require.InEpsilon(t, full, four(132*8, true, steps, 0), 0.02, "grids that fill the device queue")
	require.InEpsilon(t, full/2, four(132*4, true, steps, 0), 0.05,
		"half the blocks are half the work, and little more is to be had")
	require.InEpsilon(t, 2*full, four(2*132*8, false, steps, 0), 0.02, "twice the blocks are a second wave")
	alone := 4e9 / float64(H200.KernelBandwidth) * 1e9
	require.InEpsilon(t, 4*alone, four(132*8, true, 0, 4e9), 0.02, "memory-bound kernels share the bandwidth")
}

func TestCopyEngines(t *testing.T) {
	const size = 273 * 1000 * 1000 // 5 ms
	copies := func(up, down int) float64 {
		d := New(Options{})
		p := malloc(t, d, size)
		h := must[device.Host](t)(d.MemAllocHost(size))
		start := d.Now()
		for range up {
			ok(t, d.MemcpyHostToDAsync(p, h, 0, size, newStream(t, d)))
		}
		for range down {
			ok(t, d.MemcpyDToHostAsync(h, 0, p, size, newStream(t, d)))
		}
		for _, s := range d.order {
			d.now = max(d.now, s.end) // the times alone: nothing needs to be copied
		}
		return float64(d.now - start)
	}
	require.InEpsilon(t, 5e6, copies(1, 0), 0.01)
	require.InEpsilon(t, 5e6, copies(0, 1), 0.01)
	require.InEpsilon(t, 10e6, copies(2, 0), 0.01, "one direction, one engine")
	require.InEpsilon(t, 10e6, copies(1, 2), 0.05, "both directions at once, nearly")
}

// Copies and kernels overlap on different streams.
func TestCopyBesideKernel(t *testing.T) {
	took := elapsed(t, func(d *Device, streams []device.Stream) {
		h := must[device.Host](t)(d.MemAllocHost(27_000))
		p := malloc(t, d, 27_000)
		delay(t, d, streams[0], long)
		for range 100 {
			ok(t, d.MemcpyHostToDAsync(p, h, 0, 27_000, streams[1]))
		}
	})
	require.InEpsilon(t, float64(long), took, 0.02)
}

func TestJitterStaysWithinBounds(t *testing.T) {
	const nanos = 1_000_000
	d := New(Options{Jitter: true, Seed: 3})
	seen := map[int64]bool{}
	for range 1000 {
		length := d.vary(nanos)
		seen[length] = true
		require.GreaterOrEqual(t, length, int64(nanos/2))
		require.LessOrEqual(t, length, int64(nanos*2))
	}
	require.Greater(t, len(seen), 900)
}

// What takes its time only takes as long as what moves memory, and leaves memory as it was.
func TestTimeOnly(t *testing.T) {
	run := func(timeOnly bool) (took int64, holds byte) {
		d := New(Options{})
		s := newStream(t, d)
		p := mallocAsync(t, d, mib, s)
		ok(t, d.MemsetD8Async(p, 1, mib, s))
		ok(t, d.CtxSynchronize())
		d.TimeOnly(timeOnly)
		began := d.Now()
		ok(t, d.MemsetD8Async(p, 2, mib, s))
		ok(t, d.MemcpyHtoDAsync(p, []byte{3}, s))
		ok(t, d.CtxSynchronize())
		took = d.Now() - began
		d.TimeOnly(false)
		back := []byte{0}
		ok(t, d.MemcpyDtoH(back, p))
		return took, back[0]
	}
	long, holds := run(false)
	require.EqualValues(t, 3, holds)
	short, holds := run(true)
	require.EqualValues(t, 1, holds)
	require.Equal(t, long, short)
}

func TestLongestBoundsWhatAnOperationTakes(t *testing.T) {
	took := func(o Options) int64 {
		d := New(o)
		s := newStream(t, d)
		p := mallocAsync(t, d, mib, s)
		ok(t, d.CtxSynchronize())
		began := d.Now()
		for range 10 {
			ok(t, d.MemsetD8Async(p, 1, mib, s))
		}
		ok(t, d.CtxSynchronize())
		return d.Now() - began
	}
	require.Less(t, took(Options{Longest: 1}), took(Options{}))
	require.Equal(t, took(Options{Longest: 1 << 40}), took(Options{}))
}

// No argument makes the clock run over.
func TestAbsurdKernels(t *testing.T) {
	d := New(Options{Jitter: true})
	l := device.Launch{Kernel: stepsKernel, Grid: device.Dim{X: maxGridX, Y: maxGridYZ, Z: maxGridYZ},
		Block: device.Dim{X: 1024}}
	l.Args[0], l.Args[1] = 1<<64-1, 1<<64-1
	for range 10 {
		before := d.Now()
		ok(t, d.LaunchKernel(&l))
		ok(t, d.CtxSynchronize())
		require.Greater(t, d.Now(), before)
	}
}
