package sim

import (
	"slices"

	"cudalab/native/device"
)

// MemPoolCreate makes a pool, with addresses of its own.
func (d *Device) MemPoolCreate() (device.Pool, device.Code) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.PoolCreate); c != device.Success {
		return 0, c
	}
	slot := uint64(1)
	for slices.ContainsFunc(d.pools, func(p *pool) bool { return p.slot == slot }) {
		slot++
	}
	p := newPool(device.Pool(d.newHandle()), heapBase+slot*reach, d.poolStep)
	p.slot = slot
	d.pools = append(d.pools, p)
	return p.handle, device.Success
}

// MemPoolDestroy returns at once. What is allocated from the pool stays valid, and the pool's memory goes back as that
// is freed. If it was the device's current pool, the default pool is current again. The default pool cannot be
// destroyed.
func (d *Device) MemPoolDestroy(h device.Pool) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.PoolDestroy); c != device.Success {
		return c
	}
	p := d.poolOf(h)
	if p == nil || p == d.pools[0] {
		return device.ErrorInvalidValue
	}
	if p == d.current {
		d.current = d.pools[0]
	}
	p.destroyed, p.threshold = true, 0
	d.now += d.profile.releaseCost(d.giveBack(&p.heap, 0))
	d.dropPools()
	return device.Success
}

// dropPools forgets the destroyed pools that hold nothing any more.
func (d *Device) dropPools() {
	d.pools = slices.DeleteFunc(d.pools, func(p *pool) bool { return p.destroyed && p.held == 0 })
}

// MemPoolTrimTo gives back what the pool has no use for and waits for nothing: what was freed stays until the host has
// waited for the free. It keeps whole steps, enough for keep bytes, where a synchronisation keeps no more than the
// threshold: so it was seen on an H200 with driver 580.
func (d *Device) MemPoolTrimTo(h device.Pool, keep uint64) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.Lookup); c != device.Success {
		return c
	}
	p := d.poolOf(h)
	if p == nil {
		return device.ErrorInvalidValue
	}
	if keep < p.held {
		awaited := func(b *block) bool { return b.freed == nil && b.idle() }
		d.now += d.profile.releaseCost(d.unmapSpare(&p.heap, roundUp(keep, p.step), awaited))
	}
	return device.Success
}

// DeviceGetMemPool is the pool that MemAllocAsync takes from.
func (d *Device) DeviceGetMemPool() (device.Pool, device.Code) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.Lookup); c != device.Success {
		return 0, c
	}
	return d.current.handle, device.Success
}

// DeviceSetMemPool makes a pool the one that MemAllocAsync takes from.
func (d *Device) DeviceSetMemPool(h device.Pool) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.Lookup); c != device.Success {
		return c
	}
	p := d.poolOf(h)
	if p == nil {
		return device.ErrorInvalidValue
	}
	d.current = p
	return device.Success
}

// MemAllocFromPoolAsync hands out memory of a pool, for work that is ordered behind this call.
func (d *Device) MemAllocFromPoolAsync(size uint64, p device.Pool, h device.Stream) (device.Ptr, device.Code) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.MallocAsync); c != device.Success {
		return 0, c
	}
	from := d.poolOf(p)
	if from == nil {
		return 0, device.ErrorInvalidValue
	}
	return d.allocate(from, size, h)
}
