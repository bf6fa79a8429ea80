package device

// MemHandle is a handle of physical memory that MemCreate has made. 0 is none.
type MemHandle uint64

// MemProp says what physical memory to make (cuda.h: CUmemAllocationProp, the part that there is a choice in here).
type MemProp struct {
	Type     int32 // CUmemAllocationType
	Location MemLocation
}

// MemLocation is a place where memory can be (cuda.h: CUmemLocation).
type MemLocation struct {
	Type int32 // CUmemLocationType
	ID   int32 // a device's ordinal where Type is MemLocationDevice
}

// The values that work, number for number as in cuda.h.
const (
	MemAllocationPinned int32 = 1 // CU_MEM_ALLOCATION_TYPE_PINNED
	MemLocationDevice   int32 = 1 // CU_MEM_LOCATION_TYPE_DEVICE
)

// MemGranularity says which granularity is asked for (cuda.h: CUmemAllocationGranularity_flags).
type MemGranularity int32

// The granularities: what sizes and addresses must be multiples of, and what makes them fastest.
const (
	MemGranularityMinimum     MemGranularity = 0
	MemGranularityRecommended MemGranularity = 1
)

// MemAccess is what a location may do with mapped memory (cuda.h: CUmemAccess_flags).
type MemAccess int32

// The kinds of access.
const (
	MemAccessNone      MemAccess = 0
	MemAccessRead      MemAccess = 1
	MemAccessReadWrite MemAccess = 3
)

// MemAccessDesc gives a location access (cuda.h: CUmemAccessDesc).
type MemAccessDesc struct {
	Location MemLocation
	Access   MemAccess
}

// VirtualMemory is the virtual memory management part of the driver API: addresses and the memory behind them are made
// apart. All flags arguments that the manual says must be 0 are passed on, so that others are refused as the driver
// does.
type VirtualMemory interface {
	MemGetAllocationGranularity(prop MemProp, option MemGranularity) (uint64, Code)
	// MemAddressReserve takes size bytes of address space, near addr if that is free; an alignment of 0 is the default.
	MemAddressReserve(size, alignment uint64, addr Ptr, flags uint64) (Ptr, Code)
	MemAddressFree(p Ptr, size uint64) Code
	MemCreate(size uint64, prop MemProp, flags uint64) (MemHandle, Code)
	MemRelease(h MemHandle) Code
	MemMap(p Ptr, size, offset uint64, h MemHandle, flags uint64) Code
	MemUnmap(p Ptr, size uint64) Code
	MemSetAccess(p Ptr, size uint64, desc []MemAccessDesc) Code
}
