package fidelity

import (
	"fmt"

	"cudalab/native/cuda"
)

// copyPrograms move bytes: between host and device, and within the device.
func copyPrograms() []program {
	all := []program{
		{
			Name: "copy/small-or-one",
			Slow: "64 copies of 4 KiB to the device",
			Fast: "one copy of 256 KiB",
			ways: func(k *kit) (slow, fast func()) {
				s, p, h := k.stream(), k.memory(256*kib), k.pinned(256*kib)
				return func() {
					for at := int64(0); at < 256*kib; at += 4 * kib {
						k.Must(cuda.MemcpyHtoDAsync(p+cuda.DevicePtr(at), h.At(at), 4*kib, s))
					}
				}, func() { k.Must(cuda.MemcpyHtoDAsync(p, h, 256*kib, s)) }
			},
		},
		{
			Name: "copy/waiting",
			Slow: "50 copies of 4 KiB of pinned memory, each waited for",
			Fast: "the same, waited for once",
			ways: func(k *kit) (slow, fast func()) {
				s, p, h := k.stream(), k.memory(4*kib), k.pinned(4*kib)
				copies := func(wait bool) func() {
					return func() {
						for range 50 {
							k.Must(cuda.MemcpyHtoDAsync(p, h, 4*kib, s))
							if wait {
								k.wait(s)
							}
						}
					}
				}
				return copies(true), copies(false)
			},
		},
		{
			Name: "copy/small-results",
			Slow: "50 results of 8 bytes, each copied to pageable memory",
			Fast: "the same to pinned memory, waited for once",
			ways: func(k *kit) (slow, fast func()) {
				s, p, h, g := k.stream(), k.memory(8), k.pinned(8), k.pageable(8)
				return func() {
						for range 50 {
							k.Must(cuda.MemcpyDtoHAsync(g, p, 8, s))
						}
					}, func() {
						for range 50 {
							k.Must(cuda.MemcpyDtoHAsync(h, p, 8, s))
						}
					}
			},
		},
		{
			Name: "copy/staged",
			Slow: "50 × 4 KiB of pageable memory to the device, with MemcpyHtoD",
			Fast: "the same with MemcpyHtoDAsync",
			ways: func(k *kit) (slow, fast func()) {
				s, p, g := k.stream(), k.memory(4*kib), k.pageable(4*kib)
				return func() {
						for range 50 {
							k.Must(cuda.MemcpyHtoD(p, g, 4*kib))
						}
					}, func() {
						for range 50 {
							k.Must(cuda.MemcpyHtoDAsync(p, g, 4*kib, s))
						}
					}
			},
		},
		{
			Name: "copy/both-ways",
			Slow: "16 MiB to the device and 16 MiB from it, on one stream",
			Fast: "the same on two streams",
			ways: func(k *kit) (slow, fast func()) {
				s := k.streams(2)
				up, down, from, to := k.memory(16*mib), k.memory(16*mib), k.pinned(16*mib), k.pinned(16*mib)
				copies := func(back cuda.Stream) func() {
					return func() {
						k.Must(cuda.MemcpyHtoDAsync(up, from, 16*mib, s[0]))
						k.Must(cuda.MemcpyDtoHAsync(to, down, 16*mib, back))
					}
				}
				return copies(s[0]), copies(s[1])
			},
		},
		{
			Name: "copy/memsets",
			Slow: "64 memsets of 1 MiB",
			Fast: "one memset of 64 MiB",
			ways: func(k *kit) (slow, fast func()) {
				s, p := k.stream(), k.memory(64*mib)
				return func() {
					for at := cuda.DevicePtr(0); at < 64*mib; at += mib {
						k.Must(cuda.MemsetAsync(p+at, 1, mib, s))
					}
				}, func() { k.Must(cuda.MemsetAsync(p, 2, 64*mib, s)) }
			},
		},
		{
			Name: "copy/within-device",
			Slow: "64 MiB to the device from pinned memory",
			Fast: "64 MiB from elsewhere on the device",
			ways: func(k *kit) (slow, fast func()) {
				s, p, q, h := k.stream(), k.memory(64*mib), k.memory(64*mib), k.pinned(64*mib)
				return func() { k.Must(cuda.MemcpyHtoDAsync(p, h, 64*mib, s)) },
					func() { k.Must(cuda.MemcpyDtoDAsync(p, q, 64*mib, s)) }
			},
		},
	}
	for _, size := range []int64{mib, 16 * mib} {
		all = append(all, pinnedOrNot("to-device-"+name(size), name(size)+" to the device", size, cuda.MemcpyHtoDAsync),
			pinnedOrNot("to-host-"+name(size), name(size)+" to the host", size,
				func(p cuda.DevicePtr, h cuda.HostMemory, n int64, s cuda.Stream) error {
					return cuda.MemcpyDtoHAsync(h, p, n, s)
				}))
	}
	for _, n := range []int{2, 4} {
		all = append(all, overlap(n))
	}
	return all
}

// pinnedOrNot copies the same bytes with pageable and with pinned memory.
func pinnedOrNot(id, what string, size int64, copied func(cuda.DevicePtr, cuda.HostMemory, int64,
	cuda.Stream) error) program {
	return program{
		Name: "copy/" + id,
		Slow: "4 × " + what + ", pageable memory",
		Fast: "the same with pinned memory",
		ways: func(k *kit) (slow, fast func()) {
			s, p := k.stream(), k.memory(size)
			four := func(h cuda.HostMemory) func() {
				return func() {
					for range 4 {
						k.Must(copied(p, h, size, s))
					}
				}
			}
			return four(k.pageable(size)), four(k.pinned(size))
		},
	}
}

// overlap sends chunks to the device, works on them and brings them back.
func overlap(streams int) program {
	const (
		chunks = 8
		size   = 2 * mib
		rounds = 2000 // so that the work takes about as long as a copy
	)
	return program{
		Name: fmt.Sprintf("copy/overlap-%d", streams),
		Slow: "8 × 2 MiB to the device, a kernel, 2 MiB back, on one stream",
		Fast: fmt.Sprintf("the same on %d streams", streams),
		ways: func(k *kit) (slow, fast func()) {
			s, p, h := k.streams(streams), k.memory(chunks*size), k.pinned(chunks*size)
			on := func(s []cuda.Stream) func() {
				return func() {
					for i := range chunks {
						at, s := int64(i)*size, s[i%len(s)]
						k.Must(cuda.MemcpyHtoDAsync(p+cuda.DevicePtr(at), h.At(at), size, s))
						k.process(s, p+cuda.DevicePtr(at), size/4, rounds)
						k.Must(cuda.MemcpyDtoHAsync(h.At(at), p+cuda.DevicePtr(at), size, s))
					}
				}
			}
			return on(s[:1]), on(s)
		},
	}
}
