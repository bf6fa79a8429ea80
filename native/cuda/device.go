package cuda

import (
	"cudalab/native/session"
)

// DeviceProp are a device's properties, by CUDA's names.
type DeviceProp struct {
	Name                 string
	TotalGlobalMem       int64 // bytes
	MultiProcessorCount  int
	Major, Minor         int // compute capability
	MaxThreadsPerBlock   int
	MemoryPoolsSupported bool
}

// GetDeviceCount is the number of devices: 1, whichever device answers.
func GetDeviceCount() (int, error) {
	_, code := session.Current().DeviceInfo(0)
	if err := answer("cudaGetDeviceCount", code); err != nil {
		return 0, err
	}
	return 1, nil
}

// GetDevice is the number of the current device: 0.
func GetDevice() (int, error) {
	_, code := session.Current().DeviceInfo(0)
	return 0, answer("cudaGetDevice", code)
}

// SetDevice chooses the current device; there is only 0.
func SetDevice(device int) error {
	_, code := session.Current().DeviceInfo(device)
	return answer("cudaSetDevice", code)
}

// GetDeviceProperties describes a device.
func GetDeviceProperties(device int) (DeviceProp, error) {
	info, code := session.Current().DeviceInfo(device)
	if err := answer("cudaGetDeviceProperties", code); err != nil {
		return DeviceProp{}, err
	}
	return DeviceProp{
		Name:                 info.Name,
		TotalGlobalMem:       int64(info.TotalMemory),
		MultiProcessorCount:  info.Multiprocessors,
		Major:                info.ComputeCapability[0],
		Minor:                info.ComputeCapability[1],
		MaxThreadsPerBlock:   info.MaxThreads,
		MemoryPoolsSupported: info.MemoryPools,
	}, nil
}

// MemGetInfo is the device's free and total memory in bytes. What a memory pool holds in reserve is not free.
func MemGetInfo() (free, total int64, err error) {
	f, t, code := session.Current().MemGetInfo()
	return int64(f), int64(t), answer("cudaMemGetInfo", code)
}
