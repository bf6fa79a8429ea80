// Package trace is the record of everything a program asked of CUDA: one record per call, with the stream, event and
// allocation it named, the bytes it touches, the device's answer and the caller's source position. native/session
// writes it, grader/order reasons over it, and its binary form travels from the runner to cudalab.
//
// Streams, events, pools and allocations are named by identities counted up from 1 within a trace, never by handle
// or address: the driver reuses those.
package trace

// ID is an identity within one trace. Stream 0 is the legacy default stream and pool 0 the device's default pool; in
// every other field 0 means "none".
type ID uint32

// Op is the call that a record is of.
type Op uint8

// The calls. Their String is the name in package cuda: OpMallocAsync is "MallocAsync".
const (
	OpNone Op = iota
	OpStreamCreate
	OpStreamDestroy
	OpStreamSynchronize
	OpStreamQuery
	OpStreamWaitEvent
	OpEventCreate
	OpEventDestroy
	OpEventRecord
	OpEventSynchronize
	OpEventQuery
	OpEventElapsedTime
	OpDeviceSynchronize
	OpMalloc
	OpFree
	OpMallocAsync
	OpFreeAsync
	OpMallocHost
	OpFreeHost
	OpHostRead  // HostBuffer.Read: the host reads pinned memory
	OpHostWrite // HostBuffer.Write
	OpMemcpyHtoD
	OpMemcpyDtoH
	OpMemcpyDtoD
	OpMemcpyHtoDAsync
	OpMemcpyDtoHAsync
	OpMemcpyDtoDAsync
	OpMemset
	OpMemsetAsync
	OpLaunch // Record.Kernel says which
	OpMemGetInfo
	OpDeviceInfo // GetDevice, GetDeviceCount, GetDeviceProperties, SetDevice
	OpMemPoolCreate
	OpMemPoolDestroy
	OpMemPoolTrimTo
	OpMemPoolGetAttribute
	OpMemPoolSetAttribute
	OpDeviceGetDefaultMemPool
	OpDeviceGetMemPool
	OpDeviceSetMemPool
	OpMallocFromPoolAsync
	OpMemGetAllocationGranularity
	OpMemAddressReserve
	OpMemAddressFree
	OpMemCreate
	OpMemRelease
	OpMemMap
	OpMemUnmap
	OpMemSetAccess
	OpBlockAlloc // not a call of CUDA's: an allocator under test has handed out a block, a part of memory of its own
	OpBlockFree  // and has taken it back
	OpMark       // not a call: the grader's own note, in Record.Label
	opCount
)

var opNames = [opCount]string{
	OpNone: "none", OpStreamCreate: "StreamCreate", OpStreamDestroy: "StreamDestroy",
	OpStreamSynchronize: "StreamSynchronize", OpStreamQuery: "StreamQuery", OpStreamWaitEvent: "StreamWaitEvent",
	OpEventCreate: "EventCreate", OpEventDestroy: "EventDestroy", OpEventRecord: "EventRecord",
	OpEventSynchronize: "EventSynchronize", OpEventQuery: "EventQuery", OpEventElapsedTime: "EventElapsedTime",
	OpDeviceSynchronize: "DeviceSynchronize", OpMalloc: "Malloc", OpFree: "Free", OpMallocAsync: "MallocAsync",
	OpFreeAsync: "FreeAsync", OpMallocHost: "MallocHost", OpFreeHost: "FreeHost", OpHostRead: "HostBuffer.Read",
	OpHostWrite: "HostBuffer.Write", OpMemcpyHtoD: "MemcpyHtoD", OpMemcpyDtoH: "MemcpyDtoH",
	OpMemcpyDtoD: "MemcpyDtoD", OpMemcpyHtoDAsync: "MemcpyHtoDAsync", OpMemcpyDtoHAsync: "MemcpyDtoHAsync",
	OpMemcpyDtoDAsync: "MemcpyDtoDAsync", OpMemset: "Memset", OpMemsetAsync: "MemsetAsync", OpLaunch: "launch",
	OpMemGetInfo: "MemGetInfo", OpDeviceInfo: "device query", OpMemPoolCreate: "MemPoolCreate",
	OpMemPoolDestroy: "MemPoolDestroy", OpMemPoolTrimTo: "MemPoolTrimTo",
	OpMemPoolGetAttribute: "MemPoolGetAttribute", OpMemPoolSetAttribute: "MemPoolSetAttribute",
	OpDeviceGetDefaultMemPool: "DeviceGetDefaultMemPool", OpDeviceGetMemPool: "DeviceGetMemPool",
	OpDeviceSetMemPool: "DeviceSetMemPool", OpMallocFromPoolAsync: "MallocFromPoolAsync",
	OpMemGetAllocationGranularity: "MemGetAllocationGranularity", OpMemAddressReserve: "MemAddressReserve",
	OpMemAddressFree: "MemAddressFree", OpMemCreate: "MemCreate", OpMemRelease: "MemRelease", OpMemMap: "MemMap",
	OpMemUnmap: "MemUnmap", OpMemSetAccess: "MemSetAccess", OpBlockAlloc: "Alloc", OpBlockFree: "Free", OpMark: "mark",
}

func (o Op) String() string {
	if o < opCount {
		return opNames[o]
	}
	return "unknown call"
}

// InStream reports whether a call has something done in a stream, at some time after it. Synchronous copies and memsets
// belong to the legacy default stream.
func (o Op) InStream() bool {
	switch o {
	case OpMallocAsync, OpMallocFromPoolAsync, OpFreeAsync, OpMemcpyHtoD, OpMemcpyDtoH, OpMemcpyDtoD, OpMemcpyHtoDAsync,
		OpMemcpyDtoHAsync, OpMemcpyDtoDAsync, OpMemset, OpMemsetAsync, OpLaunch:
		return true
	}
	return false
}

// Synchronises reports whether all that a call does is to wait.
func (o Op) Synchronises() bool {
	return o == OpStreamSynchronize || o == OpEventSynchronize || o == OpDeviceSynchronize
}

// Phase tells a call that may wait, recorded once when entered and once when it returned, from all others.
type Phase uint8

// Call is a whole call. Enter and Leave are the two halves of a call that may block; its answer is in Leave.
const (
	Call Phase = iota
	Enter
	Leave
)

// AccessKind says what is done to a range of bytes; the values are device.AccessKind's.
type AccessKind uint8

// Read, Write, Atomic: see device.AccessKind.
const (
	Read AccessKind = iota + 1
	Write
	Atomic
)

// Access is a range of one allocation, device or pinned host, that an operation touches.
type Access struct {
	Alloc  ID    // 0: the address belongs to no allocation this program ever made
	Freed  bool  // the allocation was already freed when the call was made
	Offset int64 // bytes from the allocation's start; may lie outside it
	Size   int64 // bytes
	Kind   AccessKind
	Arg    uint8 // which pointer argument of the call, counted from 0, for messages

	Addr uint64 // where the access begins, of memory that MemCreate has made: it may be mapped to several addresses
}

// InStream is the flag of an OpBlockAlloc or OpBlockFree that holds for the work that is in the record's stream next,
// as a MallocAsync or FreeAsync does there, and not for all that the host does next.
const InStream = 1

// HostMemory says what kind of host memory a copy uses.
type HostMemory uint8

// NoHost for operations without a host side; Pageable for a Go slice; Pinned for a HostBuffer.
const (
	NoHost HostMemory = iota
	Pageable
	Pinned
)

// Record is one call. Fields that a call has no use for are zero.
type Record struct {
	Op     Op
	Phase  Phase
	Host   HostMemory
	Code   int32  // the answer, a device.Code; on Enter 0
	Site   uint32 // index into Trace.Sites
	Pair   int32  // on Leave: the index of its Enter
	Stream ID     // the stream the work goes to, is waited for, made or destroyed
	Event  ID     // the event named; for EventElapsedTime the start
	Event2 ID     // for EventElapsedTime the end
	Pool   ID     // the pool named or made; of MallocAsync and DeviceGetMemPool the current one. The null pool is 0 too
	Attr   int32  // of MemPoolGetAttribute and MemPoolSetAttribute, a device.PoolAttr
	// the attribute's value, set or read; of MemPoolTrimTo the bytes to keep; of MallocAsync and MallocFromPoolAsync by
	// how many bytes the pool's reserved memory rose, the default pool's excepted; of MemMap the offset, of
	// MemAddressReserve the alignment, of EventElapsedTime the math.Float32bits of the milliseconds, of a launch the
	// nanoseconds that the kernel takes on every device
	Value uint64
	// the allocation made or freed; on a free that names nothing known, 0; of MemCreate, MemRelease and MemMap the
	// physical memory
	Alloc ID
	Freed bool   // on a free: the allocation was already freed when the call was made
	Addr  uint64 // the address or pointer argument as given or returned
	Size  int64  // bytes asked for
	// of StreamCreate and EventCreate; of MemSetAccess a device.MemAccess; of a block's Alloc and Free InStream, or 0
	Flags  uint32
	Stale  bool   // a Stream, Event or MemPool value that had been destroyed was named
	Faked  bool   // the answer was injected; the device never saw the call, unless all that it does is to wait
	Time   int64  // nanoseconds of the device's host clock at the call
	Took   int64  // nanoseconds until it returned, on Call and Leave
	Start  int64  // when the device began and ended the work that the call enqueued, in nanoseconds on the clock of Time;
	End    int64  // both 0 where that was not measured
	Kernel string // OpLaunch: the entry point's name in the PTX, "process"
	Label  string // of OpMark the note; of StreamCreate what the grader calls the stream, "streams[0]", if anything

	Accesses []Access
	Given    *Given // nil where it was not recorded
}

// Given is what else a call was given: what it takes to carry it out again. It is recorded of launches, and of other
// calls where a
// session was told to.
type Given struct {
	Grid, Block [3]uint32 // of a launch
	Args        []uint64  // of a launch
	Data        []byte    // of a memset its value; of a copy from pageable memory and of HostBuffer.Write what is copied
}

// Frame is one place in a call stack.
type Frame struct {
	Func string // full name, "cudalab/exercises/slab.(*Allocator).Alloc"
	File string
	Line int // 0: the function as a whole
}

// Site is a call stack, innermost first: where a call came from.
type Site []Frame

// Trace is one program's records in the order in which the calls were made. Sites[0] is always empty: "unknown".
type Trace struct {
	Sites   []Site
	Records []Record
}

// SiteOf is the call stack that r came from.
func (t *Trace) SiteOf(r *Record) Site {
	if int(r.Site) < len(t.Sites) {
		return t.Sites[r.Site]
	}
	return nil
}
