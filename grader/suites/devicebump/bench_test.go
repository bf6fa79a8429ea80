package devicebump_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/kernels"
	"cudalab/native/cuda"
	"cudalab/native/session"
)

// BenchmarkTake reports what an allocation takes by each kernel, with more and more threads that all try at one word.
// The pool has room for all of them. The simulator's figures are its own work, not virtual time.
func BenchmarkTake(b *testing.B) {
	for _, kind := range []string{"gpu", "sim"} {
		b.Run(kind, func(b *testing.B) {
			d, err := session.OpenDevice(kind)
			if err != nil {
				b.Skipf("no NVIDIA GPU here: %v", err)
			}
			defer d.Close()
			session.New(d).Use()
			for _, threads := range []int{1 << 10, 1 << 14, 1 << 17, 1 << 20, 1 << 23} {
				for name, launch := range map[string]func(int, int, cuda.Stream, kernels.BumpPool, cuda.DevicePtr, int, uint32,
					cuda.DevicePtr) error{
					"Add": kernels.BumpAdd, "Bump": kernels.Bump, "Warp": kernels.BumpWarp, "Block": kernels.BumpBlock,
				} {
					if threads > 1<<20 && (name == "Bump" || name == "Warp" || kind == "sim") {
						continue // what they take grows faster than their number
					}
					b.Run(fmt.Sprintf("%s/%d", name, threads), func(b *testing.B) {
						const size, block = 16, 256
						memory, err := cuda.Malloc(int64(size * threads))
						require.NoError(b, err)
						room, err := cuda.Malloc(int64(16*threads + 8))
						require.NoError(b, err)
						sizes := make(cuda.Pageable, 0, 8*threads)
						for range threads {
							sizes = binary.LittleEndian.AppendUint64(sizes, size)
						}
						require.NoError(b, cuda.MemcpyHtoD(room, sizes, int64(len(sizes))))
						word := room + cuda.DevicePtr(16*threads)
						p := kernels.BumpPool{Memory: memory, Bytes: int64(size * threads), Word: word}
						for b.Loop() {
							require.NoError(b, cuda.MemsetAsync(word, 0, 8, cuda.Stream{}))
							require.NoError(b, launch(threads/block, block, cuda.Stream{}, p, room, threads, 1, room+
								cuda.DevicePtr(8*threads)))
							require.NoError(b, cuda.DeviceSynchronize())
						}
						b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*threads), "ns/allocation")
						require.NoError(b, cuda.Free(memory))
						require.NoError(b, cuda.Free(room))
					})
				}
			}
		})
	}
}
