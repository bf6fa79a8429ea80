package growable

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/kernels/probe"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/solutions/growable"
)

// onDevice opens a device for a benchmark, with a stream; it skips where there is none of the kind.
func onDevice(b *testing.B, kind string) (now func() int64, s cuda.Stream) {
	d, err := session.OpenDevice(kind)
	if err != nil {
		b.Skipf("no NVIDIA GPU here: %v", err)
	}
	b.Cleanup(func() { require.NoError(b, d.Close()) })
	session.New(d).Use()
	s, err = cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
	require.NoError(b, err)
	return d.Now, s
}

// BenchmarkGrow reports how long it takes to grow in pieces of 64 KiB, on the device's own clock: to 256 MiB, which is
// what the timed case measures, and on a GPU to 4 GiB. Closing is not counted.
func BenchmarkGrow(b *testing.B) {
	for _, kind := range []string{"gpu", "sim"} {
		sizes := map[string]int64{"256MiB": speedCount}
		if kind == "gpu" {
			sizes["4GiB"] = 16 * speedCount
		}
		for size, count := range sizes {
			for name, make := range map[string]Make{"solution": Of(growable.New), "copying": newCopying} {
				b.Run(kind+"/"+size+"/"+name, func(b *testing.B) {
					now, s := onDevice(b, kind)
					took := int64(0)
					for range b.N {
						start := now()
						v, err := make(0, speedPiece, count)
						require.NoError(b, err)
						for range count {
							if err := v.Append(s, 0, 1); err != nil {
								b.Fatal(err)
							}
						}
						require.NoError(b, cuda.DeviceSynchronize())
						took += now() - start
						require.NoError(b, v.Close())
					}
					b.ReportMetric(float64(took)/float64(b.N)/1e3, "µs/vector")
					b.ReportMetric(0, "ns/op")
				})
			}
		}
	}
}

// BenchmarkUnmap reports what the host spends on unmapping 2 MiB that nobody uses, on an idle device and while a kernel
// of 5 ms runs, which has nothing to do with it.
func BenchmarkUnmap(b *testing.B) {
	for _, busy := range []time.Duration{0, 5 * time.Millisecond} {
		b.Run("gpu/kernel of "+busy.String(), func(b *testing.B) {
			now, s := onDevice(b, "gpu")
			took := int64(0)
			for range b.N {
				v, err := growable.New(0, speedPiece, speedCount)
				require.NoError(b, err)
				require.NoError(b, v.Append(s, 0, 1))
				require.NoError(b, cuda.DeviceSynchronize())
				if busy > 0 {
					require.NoError(b, probe.Delay(s, busy.Nanoseconds()))
				}
				start := now()
				require.NoError(b, cuda.MemUnmap(v.Ptr(), v.Cap()*speedPiece))
				took += now() - start
				require.NoError(b, cuda.DeviceSynchronize())
			}
			b.ReportMetric(float64(took)/float64(b.N)/1e3, "µs/unmap")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkShrink reports what it takes to shrink from 256 MiB to one element and to grow back, on an idle device.
func BenchmarkShrink(b *testing.B) {
	for _, kind := range []string{"gpu", "sim"} {
		b.Run(kind, func(b *testing.B) {
			now, s := onDevice(b, kind)
			v, err := growable.New(0, speedPiece, speedCount)
			require.NoError(b, err)
			took := int64(0)
			for range b.N {
				start := now()
				require.NoError(b, v.Append(s, 0, speedCount-v.Len()))
				require.NoError(b, v.Shrink(1))
				took += now() - start
			}
			require.NoError(b, v.Close())
			b.ReportMetric(float64(took)/float64(b.N)/1e3, "µs/turn")
			b.ReportMetric(0, "ns/op")
		})
	}
}
