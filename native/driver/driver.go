// Package driver answers the calls of package device with an NVIDIA GPU. It opens the driver's own library
// (libcuda.so.1, nvcuda.dll) at run time: a program that imports it builds and starts on a machine without a GPU, and
// needs neither the CUDA toolkit nor cgo.
//
// Calls may come from any goroutine, and so from any operating-system thread. A call that the driver refuses because
// its thread has no context yet is repeated with the device's primary context set.
package driver

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"time"
	"unsafe"

	"cudalab/native/device"
)

// settings are environment variables that the driver reads once, when it is initialised.
var settings = map[string]string{
	// Loads all kernels of a module with it. The default, LAZY, loads each at its first launch, which may synchronise
	// the device in the middle of a measurement.
	"CUDA_MODULE_LOADING": "EAGER",
	// The number of hardware queues that streams are spread over. With the default, 8, independent streams that share a
	// queue may wait for each other.
	"CUDA_DEVICE_MAX_CONNECTIONS": "32",
}

// applySettings sets the variables that the user has not set. os.Setenv reaches the C library's environment, where the
// driver looks: like cgo, purego has the runtime call setenv(3) as well.
func applySettings() error {
	for name, value := range settings {
		if _, set := os.LookupEnv(name); set {
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			return &Unavailable{Reason: reasonOther, Do: useSimulator,
				What: fmt.Sprintf("The setting %s=%s could not be put into the environment: %v.", name, value, err)}
		}
	}
	return nil
}

// Device is one GPU with its primary context. It is safe for use from any goroutine.
type Device struct {
	lib     symbols
	ordinal int32   // CUdevice
	context uintptr // CUcontext
	info    device.Info
	start   time.Time

	functions sync.Map // *device.Kernel to CUfunction (uintptr)
	retired   retired

	loading sync.Mutex         // held while a module is loaded; guards what follows
	modules map[string]uintptr // PTX text to CUmodule
	ptxLog  string
}

var _ device.Device = (*Device)(nil)

// Open opens the first GPU that CUDA_VISIBLE_DEVICES admits and retains its primary context; the first time in a
// process this takes some 200 ms. Every error is an *Unavailable. The caller closes the device.
func Open() (*Device, error) {
	if err := applySettings(); err != nil {
		return nil, err
	}
	lookup, err := openLibrary()
	if err != nil {
		return nil, err
	}
	d := &Device{start: time.Now(), modules: make(map[string]uintptr)}
	missing := d.lib.resolve(lookup)
	version := d.version()
	if version < leastVersion || len(missing) > 0 {
		return nil, oldDriver(version, missing)
	}
	if call, code := d.retain(); code != device.Success {
		return nil, unavailable(call, code)
	}
	d.info = device.Info{Kind: device.GPU, Driver: versionName(version)}
	if call, code := d.describe(); code != device.Success {
		d.call(d.lib.devicePrimaryCtxRelease, uintptr(d.ordinal))
		return nil, unavailable(call, code)
	}
	return d, nil
}

// version is the CUDA version that the driver supports, 1000 times the major plus 10 times the minor; 0 if it cannot
// tell.
func (d *Device) version() int32 {
	var version int32
	if d.lib.driverGetVersion == 0 ||
		d.call(d.lib.driverGetVersion, uintptr(unsafe.Pointer(&version))) != device.Success {
		return 0
	}
	return version
}

// retain initialises the driver, chooses the device and retains its primary context. Of a call that fails it returns
// the name and the answer.
func (d *Device) retain() (call string, code device.Code) {
	if code = d.call(d.lib.init, 0); code != device.Success {
		return "cuInit", code
	}
	var count int32
	code = d.call(d.lib.deviceGetCount, uintptr(unsafe.Pointer(&count)))
	if code == device.Success && count == 0 {
		code = device.ErrorNoDevice
	}
	if code != device.Success {
		return "cuDeviceGetCount", code
	}
	if code = d.call(d.lib.deviceGet, uintptr(unsafe.Pointer(&d.ordinal)), 0); code != device.Success {
		return "cuDeviceGet", code
	}
	code = d.call(d.lib.devicePrimaryCtxRetain, uintptr(unsafe.Pointer(&d.context)), uintptr(d.ordinal))
	return "cuDevicePrimaryCtxRetain", code
}

// Device attributes (cuda.h: CUdevice_attribute).
const (
	attributeMaxThreadsPerBlock       = 1
	attributeMultiprocessorCount      = 16
	attributeThreadsPerMultiprocessor = 39 // MAX_THREADS_PER_MULTIPROCESSOR
	attributeComputeCapabilityMajor   = 75
	attributeComputeCapabilityMinor   = 76
	attributeVirtualMemory            = 102 // VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
	attributeBlocksPerMultiprocessor  = 106 // MAX_BLOCKS_PER_MULTIPROCESSOR
	attributeMemoryPools              = 115 // MEMORY_POOLS_SUPPORTED
)

// describe fills in the device's description. Of a call that fails it returns the name and the answer.
func (d *Device) describe() (call string, code device.Code) {
	var name [256]byte
	code = d.call(d.lib.deviceGetName, uintptr(unsafe.Pointer(&name)), uintptr(len(name)), uintptr(d.ordinal))
	if code != device.Success {
		return "cuDeviceGetName", code
	}
	text, _, _ := bytes.Cut(name[:], []byte{0})
	d.info.Name = string(text)

	code = d.call(d.lib.deviceTotalMem, uintptr(unsafe.Pointer(&d.info.TotalMemory)), uintptr(d.ordinal))
	if code != device.Success {
		return "cuDeviceTotalMem", code
	}

	var threads, processors, major, minor, virtual, pools, resident, blocks int32
	for _, attribute := range []struct {
		number uintptr
		value  *int32
	}{
		{attributeMaxThreadsPerBlock, &threads},
		{attributeMultiprocessorCount, &processors},
		{attributeComputeCapabilityMajor, &major},
		{attributeComputeCapabilityMinor, &minor},
		{attributeVirtualMemory, &virtual},
		{attributeMemoryPools, &pools},
		{attributeThreadsPerMultiprocessor, &resident},
		{attributeBlocksPerMultiprocessor, &blocks},
	} {
		code = d.call(d.lib.deviceGetAttribute,
			uintptr(unsafe.Pointer(attribute.value)), attribute.number, uintptr(d.ordinal))
		if code != device.Success {
			return "cuDeviceGetAttribute", code
		}
	}
	d.info.MaxThreads = int(threads)
	d.info.Multiprocessors = int(processors)
	d.info.ComputeCapability = [2]int{int(major), int(minor)}
	d.info.VirtualMemory = virtual != 0
	d.info.MemoryPools = pools != 0
	d.info.ThreadsPerMultiprocessor = int(resident)
	d.info.BlocksPerMultiprocessor = int(blocks)
	return "", device.Success
}

// Info describes the GPU.
func (d *Device) Info() device.Info { return d.info }

// Now is the monotonic clock in nanoseconds since the device was opened.
func (d *Device) Now() int64 { return int64(time.Since(d.start)) }

// Close unloads the kernels and releases the primary context, with all memory, streams and events if nobody else in
// this process retains it. The library stays loaded: the driver's own threads run in it.
func (d *Device) Close() error {
	for _, module := range d.modules {
		d.call(d.lib.moduleUnload, module)
	}
	if code := d.call(d.lib.devicePrimaryCtxRelease, uintptr(d.ordinal)); code != device.Success {
		return fmt.Errorf("cuDevicePrimaryCtxRelease: %w", code)
	}
	return nil
}
