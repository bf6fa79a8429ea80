package sim

import (
	"slices"

	"cudalab/native/device"
)

// Where addresses start: as on the GPU, pool memory and cuMemAlloc's lie far apart.
const (
	poolBase = 0x3_0200_0000
	heapBase = 0x7f40_0000_0000

	// The same where there is more memory than a heap has addresses for.
	farPoolBase, farPoolReach = 1<<60 + poolBase, 1 << 60
	farHeapBase, farHeapReach = 1<<61 + heapBase, 1 << 62
)

// MemAlloc hands out memory at once and waits for nothing.
func (d *Device) MemAlloc(size uint64) (device.Ptr, device.Code) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.MallocMapped); c != device.Success {
		return 0, c
	}
	if size == 0 {
		return 0, device.ErrorInvalidValue
	}
	if size > d.limit {
		return 0, device.ErrorOutOfMemory
	}
	usable := func(b *block) bool { return b.freed == nil || b.freed.end <= d.now }
	held := d.heap.held
	b, after := d.heap.take(&d.mem, size, 0, usable)
	if b == nil {
		// New memory begins with a step: what is free before it stays out of it.
		b, after, _ = d.take(&d.heap, size, func(*block) bool { return false })
	}
	if b == nil {
		return 0, device.ErrorOutOfMemory
	}
	if d.heap.held > held {
		d.now += d.profile.Malloc.At(size) - d.profile.MallocMapped
	}
	for _, o := range after {
		d.run(o)
	}
	d.mem.poison(b.addr, b.size)
	return device.Ptr(b.addr), d.fault
}

// MemFree frees memory at once. That of MemAlloc waits until all work on the device has ended; that of a pool waits for
// nothing; the pool gives back what it holds above its threshold, and goes on counting the block as used. So it does on
// an H200 with driver 580.
func (d *Device) MemFree(p device.Ptr) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.FreeAsync); c != device.Success || p == 0 {
		return c
	}
	h, pool, b := d.find(p)
	if b == nil {
		return device.ErrorInvalidValue
	}
	asked := b.asked
	if pool == nil {
		d.waitForDevice()
	} else if b.after.end <= d.now {
		d.run(b.after) // the allocation, which has ended
	}
	d.mem.poison(b.addr, b.size)
	h.put(b)
	if pool == nil {
		cost := d.profile.FreeMapped
		if d.giveBack(h, 0) > 0 {
			cost = d.profile.Free.At(asked)
		}
		d.now += cost - d.profile.FreeAsync
	} else {
		d.now += d.profile.releaseCost(d.giveBack(h, pool.keep()))
	}
	return d.fault
}

// MemAllocAsync hands out memory of the current pool, for work that is ordered behind this call.
func (d *Device) MemAllocAsync(size uint64, h device.Stream) (device.Ptr, device.Code) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.MallocAsync); c != device.Success {
		return 0, c
	}
	return d.allocate(d.current, size, h)
}

// allocate hands out memory of a pool in a stream.
func (d *Device) allocate(p *pool, size uint64, h device.Stream) (device.Ptr, device.Code) {
	s := d.streams[h]
	if s == nil {
		return 0, device.ErrorInvalidHandle
	}
	if size == 0 {
		return 0, device.Success
	}
	b, after := d.takeFromPool(p, size, s)
	if b == nil {
		return 0, device.ErrorOutOfMemory
	}
	b.after = d.enqueue(s, poisoning{b.addr, b.size}, demand{}, after...)
	return device.Ptr(b.addr), device.Success
}

// MemFreeAsync frees memory, of a pool or of MemAlloc, behind the work in a stream. For the host it is dead at once.
func (d *Device) MemFreeAsync(p device.Ptr, h device.Stream) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.FreeAsync); c != device.Success {
		return c
	}
	s := d.streams[h]
	if s == nil {
		return device.ErrorInvalidHandle
	}
	if p == 0 {
		return device.Success
	}
	heap, pool, b := d.find(p)
	if b == nil {
		return device.ErrorInvalidValue
	}
	if pool != nil {
		pool.used -= b.asked
	}
	o := d.enqueue(s, poisoning{b.addr, b.size}, demand{})
	b.freed, b.after = o, o
	heap.put(b)
	return device.Success
}

// find is the allocation that starts at p, with the heap it is from and the pool that heap is of, if any.
func (d *Device) find(p device.Ptr) (*heap, *pool, *block) {
	if b := d.heap.holding(uint64(p)); b != nil && b.addr == uint64(p) {
		return &d.heap, nil, b
	}
	for _, pool := range d.pools {
		if b := pool.holding(uint64(p)); b != nil && b.addr == uint64(p) {
			return &pool.heap, pool, b
		}
	}
	return nil, nil, nil
}

// inside reports whether these bytes lie in one allocation, or in mappings side by side that allow the access, as
// copies and memsets demand.
func (d *Device) inside(p device.Ptr, size uint64, kind device.AccessKind) bool {
	b := d.heap.holding(uint64(p))
	for i := 0; b == nil && i < len(d.pools); i++ {
		b = d.pools[i].holding(uint64(p))
	}
	if b == nil {
		return d.virtual.allows(uint64(p), size, kind)
	}
	return size <= b.asked-(uint64(p)-b.addr)
}

// take hands out memory of a heap and answers how many bytes it mapped for it, besides what heap.take answers. Where
// the device's memory is short, what heaps and pools hold without use goes back first, whatever the pools' thresholds
// say.
func (d *Device) take(h *heap, size uint64, usable func(*block) bool) (b *block, after []*op, mapped uint64) {
	held := h.held
	b, after = h.take(&d.mem, size, d.limit-d.reserved, usable)
	if b == nil {
		d.reclaim()
		held = h.held
		b, after = h.take(&d.mem, size, d.limit-d.reserved, usable)
	}
	mapped = h.held - held
	d.reserved += mapped
	return b, after, mapped
}

// reclaim gives back what heaps and pools hold without use, whatever the pools' thresholds say.
func (d *Device) reclaim() {
	d.giveBack(&d.heap, 0)
	for _, p := range d.pools {
		d.now += d.profile.releaseCost(d.giveBack(&p.heap, 0))
	}
}

// release is what a synchronisation does once it has waited: blocks whose free the host now knows are anyone's, and
// pools give back what they hold above their thresholds.
func (d *Device) release() {
	d.heap.collect(d.awaited)
	d.giveBack(&d.heap, 0)
	for _, p := range d.pools {
		p.collect(d.awaited)
		d.now += d.profile.releaseCost(d.giveBack(&p.heap, p.keep()))
	}
	d.dropPools()
}

// giveBack unmaps what a heap holds beyond keep and has no use for, the highest addresses first, and answers how many
// bytes; keep is whole steps. Work that has ended by now runs before, so that it does not find its memory gone.
func (d *Device) giveBack(h *heap, keep uint64) uint64 {
	return d.unmapSpare(h, keep, func(b *block) bool { return b.after == nil || b.after.end <= d.now })
}

// unmapSpare is giveBack of the free blocks that are idle.
func (d *Device) unmapSpare(h *heap, keep uint64, idle func(*block) bool) uint64 {
	if h.held <= keep {
		return 0
	}
	spare := h.spare(idle)
	if len(spare) == 0 {
		return 0
	}
	d.settle()
	before := h.held
	for _, r := range slices.Backward(spare) {
		if n := min(r.size, h.held-keep); n > 0 {
			h.unmap(&d.mem, r.end()-n, n)
		}
	}
	d.reserved -= before - h.held
	return before - h.held
}
