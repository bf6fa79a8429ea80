package driver

import (
	"unsafe"

	"cudalab/native/device"
)

// DeviceGetDefaultMemPool is the device's default memory pool.
func (d *Device) DeviceGetDefaultMemPool() (device.Pool, device.Code) {
	var p device.Pool
	code := d.call(d.lib.deviceGetDefaultMemPool, uintptr(unsafe.Pointer(&p)), uintptr(d.ordinal))
	return p, code
}

// MemPoolGetAttribute reads an attribute of a pool. The reuse attributes are a C int, which fills the low half of the
// value on the little-endian processors that the driver exists for; all others are 64 bits wide.
func (d *Device) MemPoolGetAttribute(p device.Pool, attr device.PoolAttr) (uint64, device.Code) {
	var value uint64
	code := d.call(d.lib.memPoolGetAttribute, uintptr(p), uintptr(attr), uintptr(unsafe.Pointer(&value)))
	return value, code
}

// MemPoolSetAttribute sets an attribute of a pool. Of a value for a reuse attribute the driver reads the low 32 bits.
func (d *Device) MemPoolSetAttribute(p device.Pool, attr device.PoolAttr, value uint64) device.Code {
	return d.call(d.lib.memPoolSetAttribute, uintptr(p), uintptr(attr), uintptr(unsafe.Pointer(&value)))
}

// DeviceGetMemPool is the device's current pool.
func (d *Device) DeviceGetMemPool() (device.Pool, device.Code) {
	var p device.Pool
	code := d.call(d.lib.deviceGetMemPool, uintptr(unsafe.Pointer(&p)), uintptr(d.ordinal))
	return p, code
}

// DeviceSetMemPool makes a pool the device's current one.
func (d *Device) DeviceSetMemPool(p device.Pool) device.Code {
	return d.callTwo(d.lib.deviceSetMemPool, uintptr(d.ordinal), uintptr(p))
}

// poolProps describes a pool to be made (cuda.h: CUmemPoolProps).
type poolProps struct {
	allocType    int32 // CUmemAllocationType
	handleTypes  int32 // CUmemAllocationHandleType; 0: none
	locationType int32 // CUmemLocationType
	locationID   int32
	security     uintptr // of Windows handles
	rest         [64]byte
}

// MemPoolCreate makes a pool.
func (d *Device) MemPoolCreate() (device.Pool, device.Code) {
	props := poolProps{allocType: device.MemAllocationPinned, locationType: device.MemLocationDevice,
		locationID: d.ordinal}
	d.retired.destroyEmpty(d)
	var p device.Pool
	code := d.call(d.lib.memPoolCreate, uintptr(unsafe.Pointer(&p)), uintptr(unsafe.Pointer(&props)))
	return p, code
}

// MemPoolTrimTo gives memory that a pool does not use back to the system, down to so many bytes.
func (d *Device) MemPoolTrimTo(p device.Pool, keep uint64) device.Code {
	return d.callTwo(d.lib.memPoolTrimTo, uintptr(p), uintptr(keep))
}

// MemAllocFromPoolAsync allocates from a pool, in the order of stream s.
func (d *Device) MemAllocFromPoolAsync(size uint64, p device.Pool, s device.Stream) (device.Ptr, device.Code) {
	f := frames.Get().(*frame)
	f.out = 0
	f.argv[0], f.argv[1], f.argv[2], f.argv[3] = uintptr(unsafe.Pointer(&f.out)), uintptr(size), uintptr(p), uintptr(s)
	code := d.call(d.lib.memAllocFromPoolAsync, f.argv[:4]...)
	memory := device.Ptr(f.out)
	frames.Put(f)
	return memory, code
}
