package sim

import "cudalab/native/device"

// pool is a memory pool: a heap whose blocks are freed in streams, and may be handed out again before the host has seen
// them freed.
type pool struct {
	heap
	handle    device.Pool
	slot      uint64 // of addresses; no two pools share one
	destroyed bool   // there only for what is still allocated from it

	follow        bool // reuse behind an event dependency
	opportunistic bool // reuse what has been freed by now, though nothing orders it
	internal      bool // when memory is short, reuse by making the new owner wait
	threshold     uint64

	used     uint64 // bytes asked for, of what is handed out
	usedHigh uint64
	heldHigh uint64
}

func newPool(handle device.Pool, base, step uint64) *pool {
	return &pool{
		heap:          newHeap(base, step),
		handle:        handle,
		follow:        true,
		opportunistic: true,
		internal:      true,
	}
}

// keep is how much a synchronisation leaves in the pool: as many whole steps as the threshold has room for.
func (p *pool) keep() uint64 { return p.threshold / p.step * p.step }

// takeFromPool hands out memory to a stream: what may be reused there, or new memory.
func (d *Device) takeFromPool(p *pool, size uint64, s *stream) (*block, []*op) {
	if size > d.limit {
		return nil, nil
	}
	usable := func(b *block) bool {
		switch {
		case b.freed == nil, b.freed.slot == s.slot, d.awaited.covers(b.freed):
			return true
		case p.follow && s.clock.covers(b.freed):
			return true
		}
		return p.opportunistic && b.freed.end <= d.now
	}
	b, after, mapped := d.take(&p.heap, size, usable)
	if b == nil && p.internal {
		b, after, mapped = d.take(&p.heap, size, func(*block) bool { return true })
	}
	if b == nil {
		return nil, nil
	}
	if mapped > 0 {
		d.now += d.profile.PoolGrow.At(mapped)
	}
	p.used += size
	p.usedHigh = max(p.usedHigh, p.used)
	p.heldHigh = max(p.heldHigh, p.held)
	return b, after
}

// releaseCost is what giving so many bytes of a pool back costs the host.
func (p *Profile) releaseCost(bytes uint64) int64 {
	if bytes == 0 {
		return 0
	}
	return p.PoolRelease.At(bytes)
}

// DeviceGetDefaultMemPool is the pool that is current as long as no other was made so. It cannot be destroyed.
func (d *Device) DeviceGetDefaultMemPool() (device.Pool, device.Code) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.Query); c != device.Success {
		return 0, c
	}
	return d.pools[0].handle, device.Success
}

func (d *Device) poolOf(h device.Pool) *pool {
	for _, p := range d.pools {
		if p.handle == h && !p.destroyed {
			return p
		}
	}
	return nil
}

// MemPoolGetAttribute reads an attribute; switches answer 0 or 1.
func (d *Device) MemPoolGetAttribute(h device.Pool, attr device.PoolAttr) (uint64, device.Code) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.Query); c != device.Success {
		return 0, c
	}
	p := d.poolOf(h)
	if p == nil {
		return 0, device.ErrorInvalidValue
	}
	if on := p.toggle(attr); on != nil {
		if *on {
			return 1, device.Success
		}
		return 0, device.Success
	}
	switch attr {
	case device.PoolReleaseThreshold:
		return p.threshold, device.Success
	case device.PoolReservedMemCurrent:
		return p.held, device.Success
	case device.PoolReservedMemHigh:
		return p.heldHigh, device.Success
	case device.PoolUsedMemCurrent:
		return p.used, device.Success
	case device.PoolUsedMemHigh:
		return p.usedHigh, device.Success
	}
	return 0, device.ErrorInvalidValue
}

// MemPoolSetAttribute sets a switch or the threshold, or sets a high-watermark back to the current value, by 0.
func (d *Device) MemPoolSetAttribute(h device.Pool, attr device.PoolAttr, value uint64) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.Query); c != device.Success {
		return c
	}
	p := d.poolOf(h)
	if p == nil {
		return device.ErrorInvalidValue
	}
	if on := p.toggle(attr); on != nil {
		*on = uint32(value) != 0 // a C int, as the driver reads it
		return device.Success
	}
	switch {
	case attr == device.PoolReleaseThreshold:
		p.threshold = value
	case attr == device.PoolReservedMemHigh && value == 0:
		p.heldHigh = p.held
	case attr == device.PoolUsedMemHigh && value == 0:
		p.usedHigh = p.used
	default:
		return device.ErrorInvalidValue
	}
	return device.Success
}

// toggle is the switch behind an attribute, or nil for an attribute that is none.
func (p *pool) toggle(attr device.PoolAttr) *bool {
	switch attr {
	case device.PoolReuseFollowEventDependencies:
		return &p.follow
	case device.PoolReuseAllowOpportunistic:
		return &p.opportunistic
	case device.PoolReuseAllowInternalDependencies:
		return &p.internal
	}
	return nil
}
