package sim

import (
	"slices"

	"cudalab/native/device"
)

// pool is a memory pool: a heap whose blocks are freed in streams, and may be handed out again before the host has seen
// them freed.
type pool struct {
	heap
	handle    device.Pool
	slot      uint64    // of addresses; no two pools share one
	users     []*stream // that have allocated from it, the first one first
	destroyed bool      // there only for what is still allocated from it

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
		heap:          newHeap(base, reach, step),
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
	cost, blocks := d.searchCost(p, size, s), len(p.free)
	b, after, mapped := d.take(&p.heap, size, usable)
	if b == nil && p.internal {
		b, after, mapped = d.take(&p.heap, size, func(*block) bool { return true })
	}
	if b == nil {
		return nil, nil
	}
	switch {
	case mapped > 0:
		cost += d.profile.PoolGrow.At(mapped)
	case len(p.free) >= blocks:
		cost += d.profile.PoolSplit
	}
	d.now += cost
	p.used += size
	p.usedHigh = max(p.usedHigh, p.used)
	p.heldHigh = max(p.heldHigh, p.held)
	return b, after
}

// searchCost is what looking for memory costs the host. What the stream has freed before, or stands behind the free of,
// is at hand. Else the pool asks the other streams that have used it whether they have finished, until one has that has
// freed enough. Where none has, all are asked once more, the stream itself as well, for what is anyone's. A busy stream
// is asked in no time to speak of. So the times came out on an H200 with driver 580; without opportunistic reuse nobody
// was asked.
func (d *Device) searchCost(p *pool, size uint64, s *stream) (cost int64) {
	p.usedBy(s)
	if !p.opportunistic || p.hasFreed(size, func(o *op) bool {
		return o.slot == s.slot || p.follow &&
			s.clock.covers(o)
	}) {
		return 0
	}
	var others, all int64
	for _, t := range p.users {
		if t.end > d.now {
			continue
		}
		ask := d.profile.PoolSearch
		if t.work != nil {
			ask += d.profile.PoolSearchWork
		}
		all += ask
		if t == s {
			continue
		}
		others += ask
		if p.hasFreed(size, func(o *op) bool { return o.slot == t.slot }) {
			return others
		}
	}
	return others + all
}

// usedBy notes that a stream allocates from the pool.
func (p *pool) usedBy(s *stream) {
	if !slices.Contains(p.users, s) {
		p.users = append(slices.DeleteFunc(p.users, func(t *stream) bool { return t.destroyed }), s)
	}
}

// hasFreed reports whether so many bytes in a row were freed by operations that the host has not seen finished and that
// are in.
func (p *pool) hasFreed(size uint64, in func(*op) bool) bool {
	for r := range p.runs(func(b *block) bool { return b.freed != nil && in(b.freed) }) {
		if r.size >= roundUp(size, alignment) {
			return true
		}
	}
	return false
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
	if c := d.begin(d.profile.Lookup); c != device.Success {
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
	if c := d.begin(d.profile.Lookup); c != device.Success {
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
	if c := d.begin(d.profile.Lookup); c != device.Success {
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
