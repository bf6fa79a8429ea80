package fidelity

import (
	"fmt"

	"cudalab/kernels"
	"cudalab/native/cuda"
)

// inTurns is a program of kernels that go to streams in turns. Each has so many bytes of its own.
func inTurns(id, what string, slow, fast, kernels int, bytes int64, launch func(k *kit, s cuda.Stream,
	p cuda.DevicePtr)) program {
	on := func(streams int) string {
		if streams == 1 {
			return what + " on one stream"
		}
		return fmt.Sprintf("%s on %d streams in turns", what, streams)
	}
	return program{
		Name: "launch/" + id, Slow: on(slow), Fast: on(fast),
		ways: func(k *kit) (func(), func()) {
			s, p := k.streams(max(slow, fast)), k.memory(int64(kernels)*bytes)
			launches := func(streams int) func() {
				return func() {
					for i := range kernels {
						launch(k, s[i%streams], p+cuda.DevicePtr(int64(i)*bytes))
					}
				}
			}
			return launches(slow), launches(fast)
		},
	}
}

// launchPrograms launch kernels.
func launchPrograms() []program {
	return []program{
		{
			Name: "launch/waiting",
			Slow: "100 short kernels, each waited for",
			Fast: "100 short kernels, waited for once",
			ways: func(k *kit) (slow, fast func()) {
				s, p := k.stream(), k.memory(kib)
				kernels := func(wait bool) func() {
					return func() {
						for range 100 {
							k.short(s, p)
							if wait {
								k.wait(s)
							}
						}
					}
				}
				return kernels(true), kernels(false)
			},
		},
		inTurns("short", "400 short kernels", 4, 1, 400, 128, (*kit).short),
		inTurns("medium", "64 kernels of 16 blocks and 15 µs", 1, 4, 64, 16*kib, func(k *kit, s cuda.Stream,
			p cuda.DevicePtr) {
			k.long(s, p, 1000)
		}), inTurns("long", "16 kernels of 16 blocks and 150 µs", 1, 4, 16, 16*kib, func(k *kit, s cuda.Stream,
			p cuda.DevicePtr) {
			k.long(s, p, 10_000)
		}), inTurns("full", "8 kernels that write 8 MiB", 1, 4, 8, 8*mib, func(k *kit, s cuda.Stream, p cuda.DevicePtr) {
			k.Must(kernels.Touch(2048, 256, s, p, 8*mib, 1))
		}),
		{
			Name: "launch/fewer-larger",
			Slow: "64 kernels on 16 KiB each",
			Fast: "one kernel on 1 MiB",
			ways: func(k *kit) (slow, fast func()) {
				s, p := k.stream(), k.memory(mib)
				return func() {
					for at := cuda.DevicePtr(0); at < mib; at += 16 * kib {
						k.process(s, p+at, 4096, 0)
					}
				}, func() { k.process(s, p, mib/4, 0) }
			},
		},
		{
			Name: "launch/stream-each",
			Slow: "50 short kernels, each on a stream made for it and waited for",
			Fast: "the same on one stream",
			ways: func(k *kit) (slow, fast func()) {
				one, p := k.stream(), k.memory(kib)
				return func() {
						for range 50 {
							s := got[cuda.Stream](k)(cuda.StreamCreateWithFlags(cuda.StreamNonBlocking))
							k.short(s, p)
							k.wait(s)
							k.Must(cuda.StreamDestroy(s))
						}
					}, func() {
						for range 50 {
							k.short(one, p)
							k.wait(one)
						}
					}
			},
		},
	}
}

// eventPrograms order streams, and time them.
func eventPrograms() []program {
	return []program{
		{
			Name: "event/ping-pong",
			Slow: "50 × a short kernel on one stream and then on another, the host waiting in between",
			Fast: "the same, ordered by events",
			ways: func(k *kit) (slow, fast func()) {
				s, p, e := k.streams(2), k.memory(kib), []cuda.Event{k.event(), k.event()}
				rounds := func(hop func(i int)) func() {
					return func() {
						for i := range 100 {
							k.short(s[i%2], p)
							hop(i % 2)
						}
					}
				}
				return rounds(func(i int) { k.wait(s[i]) }), rounds(func(i int) { k.edge(e[i], s[i], s[1-i]) })
			},
		},
		{
			Name: "event/one-stream",
			Slow: "100 short kernels on two streams in turns, ordered by events",
			Fast: "100 short kernels on one stream",
			ways: func(k *kit) (slow, fast func()) {
				s, p, e := k.streams(2), k.memory(kib), []cuda.Event{k.event(), k.event()}
				return func() {
						for i := range 100 {
							k.short(s[i%2], p)
							k.edge(e[i%2], s[i%2], s[1-i%2])
						}
					}, func() {
						for range 100 {
							k.short(s[0], p)
						}
					}
			},
		},
		{
			Name: "event/timing",
			Slow: "200 records and waits, of an event with timing",
			Fast: "the same without timing",
			ways: func(k *kit) (slow, fast func()) {
				s := k.streams(2)
				edges := func(flags uint32) func() {
					e := k.eventWith(flags)
					return func() {
						for range 200 {
							k.edge(e, s[0], s[1])
						}
					}
				}
				return edges(0), edges(cuda.EventDisableTiming)
			},
		},
		{
			Name: "event/elapsed-each",
			Slow: "50 short kernels, each between two events made for it, and their elapsed time",
			Fast: "the same between two events around all",
			ways: func(k *kit) (slow, fast func()) {
				s, p := k.stream(), k.memory(kib)
				timed := func(kernels int) {
					start, end := got[cuda.Event](k)(cuda.EventCreate()), got[cuda.Event](k)(cuda.EventCreate())
					k.Must(cuda.EventRecord(start, s))
					for range kernels {
						k.short(s, p)
					}
					k.Must(cuda.EventRecord(end, s))
					k.Must(cuda.EventSynchronize(end))
					got[float32](k)(cuda.EventElapsedTime(start, end))
					k.Must(cuda.EventDestroy(start))
					k.Must(cuda.EventDestroy(end))
				}
				return func() {
					for range 50 {
						timed(1)
					}
				}, func() { timed(50) }
			},
		},
		{
			Name: "event/hand-over",
			Slow: "20 × 100 µs of work on one stream and as much on another behind it, waited for by the host",
			Fast: "the same, ordered by an event, the next 100 µs beginning meanwhile",
			ways: func(k *kit) (slow, fast func()) {
				s, p, q, e := k.streams(2), k.memory(16*kib), k.memory(16*kib), k.event()
				const rounds = 6_800
				return func() {
						for range 20 {
							k.long(s[0], p, rounds)
							k.wait(s[0])
							k.long(s[1], q, rounds)
							k.wait(s[1])
						}
					}, func() {
						for range 20 {
							k.long(s[0], p, rounds)
							k.edge(e, s[0], s[1])
							k.long(s[1], q, rounds)
						}
					}
			},
		},
	}
}
