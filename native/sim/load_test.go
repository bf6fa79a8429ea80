package sim

import (
	"bytes"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

// A million operations that the host never waits for, and a million that it does, leave nothing behind.
func TestLongLoopsStayBounded(t *testing.T) {
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for name, synchronise := range map[string]bool{"never waiting": false, "waiting": true} {
		t.Run(name, func(t *testing.T) {
			before := heap()
			d := New(Options{})
			s, busy, e := newStream(t, d), newStream(t, d), newEvent(t, d)
			delay(t, d, busy, 1<<40) // one stream that hangs must not keep the rest
			for range 200_000 {
				p := mallocAsync(t, d, 1000, s)
				require.True(t, d.MemsetD8Async(p, 1, 1000, s) == device.Success)
				require.True(t, d.EventRecord(e, s) == device.Success)
				require.True(t, d.StreamWaitEvent(s, e) == device.Success)
				require.True(t, d.MemFreeAsync(p, s) == device.Success)
				if synchronise {
					require.True(t, d.StreamSynchronize(s) == device.Success)
				}
			}
			require.Less(t, heap(), before+16*mib)
			runtime.KeepAlive(d)
		})
	}
}

func TestManyStreamsComeAndGo(t *testing.T) {
	d := New(Options{})
	for range 20_000 {
		s := newStream(t, d)
		delay(t, d, s, 10_000)
		ok(t, d.StreamDestroy(s))
	}
	require.Less(t, len(d.order), 1000)
	require.Less(t, d.slots, 1000)
}

// Calls may come from any goroutine. The race detector has something to see here.
func TestGoroutines(t *testing.T) {
	d := New(Options{})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			s, _ := d.StreamCreate(0)
			got := make([]byte, 100)
			for i := range 200 {
				p, _ := d.MemAllocAsync(100, s)
				d.MemsetD8Async(p, byte(i), 100, s)
				d.MemcpyDtoHAsync(got, p, s)
				d.MemFreeAsync(p, s)
				if !bytes.Equal(got, filled(100, byte(i))) {
					t.Errorf("round %d read %v", i, got[:8])
				}
				d.Now()
			}
		})
	}
	all.Wait()
	ok(t, d.CtxSynchronize())
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New(Options{})
	}
}

func BenchmarkMallocAsyncFreeAsync(b *testing.B) {
	d := New(Options{})
	s := newStream(b, d)
	for b.Loop() {
		p, _ := d.MemAllocAsync(mib, s)
		d.MemFreeAsync(p, s)
	}
}

func BenchmarkMallocAsyncFreeAsyncSynchronize(b *testing.B) {
	d := New(Options{})
	s := newStream(b, d)
	for b.Loop() {
		p, _ := d.MemAllocAsync(mib, s)
		d.MemFreeAsync(p, s)
		d.StreamSynchronize(s)
	}
}

func BenchmarkMallocFree(b *testing.B) {
	d := New(Options{})
	for b.Loop() {
		p, _ := d.MemAlloc(1 << 30)
		d.MemFree(p)
	}
}

func BenchmarkLaunch(b *testing.B) {
	d := New(Options{})
	l := &device.Launch{Kernel: delayKernel, Grid: device.Dim{X: 16}, Block: device.Dim{X: 256}, Stream: newStream(b, d)}
	for b.Loop() {
		d.LaunchKernel(l)
	}
}

// Four streams with full grids, which queue behind one another.
func BenchmarkLaunchQueued(b *testing.B) {
	d := New(Options{})
	l := &device.Launch{Kernel: stepsKernel, Grid: device.Dim{X: 132 * 8}, Block: device.Dim{X: 256}}
	l.Args[0] = 1000
	var streams []device.Stream
	for range 4 {
		streams = append(streams, newStream(b, d))
	}
	for i := 0; b.Loop(); i++ {
		l.Stream = streams[i%4]
		d.LaunchKernel(l)
	}
}

func BenchmarkRecordWait(b *testing.B) {
	d := New(Options{})
	s, t, e := newStream(b, d), newStream(b, d), newEvent(b, d)
	for b.Loop() {
		d.EventRecord(e, s)
		d.StreamWaitEvent(t, e)
	}
}

func BenchmarkQuery(b *testing.B) {
	d := New(Options{})
	s := newStream(b, d)
	for b.Loop() {
		d.StreamQuery(s)
	}
}
