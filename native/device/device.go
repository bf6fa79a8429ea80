// Package device is the boundary between native/cuda and whatever answers its calls: the NVIDIA driver
// (native/driver) or the simulated device (native/sim). Both give the driver API's answers, code for code;
// grader/proof/conformance holds them to it.
//
// A Device is one GPU with its primary context. Its methods are safe for use from any goroutine. They take and
// return raw handles and addresses; identities, traces, faults and quotas are the business of the layers above.
package device

// Ptr is an address in device memory. 0 is the null pointer.
type Ptr uint64

// Stream is a stream's handle. 0 is the legacy default stream.
type Stream uint64

// Event is an event's handle. 0 is the null event.
type Event uint64

// Pool is a memory pool's handle. 0 is the null pool.
type Pool uint64

// Host is the address of a pinned host allocation, as the driver returned it. 0 is null.
type Host uint64

// Kind says what answers the calls.
type Kind string

// The two kinds of device.
const (
	GPU Kind = "gpu"
	Sim Kind = "sim"
)

// Info describes a device.
type Info struct {
	Kind              Kind
	Name              string // "NVIDIA H200", "simulated NVIDIA H200"
	Driver            string // the driver's CUDA version, "13.0"; "" on the simulator
	TotalMemory       uint64 // bytes
	Multiprocessors   int
	ComputeCapability [2]int
	MemoryPools       bool // CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED
	VirtualMemory     bool // CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
	MaxThreads        int  // per block

	// What one multiprocessor holds at a time.
	ThreadsPerMultiprocessor int
	BlocksPerMultiprocessor  int
}

// Flags of StreamCreate, EventCreate (cuda.h: CU_STREAM_NON_BLOCKING, CU_EVENT_BLOCKING_SYNC and so on).
const (
	StreamNonBlocking  uint32 = 1
	EventBlockingSync  uint32 = 1
	EventDisableTiming uint32 = 2
	EventInterprocess  uint32 = 4 // only together with EventDisableTiming
)

// PoolAttr names an attribute of a memory pool (cuda.h: CUmemPool_attribute, number for number).
type PoolAttr int32

// The attributes of a memory pool.
const (
	PoolReuseFollowEventDependencies   PoolAttr = 1
	PoolReuseAllowOpportunistic        PoolAttr = 2
	PoolReuseAllowInternalDependencies PoolAttr = 3
	PoolReleaseThreshold               PoolAttr = 4
	PoolReservedMemCurrent             PoolAttr = 5
	PoolReservedMemHigh                PoolAttr = 6
	PoolUsedMemCurrent                 PoolAttr = 7
	PoolUsedMemHigh                    PoolAttr = 8
)

// Device answers the calls of the driver API. A method is named after its driver call without the "cu" prefix and
// without the version suffix; the manual's word on arguments and answers holds unless a comment says otherwise.
// Sizes and counts are bytes.
type Device interface {
	Info() Info
	// Now is the host's clock in nanoseconds from an arbitrary start: the monotonic clock for a GPU, the
	// virtual host clock for the simulator (reading it does not advance it).
	Now() int64
	// Close gives back what the device holds. No other method may be called afterwards.
	Close() error

	MemGetInfo() (free, total uint64, code Code)
	CtxSynchronize() Code

	StreamCreate(flags uint32) (Stream, Code)
	StreamDestroy(s Stream) Code
	StreamSynchronize(s Stream) Code
	StreamQuery(s Stream) Code
	StreamWaitEvent(s Stream, e Event) Code

	EventCreate(flags uint32) (Event, Code)
	EventDestroy(e Event) Code
	EventRecord(e Event, s Stream) Code
	EventSynchronize(e Event) Code
	EventQuery(e Event) Code
	EventElapsedTime(start, end Event) (milliseconds float32, code Code)

	MemAlloc(size uint64) (Ptr, Code)
	MemFree(p Ptr) Code
	MemAllocAsync(size uint64, s Stream) (Ptr, Code)
	MemFreeAsync(p Ptr, s Stream) Code

	MemAllocHost(size uint64) (Host, Code)
	MemFreeHost(h Host) Code
	// HostRead and HostWrite are the host's plain loads and stores on pinned memory: they wait for nothing and
	// see whatever is there at this moment. The caller has checked the bounds.
	HostRead(h Host, offset uint64, dst []byte)
	HostWrite(h Host, offset uint64, src []byte)

	// Copies between pageable host memory (a Go slice) and the device. The asynchronous forms on pageable memory
	// return once the slice is no longer needed.
	MemcpyHtoD(dst Ptr, src []byte) Code
	MemcpyDtoH(dst []byte, src Ptr) Code
	MemcpyHtoDAsync(dst Ptr, src []byte, s Stream) Code
	MemcpyDtoHAsync(dst []byte, src Ptr, s Stream) Code
	// The same with pinned host memory.
	MemcpyHostToD(dst Ptr, src Host, offset, size uint64) Code
	MemcpyDToHost(dst Host, offset uint64, src Ptr, size uint64) Code
	MemcpyHostToDAsync(dst Ptr, src Host, offset, size uint64, s Stream) Code
	MemcpyDToHostAsync(dst Host, offset uint64, src Ptr, size uint64, s Stream) Code
	MemcpyDtoD(dst, src Ptr, size uint64) Code
	MemcpyDtoDAsync(dst, src Ptr, size uint64, s Stream) Code

	MemsetD8(p Ptr, value byte, size uint64) Code
	MemsetD8Async(p Ptr, value byte, size uint64, s Stream) Code

	LaunchKernel(l *Launch) Code

	// Memory pools.
	DeviceGetDefaultMemPool() (Pool, Code)
	// DeviceGetMemPool and DeviceSetMemPool are of the device's current pool: the one that MemAllocAsync takes from.
	DeviceGetMemPool() (Pool, Code)
	DeviceSetMemPool(p Pool) Code
	// MemPoolCreate makes a pool of the device's memory, of pinned type and without handles for other processes.
	MemPoolCreate() (Pool, Code)
	MemPoolDestroy(p Pool) Code
	MemPoolTrimTo(p Pool, keep uint64) Code
	MemAllocFromPoolAsync(size uint64, p Pool, s Stream) (Ptr, Code)
	MemPoolGetAttribute(p Pool, attr PoolAttr) (uint64, Code)
	MemPoolSetAttribute(p Pool, attr PoolAttr, value uint64) Code

	VirtualMemory
}
