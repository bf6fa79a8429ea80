package driver

import (
	"testing"

	"cudalab/native/device"
)

// The benchmarks make the same calls as testdata/pairs.c, which says what they cost from C, through the interface that
// the rest of cudalab uses.

func BenchmarkAllocFree(b *testing.B) {
	g := gpu(b)
	var d device.Device = g
	s := newStream(b, g)
	b.ReportAllocs()
	for b.Loop() {
		p, code := d.MemAllocAsync(64<<10, s)
		if code != device.Success {
			b.Fatal(code)
		}
		if code := d.MemFreeAsync(p, s); code != device.Success {
			b.Fatal(code)
		}
	}
}

func BenchmarkRecordWait(b *testing.B) {
	g := gpu(b)
	var d device.Device = g
	s, other, e := newStream(b, g), newStream(b, g), newEvent(b, g)
	b.ReportAllocs()
	for b.Loop() {
		if code := d.EventRecord(e, s); code != device.Success {
			b.Fatal(code)
		}
		if code := d.StreamWaitEvent(other, e); code != device.Success {
			b.Fatal(code)
		}
	}
}

func BenchmarkLaunch(b *testing.B) {
	g := gpu(b)
	var d device.Device = g
	l := &device.Launch{Kernel: nothing, Grid: device.Dim{X: 1}, Block: device.Dim{X: 1}, Stream: newStream(b, g)}
	ok(b, g.LoadKernel(nothing))
	b.ReportAllocs()
	for b.Loop() {
		if code := d.LaunchKernel(l); code != device.Success {
			b.Fatal(code)
		}
	}
}
