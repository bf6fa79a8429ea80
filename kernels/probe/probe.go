// Package probe holds the grader's own kernels, for the schedules that a suite puts a student's code through.
// Exercises cannot import it.
package probe

//go:generate ../build.sh

import (
	_ "embed" // probe.ptx
	"fmt"
	"time"

	"cudalab/native/cuda"
	"cudalab/native/device"
)

// MaxDelay is the longest delay, in nanoseconds: well below the two seconds after which Windows takes a GPU back that
// draws a screen.
const MaxDelay = int64(time.Second)

//go:embed probe.ptx
var ptx string

// Delay keeps s busy for nanos nanoseconds from the moment at which the stream gets there, by the device's clock
// (%globaltimer): one thread that spins. It ends by itself, whatever the host does, and touches no memory.
func Delay(s cuda.Stream, nanos int64) error {
	if nanos < 0 || nanos > MaxDelay {
		return fmt.Errorf("probe.Delay: %d ns is not between 0 and %d: %w", nanos, MaxDelay, cuda.ErrorInvalidValue)
	}
	return cuda.LaunchKernel(delay, cuda.Dim3{X: 1}, cuda.Dim3{X: 1}, s, uint64(nanos))
}

// All are the kernels that this package launches.
func All() []*device.Kernel { return []*device.Kernel{delay} }

var delay = device.NewKernel(device.Spec{
	Entry:    "delay",
	PTX:      ptx,
	Params:   1,
	Exec:     func(*device.Launch, device.Memory) {},
	Accesses: func(_ *device.Launch, buf []device.Access) []device.Access { return buf },
	Work:     func(l *device.Launch) device.Work { return device.Work{Threads: 1, Nanos: l.Args[0]} },
})
