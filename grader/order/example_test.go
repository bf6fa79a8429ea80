package order_test

import (
	"fmt"

	"cudalab/grader/order"
	"cudalab/native/device"
	"cudalab/native/session"
	"cudalab/native/sim"
)

// One stream writes a buffer and another copies from it. What is between the two is the difference.
func ExampleCheck() {
	check := func(ordered bool) {
		s := session.New(sim.New(sim.Options{}))
		s.StartTrace()
		writer, _ := s.StreamCreate(device.StreamNonBlocking)
		s.Label("writer")
		reader, _ := s.StreamCreate(device.StreamNonBlocking)
		s.Label("reader")
		written, _ := s.EventCreate(device.EventDisableTiming)
		src, _ := s.Malloc(1024)
		dst, _ := s.Malloc(1024)

		s.MemsetAsync(src, 1, 1024, writer)
		if ordered {
			s.EventRecord(written, writer)
			s.StreamWaitEvent(reader, written)
		}
		s.MemcpyDtoDAsync(dst, src, 1024, reader)

		s.DeviceSynchronize()
		s.Free(src)
		s.Free(dst)
		s.EventDestroy(written)
		s.StreamDestroy(writer)
		s.StreamDestroy(reader)
		found := order.Check(s.StopTrace())
		for _, f := range found {
			fmt.Printf("%s: %s\n%s\n%s\n", f.Rule, f.Message, f.Why, f.Fix)
		}
		fmt.Println("findings:", len(found))
	}
	check(false)
	check(true)
	// Output:
	// data-race: MemcpyDtoDAsync on reader reads the 1,024 bytes from Malloc, which MemsetAsync on writer writes. It should come after that, but reader never waits for it: the two may run in either order, or at once.
	// Work on different streams runs in any order, and at the same time, unless an event, the legacy default stream or the host puts it in order.
	// Record an event on writer after MemsetAsync (cuda.EventRecord), and make reader wait for it before MemcpyDtoDAsync (cuda.StreamWaitEvent).
	// findings: 1
	// findings: 0
}

// Memory is freed in another stream than the one that uses it. The picture shows the order that nothing makes.
func ExamplePicture() {
	s := session.New(sim.New(sim.Options{}))
	s.StartTrace()
	worker, _ := s.StreamCreate(device.StreamNonBlocking)
	s.Label("worker")
	other, _ := s.StreamCreate(device.StreamNonBlocking)
	s.Label("other")
	allocated, _ := s.EventCreate(device.EventDisableTiming)

	p, _ := s.MallocAsync(1024, worker)
	s.EventRecord(allocated, worker)
	s.StreamWaitEvent(other, allocated)
	s.MemsetAsync(p, 1, 1024, worker)
	s.FreeAsync(p, other)

	s.DeviceSynchronize()
	s.EventDestroy(allocated)
	s.StreamDestroy(worker)
	s.StreamDestroy(other)
	t := s.StopTrace()
	for _, f := range order.Check(t) {
		fmt.Printf("%s\n%s", f.Rule, order.Picture(t, f))
	}
	// Output:
	// free-before-use
	// worker   MallocAsync ──▶ MemsetAsync
	//                               ┆
	//                               └┄┄┄┄┄┄┄┄┄┄┄┐  missing
	//                                           ▼
	// other                                 FreeAsync
}
