package cuda

import (
	"fmt"
	"math"

	"cudalab/native/device"
	"cudalab/native/session"
)

const (
	callMemGetAllocationGranularity = "cuMemGetAllocationGranularity"
	callMemAddressReserve           = "cuMemAddressReserve"
	callMemAddressFree              = "cuMemAddressFree"
	callMemCreate                   = "cuMemCreate"
	callMemRelease                  = "cuMemRelease"
	callMemMap                      = "cuMemMap"
	callMemUnmap                    = "cuMemUnmap"
	callMemSetAccess                = "cuMemSetAccess"
)

// MemGenericAllocationHandle is a handle of physical memory, which has no address until it is mapped. The zero value is
// the null handle, which no call accepts. Handles can be compared.
type MemGenericAllocationHandle struct{ h *session.MemHandle }

// MemAllocationProp says what physical memory to make: the part of CUmemAllocationProp that there is a choice in here.
// The memory is not compressed, and is not shared with other processes.
type MemAllocationProp struct {
	Type     MemAllocationType
	Location MemLocation
}

// MemAllocationType is a kind of physical memory.
type MemAllocationType int32

// MemAllocationTypePinned is memory that stays where it was made.
const MemAllocationTypePinned = MemAllocationType(device.MemAllocationPinned)

// MemLocation is a place where memory lies, or from which it is used.
type MemLocation struct {
	Type MemLocationType
	ID   int // the device's number; there is only 0
}

// MemLocationType is a kind of place.
type MemLocationType int32

// MemLocationTypeDevice is a device, whose number is MemLocation.ID.
const MemLocationTypeDevice = MemLocationType(device.MemLocationDevice)

// MemAllocationGranularityFlags says which granularity is asked for.
type MemAllocationGranularityFlags = device.MemGranularity

// The granularities, which may be the same.
const (
	MemAllocGranularityMinimum     = device.MemGranularityMinimum     // what works
	MemAllocGranularityRecommended = device.MemGranularityRecommended // what is fastest
)

// MemAccessFlags says what may be done with mapped memory.
type MemAccessFlags = device.MemAccess

// The kinds of access. A new mapping has none.
const (
	MemAccessFlagsProtNone      = device.MemAccessNone
	MemAccessFlagsProtRead      = device.MemAccessRead
	MemAccessFlagsProtReadWrite = device.MemAccessReadWrite
)

// MemAccessDesc gives a location access.
type MemAccessDesc struct {
	Location MemLocation
	Flags    MemAccessFlags
}

func (l MemLocation) native() device.MemLocation {
	id := int32(-1) // what does not fit is no device either
	if l.ID >= 0 && l.ID <= math.MaxInt32 {
		id = int32(l.ID)
	}
	return device.MemLocation{Type: int32(l.Type), ID: id}
}

func (p MemAllocationProp) native() device.MemProp {
	return device.MemProp{Type: int32(p.Type), Location: p.Location.native()}
}

const (
	onlyProp    = "memory is of type MemAllocationTypePinned, and lies at a location of type MemLocationTypeDevice"
	badMultiple = "the size is %d bytes, which is no multiple of the granularity that MemGetAllocationGranularity answers"
)

// MemGetAllocationGranularity is the granularity of physical memory with these properties, in bytes: sizes of
// reservations and of memory, and addresses to map at, are multiples of it. It differs between devices. A device that
// does not exist is ErrorInvalidDevice.
func MemGetAllocationGranularity(prop MemAllocationProp, option MemAllocationGranularityFlags) (int64, error) {
	size, code := session.Current().MemGetAllocationGranularity(prop.native(), option)
	return size, refused(callMemGetAllocationGranularity, code, onlyProp+"; the granularities are "+
		"MemAllocGranularityMinimum and MemAllocGranularityRecommended")
}

// MemAddressReserve takes size bytes of address space, which cost no memory and cannot be used until something is
// mapped there. An alignment of 0 is the default, any other a power of two. addr is where the range should begin; CUDA
// takes it for a hint, and 0 for none. flags must be 0. The addresses stay taken until MemAddressFree.
func MemAddressReserve(size, alignment int64, addr DevicePtr, flags uint64) (DevicePtr, error) {
	p, code := session.Current().MemAddressReserve(size, alignment, device.Ptr(addr), flags)
	switch {
	case size <= 0:
		return DevicePtr(p), refused(callMemAddressReserve, code, badSize, size)
	case alignment < 0 || alignment&(alignment-1) != 0:
		return DevicePtr(p), refused(callMemAddressReserve, code, "the alignment is %d, which is no power of two; "+
			"0 is the default", alignment)
	case flags != 0:
		return DevicePtr(p), refused(callMemAddressReserve, code, noFlags)
	case addr != 0:
		return DevicePtr(p), refused(callMemAddressReserve, code, "the size is %d bytes and the address %#x; both must be "+
			"multiples of the granularity that MemGetAllocationGranularity answers", size, uint64(addr))
	}
	return DevicePtr(p), refused(callMemAddressReserve, code, badMultiple, size)
}

// MemAddressFree gives reserved addresses back: the whole range, with the address and the size of the reservation, and
// only when nothing is mapped in it.
func MemAddressFree(ptr DevicePtr, size int64) error {
	return refused(callMemAddressFree, session.Current().MemAddressFree(device.Ptr(ptr), size),
		"a range is given back once, as a whole, with the address and the size of its reservation, and with nothing "+
			"mapped in it; unmap first")
}

// MemCreate makes size bytes of physical memory; its contents are undefined. The handle is the caller's, to release
// with MemRelease. flags must be 0. A device that does not exist is ErrorInvalidDevice; ErrorMemoryAllocation means
// that the device has no room for so much more.
func MemCreate(size int64, prop MemAllocationProp, flags uint64) (MemGenericAllocationHandle, error) {
	h, code := session.Current().MemCreate(size, prop.native(), flags)
	handle := MemGenericAllocationHandle{h}
	switch {
	case size <= 0:
		return handle, refused(callMemCreate, code, badSize, size)
	case prop.Type != MemAllocationTypePinned || prop.Location.Type != MemLocationTypeDevice:
		return handle, refused(callMemCreate, code, onlyProp)
	case flags != 0:
		return handle, refused(callMemCreate, code, noFlags)
	}
	return handle, refused(callMemCreate, code, badMultiple, size)
}

// MemRelease gives a handle up, which may be done as soon as the memory is mapped. The memory goes back to the device
// when the handle is released and nothing maps it any more.
func MemRelease(handle MemGenericAllocationHandle) error {
	return handle.answer(callMemRelease, session.Current().MemRelease(handle.h), "the device does not know the handle")
}

// MemMap puts physical memory behind size bytes of reserved addresses, from ptr on, where nothing is mapped yet. A
// mapping is all of a handle's memory: offset is 0 and size the memory's, or the answer is ErrorNotSupported. flags
// must be 0. The memory can be used after MemSetAccess only.
func MemMap(ptr DevicePtr, size, offset int64, handle MemGenericAllocationHandle, flags uint64) error {
	code := session.Current().MemMap(device.Ptr(ptr), size, offset, handle.h, flags)
	switch {
	case code == device.ErrorNotSupported && handle.h != nil:
		return &Error{Call: callMemMap, Code: code,
			Hint: fmt.Sprintf("the size is %d bytes at offset %d, but CUDA maps only all "+
				"of a handle's memory, here %d bytes, at offset 0; make a handle for each part", size, offset, handle.h.Size())}
	case size <= 0:
		return handle.answer(callMemMap, code, "the size is %d bytes; a mapping is all of a handle's memory", size)
	case flags != 0:
		return handle.answer(callMemMap, code, noFlags)
	}
	return handle.answer(callMemMap, code, "all of the addresses must be reserved, with nothing mapped there yet, "+
		"and begin at a multiple of the granularity that MemGetAllocationGranularity answers")
}

// MemUnmap takes the memory behind addresses away: one whole mapping, or several. All use must be finished, so
// synchronise first: a kernel that still runs would lose its memory, and the manual's "synchronous behavior for most
// use cases" is no promise; on an H200 it returns while the device is busy. What was written stays in the memory, and
// is seen again where that is mapped next.
func MemUnmap(ptr DevicePtr, size int64) error {
	return refused(callMemUnmap, session.Current().MemUnmap(device.Ptr(ptr), size),
		"only whole mappings can be unmapped, one or several, from the address that MemMap was given on and in its size")
}

// MemSetAccess says what a device may do with the memory that is mapped behind addresses. It must be called after every
// MemMap, and may cover several mappings; desc takes the place of CUDA's array and its count.
func MemSetAccess(ptr DevicePtr, size int64, desc []MemAccessDesc) error {
	native := make([]device.MemAccessDesc, len(desc))
	for i, d := range desc {
		native[i] = device.MemAccessDesc{Location: d.Location.native(), Access: d.Flags}
	}
	code := session.Current().MemSetAccess(device.Ptr(ptr), size, native)
	reason := "all of the addresses must be mapped, with whole mappings; MemMap comes first"
	switch {
	case len(desc) == 0:
		reason = "there is no description; pass one MemAccessDesc for the device"
	case size <= 0:
		reason = fmt.Sprintf("the size is %d bytes; pass the size of the mappings", size)
	}
	for _, d := range desc {
		switch {
		case d.Location.Type != MemLocationTypeDevice:
			reason = "a description's location is no device; its type must be MemLocationTypeDevice"
		case d.Flags != MemAccessFlagsProtNone && d.Flags != MemAccessFlagsProtRead && d.Flags != MemAccessFlagsProtReadWrite:
			reason = "a description's flags are no kind of access; the names are MemAccessFlagsProt…"
		}
	}
	return refused(callMemSetAccess, code, "%s", reason)
}

// answer is the package's answer for a call that names the handle. An invalid value is the handle, if there is anything
// wrong with it, or else what reason says.
func (h MemGenericAllocationHandle) answer(call string, code device.Code, reason string, args ...any) error {
	switch {
	case h.h == nil:
		reason, args = "there is no physical memory; MemCreate makes some", nil
	case h.h.Released() && call != callMemRelease:
		reason, args = "the handle has been released; release it after the last MemMap that names it", nil
	case h.h.Released():
		reason = "the handle has been released before; release each handle once"
	}
	return refused(call, code, reason, args...)
}
