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

// MemPoolGetAttribute reads an attribute of a pool. The reuse attributes are a C int, which fills the low half of the value
// on the little-endian processors that the driver exists for; all others are 64 bits wide.
func (d *Device) MemPoolGetAttribute(p device.Pool, attr device.PoolAttr) (uint64, device.Code) {
	var value uint64
	code := d.call(d.lib.memPoolGetAttribute, uintptr(p), uintptr(attr), uintptr(unsafe.Pointer(&value)))
	return value, code
}

// MemPoolSetAttribute sets an attribute of a pool. Of a value for a reuse attribute the driver reads the low 32 bits.
func (d *Device) MemPoolSetAttribute(p device.Pool, attr device.PoolAttr, value uint64) device.Code {
	return d.call(d.lib.memPoolSetAttribute, uintptr(p), uintptr(attr), uintptr(unsafe.Pointer(&value)))
}
