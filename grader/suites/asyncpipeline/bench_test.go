package asyncpipeline

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/kernels"
	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/session"
)

// way is a way to allocate and free, with the release threshold of the pool that goes with it.
type way struct {
	threshold uint64
	alloc     func(size int64) (cuda.DevicePtr, error)
	free      func(cuda.DevicePtr) error
}

func ways(s cuda.Stream) map[string]way {
	async := func(size int64) (cuda.DevicePtr, error) { return cuda.MallocAsync(size, s) }
	free := func(p cuda.DevicePtr) error { return cuda.FreeAsync(p, s) }
	return map[string]way{
		"Malloc":                    {alloc: cuda.Malloc, free: cuda.Free},
		"MallocAsync/threshold=0":   {alloc: async, free: free},
		"MallocAsync/threshold=max": {threshold: math.MaxUint64, alloc: async, free: free},
	}
}

// hundredRounds allocates 4 MiB, launches process on them and frees them, a hundred times, and waits for the device.
func hundredRounds(s cuda.Stream, w way) error {
	const elements = 1 << 20
	for range 100 {
		p, err := w.alloc(4 * elements)
		if err != nil {
			return err
		}
		if err := kernels.Process(elements/256, 256, s, p, elements, 2, 0); err != nil {
			return err
		}
		if err := w.free(p); err != nil {
			return err
		}
	}
	return cuda.DeviceSynchronize()
}

// BenchmarkRounds reports the median of hundredRounds by the device's own host clock, which is virtual on the
// simulator. testdata/peer.cu does the same in CUDA C++.
func BenchmarkRounds(b *testing.B) {
	for _, kind := range []string{"gpu", "sim"} {
		b.Run(kind, func(b *testing.B) {
			d, err := session.OpenDevice(kind)
			if err != nil {
				b.Skipf("no NVIDIA GPU here: %v", err)
			}
			session.New(d).Use()
			s, err := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
			require.NoError(b, err)
			pool, code := d.DeviceGetDefaultMemPool()
			require.Equal(b, device.Success, code)
			for name, w := range ways(s) {
				b.Run(name, func(b *testing.B) {
					require.Equal(b, device.Success, d.MemPoolSetAttribute(pool, device.PoolReleaseThreshold, w.threshold))
					var took []int64
					for b.Loop() {
						start := d.Now()
						if err := hundredRounds(s, w); err != nil {
							b.Fatal(err)
						}
						took = append(took, d.Now()-start)
					}
					slices.Sort(took)
					b.ReportMetric(float64(took[len(took)/2])/1e3, "µs/100rounds")
				})
			}
		})
	}
}
