package cuda_test

import (
	"testing"

	"cudalab/native/cuda"
	"cudalab/native/session"
)

// BenchmarkAllocFree is what exercises pay for a pair of MallocAsync and FreeAsync of 64 KiB with tracing off, on each
// device. native/driver/testdata/pairs.c makes the same calls from C.
func BenchmarkAllocFree(b *testing.B) {
	for _, kind := range []string{"gpu", "sim"} {
		b.Run(kind, func(b *testing.B) {
			d, err := session.OpenDevice(kind)
			if err != nil {
				b.Skipf("no NVIDIA GPU here: %v", err)
			}
			session.New(d).Use()
			s, err := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				p, err := cuda.MallocAsync(64<<10, s)
				if err != nil {
					b.Fatal(err)
				}
				if err := cuda.FreeAsync(p, s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
