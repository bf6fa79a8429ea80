package driver

import (
	"unsafe"

	"cudalab/native/device"
)

// MemGetInfo is the device's free and total memory in bytes.
func (d *Device) MemGetInfo() (free, total uint64, code device.Code) {
	code = d.call(d.lib.memGetInfo, uintptr(unsafe.Pointer(&free)), uintptr(unsafe.Pointer(&total)))
	return free, total, code
}

// MemAlloc allocates device memory.
func (d *Device) MemAlloc(size uint64) (device.Ptr, device.Code) {
	var p device.Ptr
	code := d.call(d.lib.memAlloc, uintptr(unsafe.Pointer(&p)), uintptr(size))
	return p, code
}

// MemFree frees device memory.
func (d *Device) MemFree(p device.Ptr) device.Code {
	return d.call(d.lib.memFree, uintptr(p))
}

// MemAllocAsync allocates from the device's current pool, in the order of stream s.
func (d *Device) MemAllocAsync(size uint64, s device.Stream) (device.Ptr, device.Code) {
	f := frames.Get().(*frame)
	f.out = 0
	f.argv[0], f.argv[1], f.argv[2] = uintptr(unsafe.Pointer(&f.out)), uintptr(size), uintptr(s)
	code := d.call(d.lib.memAllocAsync, f.argv[:3]...)
	p := device.Ptr(f.out)
	frames.Put(f)
	return p, code
}

// MemFreeAsync frees device memory in the order of stream s.
func (d *Device) MemFreeAsync(p device.Ptr, s device.Stream) device.Code {
	return d.callTwo(d.lib.memFreeAsync, uintptr(p), uintptr(s))
}

// hostAllocPortable makes pinned memory count as pinned in every context (cuda.h: CU_MEMHOSTALLOC_PORTABLE).
const hostAllocPortable = 1

// MemAllocHost allocates pinned host memory.
func (d *Device) MemAllocHost(size uint64) (device.Host, device.Code) {
	var h device.Host
	code := d.call(d.lib.memHostAlloc, uintptr(unsafe.Pointer(&h)), uintptr(size), hostAllocPortable)
	return h, code
}

// MemFreeHost frees pinned host memory.
func (d *Device) MemFreeHost(h device.Host) device.Code {
	return d.call(d.lib.memFreeHost, uintptr(h))
}

// HostRead copies from pinned memory.
func (d *Device) HostRead(h device.Host, offset uint64, dst []byte) {
	copy(dst, hostBytes(h, offset, len(dst)))
}

// HostWrite copies to pinned memory.
func (d *Device) HostWrite(h device.Host, offset uint64, src []byte) {
	copy(hostBytes(h, offset, len(src)), src)
}

// hostBytes is n bytes of pinned memory as a slice. The memory is the driver's, so the address is no Go pointer in
// disguise, which is what go vet would take a plain conversion for.
func hostBytes(h device.Host, offset uint64, n int) []byte {
	address := uintptr(h) + uintptr(offset)
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&address)), n)
}

// MemcpyHtoD copies a slice to the device.
func (d *Device) MemcpyHtoD(dst device.Ptr, src []byte) device.Code {
	return d.call(d.lib.memcpyHtoD, uintptr(dst), uintptr(unsafe.Pointer(unsafe.SliceData(src))), uintptr(len(src)))
}

// MemcpyDtoH copies from the device to a slice.
func (d *Device) MemcpyDtoH(dst []byte, src device.Ptr) device.Code {
	return d.call(d.lib.memcpyDtoH, uintptr(unsafe.Pointer(unsafe.SliceData(dst))), uintptr(src), uintptr(len(dst)))
}

// MemcpyHtoDAsync copies a slice to the device in the order of stream s. It returns once the driver has staged the
// slice: for small copies at once.
func (d *Device) MemcpyHtoDAsync(dst device.Ptr, src []byte, s device.Stream) device.Code {
	return d.call(d.lib.memcpyHtoDAsync,
		uintptr(dst), uintptr(unsafe.Pointer(unsafe.SliceData(src))), uintptr(len(src)), uintptr(s))
}

// MemcpyDtoHAsync copies from the device to a slice in the order of stream s. It returns when the copy is complete.
func (d *Device) MemcpyDtoHAsync(dst []byte, src device.Ptr, s device.Stream) device.Code {
	return d.call(d.lib.memcpyDtoHAsync,
		uintptr(unsafe.Pointer(unsafe.SliceData(dst))), uintptr(src), uintptr(len(dst)), uintptr(s))
}

// MemcpyHostToD copies from pinned memory to the device.
func (d *Device) MemcpyHostToD(dst device.Ptr, src device.Host, offset, size uint64) device.Code {
	return d.call(d.lib.memcpyHtoD, uintptr(dst), uintptr(src)+uintptr(offset), uintptr(size))
}

// MemcpyDToHost copies from the device to pinned memory.
func (d *Device) MemcpyDToHost(dst device.Host, offset uint64, src device.Ptr, size uint64) device.Code {
	return d.call(d.lib.memcpyDtoH, uintptr(dst)+uintptr(offset), uintptr(src), uintptr(size))
}

// MemcpyHostToDAsync copies from pinned memory to the device in the order of stream s.
func (d *Device) MemcpyHostToDAsync(dst device.Ptr, src device.Host, offset, size uint64, s device.Stream) device.Code {
	return d.call(d.lib.memcpyHtoDAsync, uintptr(dst), uintptr(src)+uintptr(offset), uintptr(size), uintptr(s))
}

// MemcpyDToHostAsync copies from the device to pinned memory in the order of stream s.
func (d *Device) MemcpyDToHostAsync(dst device.Host, offset uint64, src device.Ptr, size uint64,
	s device.Stream) device.Code {
	return d.call(d.lib.memcpyDtoHAsync, uintptr(dst)+uintptr(offset), uintptr(src), uintptr(size), uintptr(s))
}

// MemcpyDtoD copies within the device.
func (d *Device) MemcpyDtoD(dst, src device.Ptr, size uint64) device.Code {
	return d.call(d.lib.memcpyDtoD, uintptr(dst), uintptr(src), uintptr(size))
}

// MemcpyDtoDAsync copies within the device in the order of stream s.
func (d *Device) MemcpyDtoDAsync(dst, src device.Ptr, size uint64, s device.Stream) device.Code {
	return d.call(d.lib.memcpyDtoDAsync, uintptr(dst), uintptr(src), uintptr(size), uintptr(s))
}

// MemsetD8 sets bytes of device memory.
func (d *Device) MemsetD8(p device.Ptr, value byte, size uint64) device.Code {
	return d.call(d.lib.memsetD8, uintptr(p), uintptr(value), uintptr(size))
}

// MemsetD8Async sets bytes of device memory in the order of stream s.
func (d *Device) MemsetD8Async(p device.Ptr, value byte, size uint64, s device.Stream) device.Code {
	return d.call(d.lib.memsetD8Async, uintptr(p), uintptr(value), uintptr(size), uintptr(s))
}
