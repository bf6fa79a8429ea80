package cuda

import (
	"fmt"

	"cudalab/native/device"
	"cudalab/native/session"
)

const (
	callMemPoolCreate       = "cudaMemPoolCreate"
	callMemPoolDestroy      = "cudaMemPoolDestroy"
	callMemPoolTrimTo       = "cudaMemPoolTrimTo"
	callMemPoolSetAttribute = "cudaMemPoolSetAttribute"
	callMemPoolGetAttribute = "cudaMemPoolGetAttribute"
	callDeviceSetMemPool    = "cudaDeviceSetMemPool"
	callMallocFromPoolAsync = "cudaMallocFromPoolAsync"
)

// MemPoolAttr names an attribute of a memory pool.
type MemPoolAttr = device.PoolAttr

// The attributes of a memory pool. The Reuse ones are switches, 1 (the default) or 0; all others are bytes.
const (
	// Memory freed in another stream may be handed out where the allocation is ordered behind the free by events.
	MemPoolReuseFollowEventDependencies = device.PoolReuseFollowEventDependencies
	// Memory freed in another stream may be handed out once the free has been carried out.
	MemPoolReuseAllowOpportunistic = device.PoolReuseAllowOpportunistic
	// Memory freed in another stream may be handed out by making the allocating stream wait for the free.
	MemPoolReuseAllowInternalDependencies = device.PoolReuseAllowInternalDependencies
	// How much the pool keeps when it gives unused memory back, which it does when the host synchronises. The default is
	// 0.
	MemPoolAttrReleaseThreshold   = device.PoolReleaseThreshold
	MemPoolAttrReservedMemCurrent = device.PoolReservedMemCurrent // held from the system; read only
	MemPoolAttrReservedMemHigh    = device.PoolReservedMemHigh    // the most there was; setting 0 starts again from now
	MemPoolAttrUsedMemCurrent     = device.PoolUsedMemCurrent     // handed out; read only
	MemPoolAttrUsedMemHigh        = device.PoolUsedMemHigh        // the most there was; setting 0 starts again from now
)

// MemPool is a pool of device memory that stream-ordered allocations come from. The zero value is the null pool, which
// no call accepts. Pools can be compared: a pool is the same value whichever call answered it.
type MemPool struct{ p *session.MemPool }

// MemPoolProps says what pool to make: the part of cudaMemPoolProps that there is a choice in here. The memory is
// pinned device memory, and is not shared with other processes.
type MemPoolProps struct {
	Device int // where the memory lies; there is only 0
}

// MemPoolCreate makes a pool. It holds no memory until something is allocated from it. A device that does not exist is
// ErrorInvalidDevice.
func MemPoolCreate(props MemPoolProps) (MemPool, error) {
	p, code := session.Current().MemPoolCreate(props.Device)
	return MemPool{p}, answer(callMemPoolCreate, code)
}

// MemPoolDestroy destroys a pool. It returns at once: allocations from the pool stay valid, and their memory goes back
// to the system with the last free. If the pool was the device's current one, the default pool is current again. The
// default pool cannot be destroyed.
func MemPoolDestroy(pool MemPool) error {
	return pool.answer(callMemPoolDestroy, session.Current().MemPoolDestroy(pool.p),
		"the device's default pool cannot be "+
			"destroyed; destroy the pools that MemPoolCreate has made")
}

// MemPoolTrimTo gives memory that the pool does not use back to the system, until no more than minBytesToKeep is left.
// It waits for nothing: what is allocated stays, and what a pending free still holds.
func MemPoolTrimTo(pool MemPool, minBytesToKeep int64) error {
	return pool.answer(callMemPoolTrimTo, session.Current().MemPoolTrimTo(pool.p, minBytesToKeep),
		"fewer than 0 bytes are to be kept")
}

// MemPoolSetAttribute sets an attribute. The current sizes cannot be set, and the high-watermarks only to 0.
func MemPoolSetAttribute(pool MemPool, attr MemPoolAttr, value uint64) error {
	reason := "there is no such attribute; the names are MemPoolReuse… and MemPoolAttr…"
	switch attr {
	case MemPoolAttrReservedMemCurrent, MemPoolAttrUsedMemCurrent:
		reason = "the attribute says what the pool holds at this moment and can only be read"
	case MemPoolAttrReservedMemHigh, MemPoolAttrUsedMemHigh:
		reason = "a high-watermark can only be set to 0, which makes it the current value"
	}
	return pool.answer(callMemPoolSetAttribute, session.Current().MemPoolSetAttribute(pool.p, attr, value), reason)
}

// MemPoolGetAttribute reads an attribute.
func MemPoolGetAttribute(pool MemPool, attr MemPoolAttr) (uint64, error) {
	value, code := session.Current().MemPoolGetAttribute(pool.p, attr)
	return value, pool.answer(callMemPoolGetAttribute, code,
		"there is no such attribute; the names are MemPoolReuse… and MemPoolAttr…")
}

// DeviceGetDefaultMemPool is the pool that the device begins with. A device that does not exist is ErrorInvalidDevice.
func DeviceGetDefaultMemPool(device int) (MemPool, error) {
	p, code := session.Current().DeviceGetDefaultMemPool(device)
	return MemPool{p}, answer("cudaDeviceGetDefaultMemPool", code)
}

// DeviceGetMemPool is the device's current pool, the one that MallocAsync takes from: the default pool, or the one that
// DeviceSetMemPool was given last.
func DeviceGetMemPool(device int) (MemPool, error) {
	p, code := session.Current().DeviceGetMemPool(device)
	return MemPool{p}, answer("cudaDeviceGetMemPool", code)
}

// DeviceSetMemPool makes a pool the device's current one. What has been allocated stays where it is.
func DeviceSetMemPool(device int, pool MemPool) error {
	return pool.answer(callDeviceSetMemPool, session.Current().DeviceSetMemPool(device, pool.p), "")
}

// MallocFromPoolAsync is MallocAsync from this pool instead of the current one. FreeAsync gives the memory back to it.
func MallocFromPoolAsync(size int64, pool MemPool, s Stream) (DevicePtr, error) {
	p, code := session.Current().MallocFromPoolAsync(size, pool.p, s.s)
	if code == device.Success {
		return DevicePtr(p), nil
	}
	return DevicePtr(p), pool.answer(callMallocFromPoolAsync, code, fmt.Sprintf(negative, size))
}

// answer is the package's answer for a call that names the pool. An invalid value is the pool, if there is anything
// wrong with it, or else what reason says.
func (pool MemPool) answer(call string, code device.Code, reason string) error {
	switch {
	case pool.p == nil:
		reason = "there is no pool; MemPoolCreate makes one, DeviceGetDefaultMemPool answers the device's own"
	case pool.p.Destroyed():
		reason = "the pool has been destroyed; destroy it after its last use"
	}
	return refused(call, code, "%s", reason)
}
