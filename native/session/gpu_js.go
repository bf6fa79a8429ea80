package session

import (
	"errors"

	"cudalab/native/device"
)

func openGPU() (device.Device, error) {
	return nil, errors.New("a browser reaches no GPU with CUDA. Use the simulated device: --device sim")
}
