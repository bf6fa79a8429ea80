package probe

import (
	"errors"
	"fmt"
	"strings"

	_ "cudalab/kernels" // lists its kernels
	"cudalab/kernels/listed"
	"cudalab/native/device"
)

// loader is a device that has to compile kernels before it runs them. The simulator has not.
type loader interface {
	LoadKernel(*device.Kernel) device.Code
	PTXLog() string
}

// errNoPools is the answer for a GPU that cannot do what the lessons are about, as some virtual GPUs cannot.
var errNoPools = errors.New("this GPU has no memory pools (cudaMallocAsync), which is what the lessons are about. " +
	"Use the simulated device: --device sim")

// Ready sees that a device can carry the lessons: it has memory pools, and compiles every kernel, the lessons' and the
// grader's. So no compiler runs in the middle of a measurement, and a driver that refuses the PTX is not taken for a
// fault of the code that launches it. It answers how many kernels there are; the error has the driver's own words.
func Ready(d device.Device) (loaded int, err error) {
	if !d.Info().MemoryPools {
		return 0, errNoPools
	}
	all := append(listed.All(), All()...)
	l, ok := d.(loader)
	if !ok {
		return len(all), nil
	}
	for _, k := range all {
		if code := l.LoadKernel(k); code != device.Success {
			return 0, fmt.Errorf("the driver does not load the kernel %s: %w. %s A newer driver will: release 460 or later has "+
				"what the kernels need", k.Entry(), code, strings.TrimSpace(l.PTXLog()))
		}
	}
	return len(all), nil
}
