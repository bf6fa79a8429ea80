package driver

import "strconv"

// leastVersion is the first CUDA version whose driver has the stream-ordered allocator, 11.2, as cuDriverGetVersion
// writes it.
const leastVersion = 11020

// versionName is a version from cuDriverGetVersion as people write it: 13000 is "13.0".
func versionName(version int32) string {
	return strconv.Itoa(int(version/1000)) + "." + strconv.Itoa(int(version%1000/10))
}

// symbols holds the addresses of the driver's functions, each field named after its call.
type symbols struct {
	init, driverGetVersion                                       uintptr
	deviceGet, deviceGetCount, deviceGetName, deviceGetAttribute uintptr
	deviceTotalMem, deviceGetDefaultMemPool                      uintptr
	devicePrimaryCtxRetain, devicePrimaryCtxRelease              uintptr
	ctxSetCurrent, ctxSynchronize                                uintptr
	streamCreate, streamDestroy, streamSynchronize, streamQuery  uintptr
	streamWaitEvent                                              uintptr
	eventCreate, eventDestroy, eventRecord, eventSynchronize     uintptr
	eventQuery, eventElapsedTime                                 uintptr
	memGetInfo, memAlloc, memFree, memAllocAsync, memFreeAsync   uintptr
	memHostAlloc, memFreeHost                                    uintptr
	memcpyHtoD, memcpyDtoH, memcpyDtoD                           uintptr
	memcpyHtoDAsync, memcpyDtoHAsync, memcpyDtoDAsync            uintptr
	memsetD8, memsetD8Async                                      uintptr
	memPoolGetAttribute, memPoolSetAttribute                     uintptr
	memPoolCreate, memPoolDestroy, memPoolTrimTo                 uintptr
	deviceGetMemPool, deviceSetMemPool, memAllocFromPoolAsync    uintptr
	memGetAllocationGranularity, memAddressReserve               uintptr
	memAddressFree, memCreate, memRelease                        uintptr
	memMap, memUnmap, memSetAccess                               uintptr
	moduleLoadDataEx, moduleGetFunction, moduleUnload            uintptr
	launchKernel                                                 uintptr
}

// exports pairs the library's export names with their fields. Where cuda.h maps a call to a _v2 name, that one is
// meant: the plain name is an older call with narrower types. Stream calls without suffix use the legacy default
// stream, those with _ptsz the per-thread one.
func (s *symbols) exports() map[string]*uintptr {
	return map[string]*uintptr{
		"cuInit":                        &s.init,
		"cuDriverGetVersion":            &s.driverGetVersion,
		"cuDeviceGet":                   &s.deviceGet,
		"cuDeviceGetCount":              &s.deviceGetCount,
		"cuDeviceGetName":               &s.deviceGetName,
		"cuDeviceGetAttribute":          &s.deviceGetAttribute,
		"cuDeviceTotalMem_v2":           &s.deviceTotalMem,
		"cuDeviceGetDefaultMemPool":     &s.deviceGetDefaultMemPool,
		"cuDevicePrimaryCtxRetain":      &s.devicePrimaryCtxRetain,
		"cuDevicePrimaryCtxRelease_v2":  &s.devicePrimaryCtxRelease,
		"cuCtxSetCurrent":               &s.ctxSetCurrent,
		"cuCtxSynchronize":              &s.ctxSynchronize,
		"cuStreamCreate":                &s.streamCreate,
		"cuStreamDestroy_v2":            &s.streamDestroy,
		"cuStreamSynchronize":           &s.streamSynchronize,
		"cuStreamQuery":                 &s.streamQuery,
		"cuStreamWaitEvent":             &s.streamWaitEvent,
		"cuEventCreate":                 &s.eventCreate,
		"cuEventDestroy_v2":             &s.eventDestroy,
		"cuEventRecord":                 &s.eventRecord,
		"cuEventSynchronize":            &s.eventSynchronize,
		"cuEventQuery":                  &s.eventQuery,
		"cuEventElapsedTime":            &s.eventElapsedTime,
		"cuMemGetInfo_v2":               &s.memGetInfo,
		"cuMemAlloc_v2":                 &s.memAlloc,
		"cuMemFree_v2":                  &s.memFree,
		"cuMemAllocAsync":               &s.memAllocAsync,
		"cuMemFreeAsync":                &s.memFreeAsync,
		"cuMemHostAlloc":                &s.memHostAlloc,
		"cuMemFreeHost":                 &s.memFreeHost,
		"cuMemcpyHtoD_v2":               &s.memcpyHtoD,
		"cuMemcpyDtoH_v2":               &s.memcpyDtoH,
		"cuMemcpyDtoD_v2":               &s.memcpyDtoD,
		"cuMemcpyHtoDAsync_v2":          &s.memcpyHtoDAsync,
		"cuMemcpyDtoHAsync_v2":          &s.memcpyDtoHAsync,
		"cuMemcpyDtoDAsync_v2":          &s.memcpyDtoDAsync,
		"cuMemsetD8_v2":                 &s.memsetD8,
		"cuMemsetD8Async":               &s.memsetD8Async,
		"cuMemPoolGetAttribute":         &s.memPoolGetAttribute,
		"cuMemPoolSetAttribute":         &s.memPoolSetAttribute,
		"cuMemPoolCreate":               &s.memPoolCreate,
		"cuMemPoolDestroy":              &s.memPoolDestroy,
		"cuMemPoolTrimTo":               &s.memPoolTrimTo,
		"cuDeviceGetMemPool":            &s.deviceGetMemPool,
		"cuDeviceSetMemPool":            &s.deviceSetMemPool,
		"cuMemAllocFromPoolAsync":       &s.memAllocFromPoolAsync,
		"cuMemGetAllocationGranularity": &s.memGetAllocationGranularity,
		"cuMemAddressReserve":           &s.memAddressReserve,
		"cuMemAddressFree":              &s.memAddressFree,
		"cuMemCreate":                   &s.memCreate,
		"cuMemRelease":                  &s.memRelease,
		"cuMemMap":                      &s.memMap,
		"cuMemUnmap":                    &s.memUnmap,
		"cuMemSetAccess":                &s.memSetAccess,
		"cuModuleLoadDataEx":            &s.moduleLoadDataEx,
		"cuModuleGetFunction":           &s.moduleGetFunction,
		"cuModuleUnload":                &s.moduleUnload,
		"cuLaunchKernel":                &s.launchKernel,
	}
}

// resolve looks up every symbol and returns the names of those that the library lacks. lookup answers 0 for an unknown
// name.
func (s *symbols) resolve(lookup func(name string) uintptr) (missing []string) {
	for name, address := range s.exports() {
		if *address = lookup(name); *address == 0 {
			missing = append(missing, name)
		}
	}
	// cuda.h maps cuEventElapsedTime to a second version since CUDA 12.8.
	if second := lookup("cuEventElapsedTime_v2"); second != 0 {
		s.eventElapsedTime = second
	}
	return missing
}
