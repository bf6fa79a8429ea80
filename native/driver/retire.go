package driver

import (
	"slices"
	"sync"

	"cudalab/native/device"
)

// retired are the pools that the program has destroyed while they held memory. CUDA allows that, but the driver does
// not survive it: a later cuMemPoolCreate, cuMemPoolDestroy, cuMemFreeAsync or the end of the process was seen to crash
// or to hang (H100 and H200, driver 580). So they live on, out of the program's sight, until their memory has gone
// back.
type retired struct {
	mu    sync.Mutex
	pools []device.Pool
}

// MemPoolDestroy gives up a pool and what it keeps without need; what is allocated from it stays valid, and goes back
// as it is freed and the host waits. If it was the device's current pool, the default pool is current again. The
// default pool cannot be destroyed.
func (d *Device) MemPoolDestroy(p device.Pool) device.Code {
	standard, code := d.DeviceGetDefaultMemPool()
	if code != device.Success || p == 0 || p == standard {
		return d.call(d.lib.memPoolDestroy, uintptr(p))
	}
	d.MemPoolSetAttribute(p, device.PoolReleaseThreshold, 0)
	d.MemPoolTrimTo(p, 0)
	if d.empty(p) {
		return d.call(d.lib.memPoolDestroy, uintptr(p))
	}
	if current, code := d.DeviceGetMemPool(); code == device.Success && current == p {
		if code := d.DeviceSetMemPool(standard); code != device.Success {
			return code
		}
	}
	d.retired.mu.Lock()
	defer d.retired.mu.Unlock()
	d.retired.pools = append(d.retired.pools, p)
	return device.Success
}

// destroyEmpty destroys the pools whose memory has gone back.
func (r *retired) destroyEmpty(d *Device) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pools = slices.DeleteFunc(r.pools, func(p device.Pool) bool {
		return d.empty(p) && d.call(d.lib.memPoolDestroy, uintptr(p)) == device.Success
	})
}

// empty reports whether a pool holds no memory: then no free can be pending either, since what is freed is held until
// it has.
func (d *Device) empty(p device.Pool) bool {
	held, code := d.MemPoolGetAttribute(p, device.PoolReservedMemCurrent)
	return code == device.Success && held == 0
}
