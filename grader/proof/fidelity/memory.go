package fidelity

import (
	"fmt"

	"cudalab/native/cuda"
)

// name is a size in a program's name.
func name(size int64) string {
	if size >= mib {
		return fmt.Sprintf("%dMiB", size/mib)
	}
	return fmt.Sprintf("%dKiB", size/kib)
}

// mallocPrograms allocate and free, with the calls that wait and with those that do not.
func mallocPrograms() []program {
	all := []program{
		{
			Name: "malloc/mapped",
			Slow: "20 × Malloc and Free of 64 KiB, on their own",
			Fast: "the same beside an allocation that keeps their 2 MiB mapped",
			ways: func(k *kit) (slow, fast func()) {
				pairs := func() {
					for range 20 {
						k.Must(cuda.Free(got[cuda.DevicePtr](k)(cuda.Malloc(64 * kib))))
					}
				}
				return pairs, func() {
					neighbour := got[cuda.DevicePtr](k)(cuda.Malloc(64 * kib))
					pairs()
					k.Must(cuda.Free(neighbour))
				}
			},
		},
		{
			Name: "malloc/rounds-with-kernel",
			Slow: "20 × Malloc, a kernel and Free of 1 MiB",
			Fast: "the same from a pool that keeps its memory",
			ways: func(k *kit) (slow, fast func()) {
				s, pool := k.stream(), k.pool(keepAll)
				return func() {
						for range 20 {
							p := got[cuda.DevicePtr](k)(cuda.Malloc(mib))
							k.process(s, p, mib/4, 0)
							k.Must(cuda.Free(p))
						}
					}, func() {
						for range 20 {
							p := k.alloc(mib, pool, s)
							k.process(s, p, mib/4, 0)
							k.free(p, s)
						}
					}
			},
		},
	}
	for _, size := range []int64{64 * kib, 4 * mib, 64 * mib} {
		all = append(all, program{
			Name: "malloc/or-pool-" + name(size),
			Slow: "20 × Malloc and Free of " + name(size),
			Fast: "20 × allocation and free from a pool that keeps its memory",
			ways: func(k *kit) (slow, fast func()) {
				s, pool := k.stream(), k.pool(keepAll)
				return func() {
						for range 20 {
							k.Must(cuda.Free(got[cuda.DevicePtr](k)(cuda.Malloc(size))))
						}
					}, func() {
						for range 20 {
							k.free(k.alloc(size, pool, s), s)
						}
					}
			},
		})
	}
	return all
}

// walkSizes are what a walk allocates, in turns.
var walkSizes = []int64{256, 40 * kib, 700, 1 * mib, 9 * kib, 130 * kib, 2 * kib, 333 * kib, 64 * kib, 17, 600 * kib}

// walk allocates blocks from a pool in streams in turns, and frees each once so many younger ones are out.
func (k *kit) walk(pool cuda.MemPool, streams []cuda.Stream, blocks, out int, size func(i int) int64) {
	held := make([]cuda.DevicePtr, 0, blocks)
	for i := range blocks + out {
		if i < blocks {
			held = append(held, k.alloc(size(i), pool, streams[i%len(streams)]))
		}
		if i >= out {
			k.free(held[i-out], streams[(i-out)%len(streams)])
		}
	}
}

func sizeOfWalk(i int) int64 { return walkSizes[i%len(walkSizes)] }

// poolPrograms use memory pools.
func poolPrograms() []program {
	all := []program{
		{
			Name: "pool/synchronise-once",
			Slow: "20 × allocation, free and synchronise, 1 MiB at threshold 0",
			Fast: "the same with one synchronise at the end",
			ways: func(k *kit) (slow, fast func()) {
				s, pool := k.stream(), k.pool(0)
				pairs := func(wait bool) func() {
					return func() {
						for range 20 {
							k.free(k.alloc(mib, pool, s), s)
							if wait {
								k.wait(s)
							}
						}
						k.wait(s)
					}
				}
				return pairs(true), pairs(false)
			},
		},
		{
			Name: "pool/trim",
			Slow: "10 × allocation, free, synchronise and MemPoolTrimTo(0), 40 MiB",
			Fast: "the same with one MemPoolTrimTo(0) at the end",
			ways: func(k *kit) (slow, fast func()) {
				s, pool := k.stream(), k.pool(keepAll)
				rounds := func(trim bool) func() {
					return func() {
						for range 10 {
							k.free(k.alloc(40*mib, pool, s), s)
							k.wait(s)
							if trim {
								k.Must(cuda.MemPoolTrimTo(pool, 0))
							}
						}
						k.Must(cuda.MemPoolTrimTo(pool, 0))
					}
				}
				return rounds(true), rounds(false)
			},
		},
		{
			Name: "pool/walk-sizes",
			Slow: "a walk over 200 blocks of 11 sizes on one stream, 16 of them out",
			Fast: "the same with blocks of 64 KiB",
			ways: func(k *kit) (slow, fast func()) {
				s, pool := k.streams(1), k.pool(keepAll)
				return func() { k.walk(pool, s, 200, 16, sizeOfWalk) },
					func() { k.walk(pool, s, 200, 16, func(int) int64 { return 64 * kib }) }
			},
		},
		{
			Name: "pool/walk-streams",
			Slow: "a walk over 200 blocks of 11 sizes on 4 streams, 16 of them out",
			Fast: "the same on one stream",
			ways: func(k *kit) (slow, fast func()) {
				s, pool := k.streams(4), k.pool(keepAll)
				return func() { k.walk(pool, s, 200, 16, sizeOfWalk) }, func() { k.walk(pool, s[:1], 200, 16, sizeOfWalk) }
			},
		},
		{
			Name: "pool/walk-or-malloc",
			Slow: "a walk over 200 blocks of 11 sizes with Malloc and Free, 16 of them out",
			Fast: "the same from a pool on 4 streams",
			ways: func(k *kit) (slow, fast func()) {
				s, pool := k.streams(4), k.pool(keepAll)
				return func() {
					held := make([]cuda.DevicePtr, 0, 200)
					for i := range 200 + 16 {
						if i < 200 {
							held = append(held, got[cuda.DevicePtr](k)(cuda.Malloc(sizeOfWalk(i))))
						}
						if i >= 16 {
							k.Must(cuda.Free(held[i-16]))
						}
					}
				}, func() { k.walk(pool, s, 200, 16, sizeOfWalk) }
			},
		},
		{
			Name: "pool/backlog",
			Slow: "256 blocks of 64 KiB from a pool, then all of them freed",
			Fast: "256 × allocation and free of 64 KiB",
			ways: func(k *kit) (slow, fast func()) {
				s, pool := k.streams(1), k.pool(keepAll)
				of64KiB := func(int) int64 { return 64 * kib }
				return func() { k.walk(pool, s, 256, 256, of64KiB) }, func() { k.walk(pool, s, 256, 0, of64KiB) }
			},
		},
		{
			Name: "pool/rounds-on-2-streams",
			Slow: "20 rounds of 4 blocks on 2 streams, each touched, at threshold 0",
			Fast: "the same with a pool that keeps its memory",
			ways: func(k *kit) (slow, fast func()) {
				s := k.streams(2)
				rounds := func(threshold uint64) func() {
					pool := k.pool(threshold)
					return func() {
						for range 20 {
							var held [4]cuda.DevicePtr
							for j := range held {
								held[j] = k.alloc(int64(40+3*j)*kib, pool, s[j%2])
								k.short(s[j%2], held[j])
							}
							for j, p := range held {
								k.free(p, s[j%2])
							}
							k.wait(s...)
						}
					}
				}
				return rounds(0), rounds(keepAll)
			},
		},
		{
			Name: "pool/other-stream",
			Slow: "100 × allocation and free of 64 KiB, on 4 streams in turns",
			Fast: "the same on one stream",
			ways: func(k *kit) (slow, fast func()) {
				s, pool := k.streams(4), k.pool(keepAll)
				pairs := func(n int) func() {
					return func() {
						for i := range 100 {
							k.free(k.alloc(64*kib, pool, s[i%n]), s[i%n])
						}
					}
				}
				return pairs(4), pairs(1)
			},
		},
	}
	for _, size := range []int64{mib, 64 * mib} {
		all = append(all, program{
			Name: "pool/threshold-" + name(size),
			Slow: "20 × allocation, free and synchronise of " + name(size) + " at threshold 0",
			Fast: "the same from a pool that keeps its memory",
			ways: func(k *kit) (slow, fast func()) {
				s := k.stream()
				rounds := func(threshold uint64) func() {
					pool := k.pool(threshold)
					return func() {
						for range 20 {
							k.free(k.alloc(size, pool, s), s)
							k.wait(s)
						}
					}
				}
				return rounds(0), rounds(keepAll)
			},
		})
	}
	return all
}
