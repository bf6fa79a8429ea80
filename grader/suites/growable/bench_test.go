package growable

import (
	"testing"

	"github.com/stretchr/testify/require"

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

// BenchmarkGrow reports how long it takes to grow to 256 MiB in pieces of 64 KiB, on the device's own clock: what the timed case
// measures. Closing is not counted.
func BenchmarkGrow(b *testing.B) {
	for _, kind := range []string{"gpu", "sim"} {
		for name, make := range map[string]Make{"solution": Of(growable.New), "copying": newCopying} {
			b.Run(kind+"/"+name, func(b *testing.B) {
				now, s := onDevice(b, kind)
				took := int64(0)
				for range b.N {
					start := now()
					v, err := make(0, speedPiece, speedCount)
					require.NoError(b, err)
					for range speedCount {
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
