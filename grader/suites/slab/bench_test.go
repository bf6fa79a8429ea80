package slab_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/solutions/slab"
)

// way is a way to allocate and free.
type way struct {
	alloc func(size int64) (cuda.DevicePtr, error)
	free  func(cuda.DevicePtr) error
}

// BenchmarkPair reports the host's time for an allocation and a free, of the solution and of what it replaces: of 64
// KiB, and of random sizes up to that with up to a hundred blocks out. The simulator's figures are its own work, not
// virtual time.
func BenchmarkPair(b *testing.B) {
	const most = 64 << 10
	for _, kind := range []string{"gpu", "sim"} {
		b.Run(kind, func(b *testing.B) {
			d, err := session.OpenDevice(kind)
			if err != nil {
				b.Skipf("no NVIDIA GPU here: %v", err)
			}
			defer d.Close()
			session.New(d).Use()
			a, err := slab.New([]int64{4 << 10, 16 << 10, most}, 128)
			require.NoError(b, err)
			stream, err := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
			require.NoError(b, err)
			for name, w := range map[string]way{
				"slab":   {a.Alloc, a.Free},
				"Malloc": {cuda.Malloc, cuda.Free},
				"MallocAsync": {
					func(size int64) (cuda.DevicePtr, error) { return cuda.MallocAsync(size, stream) },
					func(p cuda.DevicePtr) error { return cuda.FreeAsync(p, stream) },
				},
			} {
				b.Run(name+"/same", func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						p, err := w.alloc(most)
						if err != nil {
							b.Fatal(err)
						}
						if err := w.free(p); err != nil {
							b.Fatal(err)
						}
					}
				})
				b.Run(name+"/mixed", func(b *testing.B) { mixed(b, w, most) })
			}
			require.NoError(b, a.Close())
		})
	}
}

// mixed exchanges one of a hundred blocks after the other, in random order, for one of another size.
func mixed(b *testing.B, w way, most int64) {
	r := rand.New(rand.NewPCG(1, 2))
	type draw struct {
		i    int
		size int64
	}
	draws := make([]draw, 1<<12) // drawn ahead, so that drawing is not measured
	for i := range draws {
		draws[i] = draw{r.IntN(100), 1 + r.Int64N(most)}
	}
	var held [100]cuda.DevicePtr
	for i := range held {
		p, err := w.alloc(1 + r.Int64N(most))
		require.NoError(b, err)
		held[i] = p
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		d := draws[n%len(draws)]
		n++
		if err := w.free(held[d.i]); err != nil {
			b.Fatal(err)
		}
		p, err := w.alloc(d.size)
		if err != nil {
			b.Fatal(err)
		}
		held[d.i] = p
	}
	for _, p := range held {
		require.NoError(b, w.free(p))
	}
}
