package streampool_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/solutions/streampool"
)

// fromCUDA is an upstream that is CUDA itself.
type fromCUDA struct{}

func (fromCUDA) Malloc(size int64, _ cuda.Stream) (cuda.DevicePtr, error) { return cuda.Malloc(size) }
func (fromCUDA) Free(p cuda.DevicePtr) error                              { return cuda.Free(p) }

// BenchmarkPair reports the host's time for an Alloc and a Free of sizes that differ, with one stream (of a block that
// goes back at once, and of one of 64 that are out) and with two in turns, beside cudaMallocAsync and cudaMalloc. The
// simulator's figures are its own work, not virtual time.
func BenchmarkPair(b *testing.B) {
	size := func(i int) int64 { return 256 * int64(1+i*7919%4093) }
	for _, kind := range []string{"gpu", "sim"} {
		b.Run(kind, func(b *testing.B) {
			d, err := session.OpenDevice(kind)
			if err != nil {
				b.Skipf("no NVIDIA GPU here: %v", err)
			}
			defer d.Close()
			session.New(d).Use()
			streams := make([]cuda.Stream, 2)
			for i := range streams {
				streams[i], err = cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
				require.NoError(b, err)
			}
			must := func(err error) {
				if err != nil {
					b.Fatal(err)
				}
			}
			run := func(name string, f func(i int)) {
				b.Run(name, func(b *testing.B) {
					must(cuda.DeviceSynchronize())
					for i := 0; b.Loop(); i++ {
						if i%512 == 0 { // so that no queue of the driver's fills
							b.StopTimer()
							must(cuda.DeviceSynchronize())
							b.StartTimer()
						}
						f(i)
					}
					must(cuda.DeviceSynchronize())
				})
			}
			pool := func() *streampool.Pool {
				p, err := streampool.New(fromCUDA{}, 64<<20)
				require.NoError(b, err)
				b.Cleanup(func() { _ = p.Close() })
				return p
			}
			pair := func(p *streampool.Pool, i int, s cuda.Stream) {
				at, err := p.Alloc(size(i), s)
				must(err)
				must(p.Free(at, s))
			}
			one, many, two := pool(), pool(), pool()
			run("one stream", func(i int) { pair(one, i, streams[0]) })
			held := make([]cuda.DevicePtr, 64)
			for i := range held {
				held[i], err = many.Alloc(size(i), streams[0])
				must(err)
			}
			run("one stream, 64 blocks out", func(i int) {
				at := i * 31 % len(held)
				must(many.Free(held[at], streams[0]))
				held[at], err = many.Alloc(size(i), streams[0])
				must(err)
			})
			run("two in turns", func(i int) { pair(two, i, streams[i%2]) })
			run("MallocAsync, FreeAsync", func(i int) {
				p, err := cuda.MallocAsync(size(i), streams[i%2])
				must(err)
				must(cuda.FreeAsync(p, streams[i%2]))
			})
			run("Malloc, Free", func(i int) {
				p, err := cuda.Malloc(size(i))
				must(err)
				must(cuda.Free(p))
			})
		})
	}
}
