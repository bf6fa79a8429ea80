//go:build !js

package session

import (
	"cudalab/native/device"
	"cudalab/native/driver"
)

func openGPU() (device.Device, error) { return driver.Open() }
