package blockpool_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/kernels/probe"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/solutions/blockpool"
)

// BenchmarkPair reports the host's time for an Alloc and a Free of 64 KiB, in each of the three ways, beside the calls
// of CUDA's that it cannot do without, and cudaMallocAsync. The simulator's figures are its own work, not virtual time.
func BenchmarkPair(b *testing.B) {
	const size = 64 << 10
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
			event, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
			require.NoError(b, err)
			must := func(err error) {
				if err != nil {
					b.Fatal(err)
				}
			}
			settle := func() { must(cuda.DeviceSynchronize()) }
			pair := func(p *blockpool.Pool, i, j int) {
				at, err := p.Alloc(streams[i])
				must(err)
				must(p.Free(at, streams[j]))
			}
			run := func(name string, busy bool, f func(i int)) {
				b.Run(name, func(b *testing.B) {
					settle()
					for i := 0; b.Loop(); i++ {
						if i%512 == 0 { // so that no queue of the driver's fills
							b.StopTimer()
							settle()
							if busy {
								must(probe.Delay(streams[0], 100_000_000))
								must(probe.Delay(streams[1], 100_000_000))
							}
							b.StartTimer()
						}
						f(i)
					}
					settle()
				})
			}
			pool := func(blocks int) *blockpool.Pool {
				p, err := blockpool.New(size, blocks)
				require.NoError(b, err)
				b.Cleanup(func() { _ = p.Close() })
				return p
			}
			one, turns := pool(2), pool(1)
			run("own", false, func(int) { pair(one, 0, 0) })
			run("two in turns, done or waited for", false, func(i int) { pair(turns, i%2, i%2) })
			run("two in turns, waited for", true, func(i int) { pair(turns, i%2, i%2) })
			run("EventRecord", false, func(int) { must(cuda.EventRecord(event, streams[0])) })
			run("EventRecord, EventQuery, StreamWaitEvent", true, func(i int) {
				must(cuda.EventRecord(event, streams[i%2]))
				_ = cuda.EventQuery(event)
				must(cuda.StreamWaitEvent(streams[1-i%2], event))
			})
			run("MallocAsync, FreeAsync", false, func(i int) {
				p, err := cuda.MallocAsync(size, streams[i%2])
				must(err)
				must(cuda.FreeAsync(p, streams[i%2]))
			})
		})
	}
}

// stack is one list for all streams, the last one back first out, with an edge wherever that was another stream.
type stack struct {
	*blockpool.Pool
	free []freed
}

type freed struct {
	at cuda.DevicePtr
	in cuda.Stream
	by cuda.Event
}

func (s *stack) Alloc(in cuda.Stream) (cuda.DevicePtr, error) {
	if len(s.free) == 0 {
		return s.Pool.Alloc(in)
	}
	f := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	if f.in != in {
		if err := cuda.StreamWaitEvent(in, f.by); err != nil {
			return 0, err
		}
	}
	return f.at, cuda.EventDestroy(f.by)
}

func (s *stack) Free(at cuda.DevicePtr, in cuda.Stream) error {
	event, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
	if err != nil {
		return err
	}
	s.free = append(s.free, freed{at, in, event})
	return cuda.EventRecord(event, in)
}

// BenchmarkOverlap reports what becomes of the concurrency of several streams that each take a block, work in it for
// 100 µs and give it back, 32 times: with a list for each stream, and with one list for all.
func BenchmarkOverlap(b *testing.B) {
	for _, kind := range []string{"gpu", "sim"} {
		b.Run(kind, func(b *testing.B) {
			d, err := session.OpenDevice(kind)
			if err != nil {
				b.Skipf("no NVIDIA GPU here: %v", err)
			}
			defer d.Close()
			session.New(d).Use()
			for _, n := range []int{2, 4, 8} {
				streams := make([]cuda.Stream, n)
				for i := range streams {
					streams[i], err = cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
					require.NoError(b, err)
				}
				for _, name := range []string{"a list for each stream", "one list"} {
					b.Run(fmt.Sprintf("%d streams, %s", n, name), func(b *testing.B) {
						p, err := blockpool.New(4096, 2*n)
						require.NoError(b, err)
						var pool interface {
							Alloc(cuda.Stream) (cuda.DevicePtr, error)
							Free(cuda.DevicePtr, cuda.Stream) error
						} = p
						if name == "one list" {
							pool = &stack{Pool: p}
						}
						took := int64(0)
						for b.Loop() {
							began := d.Now()
							for range 32 {
								for _, s := range streams {
									at, err := pool.Alloc(s)
									require.NoError(b, err)
									require.NoError(b, probe.Delay(s, 100_000))
									require.NoError(b, pool.Free(at, s))
								}
							}
							require.NoError(b, cuda.DeviceSynchronize())
							took += d.Now() - began
						}
						b.ReportMetric(float64(took)/float64(b.N)/1000, "device-µs/op")
						require.NoError(b, p.Close())
					})
				}
			}
		})
	}
}
