package fidelity

import (
	"cudalab/native/cuda"
)

// besidePrograms have the device do several things at a time that share a part of it.
func besidePrograms() []program {
	spin := func(nanos int64) func(*kit, cuda.Stream, cuda.DevicePtr) {
		return func(k *kit, s cuda.Stream, _ cuda.DevicePtr) { k.delay(s, nanos) }
	}
	return []program{
		{
			Name: "launch/beside-one-thread",
			Slow: "20 kernels of 1,056 blocks and 50 µs behind a thread that spins for 1 ms",
			Fast: "the same beside it, on a stream of their own",
			ways: func(k *kit) (slow, fast func()) {
				const elements = 1056 * 256
				s, p := k.streams(2), k.memory(4*elements)
				kernels := func(on cuda.Stream) func() {
					return func() {
						k.delay(s[0], 1_000_000)
						for range 20 {
							k.process(on, p, elements, 1300)
						}
					}
				}
				return kernels(s[0]), kernels(s[1])
			},
		},
		inTurns("more-than-128", "256 kernels of one thread and 2 ms", 64, 256, 256, 4, spin(2_000_000)),
		inTurns("thousand", "1,000 short kernels", 32, 1, 1000, 128, (*kit).short),
		inTurns("many-streams", "1,000 kernels of one thread and 10 µs", 1, 32, 1000, 4, spin(10_000)),
		beside("two-memsets", "two memsets of 256 MiB", func(k *kit) (one, other func(cuda.Stream)) {
			memset := func() func(cuda.Stream) {
				p := k.memory(256 * mib)
				return func(s cuda.Stream) { k.Must(cuda.MemsetAsync(p, 1, 256*mib, s)) }
			}
			return memset(), memset()
		}),
		beside("both-ways-256MiB", "256 MiB to the device and 256 MiB from it", func(k *kit) (one, other func(cuda.Stream)) {
			const size = 256 * mib
			up, down, from, to := k.memory(size), k.memory(size), k.pinned(size), k.pinned(size)
			return func(s cuda.Stream) { k.Must(cuda.MemcpyHtoDAsync(up, from, size, s)) },
				func(s cuda.Stream) { k.Must(cuda.MemcpyDtoHAsync(to, down, size, s)) }
		}),
		{
			Name: "copy/pageable-beside-pinned",
			Slow: "64 MiB of pageable memory to the device, and 256 MiB of pinned memory on the same stream",
			Fast: "the same on two streams",
			ways: func(k *kit) (slow, fast func()) {
				const size, more = 64 * mib, 256 * mib
				s, p, q, h, g := k.streams(2), k.memory(more), k.memory(size), k.pinned(more), k.pageable(size)
				copies := func(on cuda.Stream) func() {
					return func() {
						k.Must(cuda.MemcpyHtoDAsync(p, h, more, s[0]))
						k.Must(cuda.MemcpyHtoDAsync(q, g, size, on))
					}
				}
				return copies(s[0]), copies(s[1])
			},
		},
		{
			Name: "copy/small-behind-large",
			Slow: "64 MiB to the host; on another stream 4 bytes to the host and a thread that spins for 1 ms",
			Fast: "the same, the second stream first",
			ways: func(k *kit) (slow, fast func()) {
				s, p, h := k.streams(2), k.memory(64*mib), k.pinned(64*mib)
				large := func() { k.Must(cuda.MemcpyDtoHAsync(h, p, 64*mib, s[0])) }
				small := func() {
					k.Must(cuda.MemcpyDtoHAsync(h, p, 4, s[1]))
					k.delay(s[1], 1_000_000)
				}
				return func() { large(); small() }, func() { small(); large() }
			},
		},
	}
}

// beside does two things one after the other and side by side.
func beside(id, what string, make func(k *kit) (one, other func(cuda.Stream))) program {
	return program{
		Name: "copy/" + id, Slow: what + ", on one stream", Fast: "the same on two streams",
		ways: func(k *kit) (slow, fast func()) {
			s := k.streams(2)
			one, other := make(k)
			both := func(second cuda.Stream) func() {
				return func() {
					one(s[0])
					other(second)
				}
			}
			return both(s[0]), both(s[1])
		},
	}
}
