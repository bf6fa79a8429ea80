package session

import (
	"fmt"

	"cudalab/native/device"
	"cudalab/native/sim"
)

// OpenDevice opens "gpu", "sim", or "auto" (the same as ""): the GPU if there is one to open, else the simulator. A
// GPU that cannot be opened is an error only where "gpu" was asked for; it is a *driver.Unavailable, which says
// what is missing.
func OpenDevice(kind string) (device.Device, error) {
	switch kind {
	case "sim":
		return sim.New(sim.Options{}), nil
	case "gpu", "auto", "":
		d, err := openGPU()
		if err == nil {
			return d, nil
		}
		if kind == "gpu" {
			return nil, err
		}
		return sim.New(sim.Options{}), nil
	}
	return nil, fmt.Errorf("there is no device %q: choose auto, gpu or sim", kind)
}
