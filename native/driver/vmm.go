package driver

import (
	"unsafe"

	"cudalab/native/device"
)

// memProp describes physical memory (cuda.h: CUmemAllocationProp).
type memProp struct {
	allocType    int32 // CUmemAllocationType
	handleTypes  int32 // CUmemAllocationHandleType; 0: none
	locationType int32 // CUmemLocationType
	locationID   int32
	security     uintptr // of Windows handles
	flags        [8]byte // compression, GPUDirect RDMA, usage: none
}

func newMemProp(p device.MemProp, ordinal int32) memProp {
	return memProp{allocType: p.Type, locationType: p.Location.Type, locationID: located(p.Location, ordinal)}
}

// located is a location's ordinal as the driver counts: device 0 of the interface is the one that this Device stands
// for.
func located(l device.MemLocation, ordinal int32) int32 {
	if l.Type == device.MemLocationDevice && l.ID == 0 {
		return ordinal
	}
	return l.ID
}

// accessDesc gives a location access (cuda.h: CUmemAccessDesc).
type accessDesc struct {
	locationType int32
	locationID   int32
	flags        int32
}

// MemGetAllocationGranularity is what sizes and addresses must be multiples of.
func (d *Device) MemGetAllocationGranularity(prop device.MemProp, option device.MemGranularity) (uint64, device.Code) {
	var size uint64
	p := newMemProp(prop, d.ordinal)
	code := d.call(d.lib.memGetAllocationGranularity, uintptr(unsafe.Pointer(&size)), uintptr(unsafe.Pointer(&p)),
		uintptr(option))
	return size, code
}

// MemAddressReserve takes a range of addresses.
func (d *Device) MemAddressReserve(size, alignment uint64, addr device.Ptr, flags uint64) (device.Ptr, device.Code) {
	var p device.Ptr
	code := d.call(d.lib.memAddressReserve, uintptr(unsafe.Pointer(&p)), uintptr(size), uintptr(alignment), uintptr(addr),
		uintptr(flags))
	return p, code
}

// MemAddressFree gives a range of addresses back, exactly as it was reserved.
func (d *Device) MemAddressFree(p device.Ptr, size uint64) device.Code {
	return d.callTwo(d.lib.memAddressFree, uintptr(p), uintptr(size))
}

// MemCreate makes physical memory.
func (d *Device) MemCreate(size uint64, prop device.MemProp, flags uint64) (device.MemHandle, device.Code) {
	var h device.MemHandle
	p := newMemProp(prop, d.ordinal)
	code := d.call(d.lib.memCreate, uintptr(unsafe.Pointer(&h)), uintptr(size), uintptr(unsafe.Pointer(&p)),
		uintptr(flags))
	return h, code
}

// MemRelease gives a handle up. The memory lives as long as it is mapped.
func (d *Device) MemRelease(h device.MemHandle) device.Code {
	return d.call(d.lib.memRelease, uintptr(h))
}

// MemMap puts physical memory behind reserved addresses.
func (d *Device) MemMap(p device.Ptr, size, offset uint64, h device.MemHandle, flags uint64) device.Code {
	return d.call(d.lib.memMap, uintptr(p), uintptr(size), uintptr(offset), uintptr(h), uintptr(flags))
}

// MemUnmap takes the memory behind addresses away: whole mappings, one or several.
func (d *Device) MemUnmap(p device.Ptr, size uint64) device.Code {
	return d.callTwo(d.lib.memUnmap, uintptr(p), uintptr(size))
}

// MemSetAccess says who may use the memory behind addresses.
func (d *Device) MemSetAccess(p device.Ptr, size uint64, desc []device.MemAccessDesc) device.Code {
	descs := make([]accessDesc, len(desc), len(desc)+1) // one more, so that no descriptions have an address too
	for i, x := range desc {
		descs[i] = accessDesc{x.Location.Type, located(x.Location, d.ordinal), int32(x.Access)}
	}
	return d.call(d.lib.memSetAccess, uintptr(p), uintptr(size), uintptr(unsafe.Pointer(unsafe.SliceData(descs))),
		uintptr(len(desc)))
}
