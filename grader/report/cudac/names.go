package cudac

import (
	"regexp"
	"strings"
)

// calls are the functions of package cuda as CUDA spells them: $1 is the first of Go's arguments. The runtime API has
// the name where both have the call. Signatures are from NVIDIA's CUDA Runtime API and CUDA Driver API reference
// manuals, version 13.0.
var calls = map[string]string{
	"DeviceGetDefaultMemPool": "cudaDeviceGetDefaultMemPool(&pool, $1)",
	"DeviceGetMemPool":        "cudaDeviceGetMemPool(&pool, $1)",
	"DeviceSetMemPool":        "cudaDeviceSetMemPool($1, $2)",
	"DeviceSynchronize":       "cudaDeviceSynchronize()",
	"GetDevice":               "cudaGetDevice(&device)",
	"GetDeviceCount":          "cudaGetDeviceCount(&count)",
	"GetDeviceProperties":     "cudaGetDeviceProperties(&prop, $1)",
	"GetLastError":            "cudaGetLastError()",
	"SetDevice":               "cudaSetDevice($1)",

	"EventCreate":          "cudaEventCreate(&event)",
	"EventCreateWithFlags": "cudaEventCreateWithFlags(&event, $1)",
	"EventDestroy":         "cudaEventDestroy($1)",
	"EventElapsedTime":     "cudaEventElapsedTime(&milliseconds, $1, $2)",
	"EventQuery":           "cudaEventQuery($1)",
	"EventRecord":          "cudaEventRecord($1, $2)",
	"EventSynchronize":     "cudaEventSynchronize($1)",

	"StreamCreate":          "cudaStreamCreate(&stream)",
	"StreamCreateWithFlags": "cudaStreamCreateWithFlags(&stream, $1)",
	"StreamDestroy":         "cudaStreamDestroy($1)",
	"StreamQuery":           "cudaStreamQuery($1)",
	"StreamSynchronize":     "cudaStreamSynchronize($1)",
	"StreamWaitEvent":       "cudaStreamWaitEvent($1, $2, 0)",

	"Free":                "cudaFree($1)",
	"FreeAsync":           "cudaFreeAsync($1, $2)",
	"FreeHost":            "cudaFreeHost($1)",
	"Malloc":              "cudaMalloc(&p, $1)",
	"MallocAsync":         "cudaMallocAsync(&p, $1, $2)",
	"MallocFromPoolAsync": "cudaMallocFromPoolAsync(&p, $1, $2, $3)",
	"MallocHost":          "cudaMallocHost(&p, $1)",
	"MemGetInfo":          "cudaMemGetInfo(&free, &total)",

	"MemcpyDtoD":      "cudaMemcpy($1, $2, $3, cudaMemcpyDeviceToDevice)",
	"MemcpyDtoDAsync": "cudaMemcpyAsync($1, $2, $3, cudaMemcpyDeviceToDevice, $4)",
	"MemcpyDtoH":      "cudaMemcpy($1, $2, $3, cudaMemcpyDeviceToHost)",
	"MemcpyDtoHAsync": "cudaMemcpyAsync($1, $2, $3, cudaMemcpyDeviceToHost, $4)",
	"MemcpyHtoD":      "cudaMemcpy($1, $2, $3, cudaMemcpyHostToDevice)",
	"MemcpyHtoDAsync": "cudaMemcpyAsync($1, $2, $3, cudaMemcpyHostToDevice, $4)",
	"Memset":          "cudaMemset($1, $2, $3)",
	"MemsetAsync":     "cudaMemsetAsync($1, $2, $3, $4)",

	"MemPoolCreate":       "cudaMemPoolCreate(&pool, &$1)",
	"MemPoolDestroy":      "cudaMemPoolDestroy($1)",
	"MemPoolGetAttribute": "cudaMemPoolGetAttribute($1, $2, &value)",
	"MemPoolSetAttribute": "cudaMemPoolSetAttribute($1, $2, &value)",
	"MemPoolTrimTo":       "cudaMemPoolTrimTo($1, $2)",

	"MemAddressFree":              "cuMemAddressFree($1, $2)",
	"MemAddressReserve":           "cuMemAddressReserve(&ptr, $1, $2, $3, $4)",
	"MemCreate":                   "cuMemCreate(&handle, $1, &$2, $3)",
	"MemGetAllocationGranularity": "cuMemGetAllocationGranularity(&granularity, &$1, $2)",
	"MemMap":                      "cuMemMap($1, $2, $3, $4, $5)",
	"MemRelease":                  "cuMemRelease($1)",
	"MemSetAccess":                "cuMemSetAccess($1, $2, &$3, 1)",
	"MemUnmap":                    "cuMemUnmap($1, $2)",

	"LaunchKernel": "cudaLaunchKernel($1, $2, $3, args, 0, $4)",
}

// types are those of package cuda.
var types = map[string]string{
	"DevicePtr":                     "device pointer",
	"DeviceProp":                    "cudaDeviceProp",
	"Dim3":                          "dim3",
	"Error":                         "cudaError_t",
	"Event":                         "cudaEvent_t",
	"HostBuffer":                    "pinned buffer",
	"HostMemory":                    "host pointer",
	"MemAccessDesc":                 "CUmemAccessDesc",
	"MemAccessFlags":                "CUmemAccess_flags",
	"MemAllocationGranularityFlags": "CUmemAllocationGranularity_flags",
	"MemAllocationType":             "CUmemAllocationType",
	"MemLocationType":               "CUmemLocationType",
	"MemPoolAttr":                   "cudaMemPoolAttr",
	"MemAllocationProp":             "CUmemAllocationProp",
	"MemGenericAllocationHandle":    "CUmemGenericAllocationHandle",
	"MemLocation":                   "CUmemLocation",
	"MemPool":                       "cudaMemPool_t",
	"MemPoolProps":                  "cudaMemPoolProps",
	"Pageable":                      "pageable memory",
	"Stream":                        "cudaStream_t",
}

// driverConstants begin the names of constants that only the driver API has.
var driverConstants = map[string]string{
	"MemAccessFlags":      "CU_MEM_ACCESS_FLAGS_",
	"MemAllocGranularity": "CU_MEM_ALLOC_GRANULARITY_",
	"MemAllocationType":   "CU_MEM_ALLOCATION_TYPE_",
	"MemLocationType":     "CU_MEM_LOCATION_TYPE_",
}

var hump = regexp.MustCompile(`([a-z])([A-Z])`)

// constant is a constant's name in CUDA.
func constant(is string) string {
	for prefix, driver := range driverConstants {
		if rest, ok := strings.CutPrefix(is, prefix); ok {
			rest = strings.ToUpper(hump.ReplaceAllString(rest, "${1}_$2"))
			if prefix == "MemAccessFlags" {
				rest = strings.Replace(rest, "READ_WRITE", "READWRITE", 1)
			}
			return driver + rest
		}
	}
	return "cuda" + is
}
