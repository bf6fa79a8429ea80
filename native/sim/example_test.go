package sim_test

import (
	"fmt"

	"cudalab/native/device"
	"cudalab/native/sim"
)

// A kernel that takes a million steps in one block. Exec may compute anything; this one leaves memory alone.
var busy = device.NewKernel(device.Spec{
	Entry:    "busy",
	PTX:      "busy.ptx", // for a GPU; the simulated device does what Exec says
	Exec:     func(*device.Launch, device.Memory) {},
	Accesses: func(_ *device.Launch, buf []device.Access) []device.Access { return buf },
	Work:     func(l *device.Launch) device.Work { return device.Work{Threads: l.Threads(), Steps: 1_000_000} },
})

// The clock is virtual: it tells what the calls would have taken on the profile's GPU, the same on every machine.
// Kernels in two streams run at the same time; in one they run one after the other.
func Example() {
	took := func(streams int) int64 {
		d := sim.New(sim.Options{})
		defer d.Close()
		var all []device.Stream
		for range streams {
			s, _ := d.StreamCreate(device.StreamNonBlocking)
			all = append(all, s)
		}
		began := d.Now()
		for i := range 2 {
			d.LaunchKernel(&device.Launch{Kernel: busy, Grid: device.Dim{X: 1}, Block: device.Dim{X: 256},
				Stream: all[i%streams]})
		}
		d.CtxSynchronize()
		return (d.Now() - began) / 1_000_000
	}
	fmt.Println(took(1), "ms in one stream")
	fmt.Println(took(2), "ms in two")
	// Output:
	// 29 ms in one stream
	// 14 ms in two
}
