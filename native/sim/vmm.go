package sim

import (
	"slices"

	"cudalab/native/device"
)

// charge adds what a call costs beyond the Lookup that it began with.
func (d *Device) charge(cost int64) { d.now += cost - d.profile.Lookup }

// MemGetAllocationGranularity is what sizes and addresses are multiples of. The least and the best are one number, and
// that of memory which cannot be made is no other: so an H200 with driver 580 answers.
func (d *Device) MemGetAllocationGranularity(prop device.MemProp, option device.MemGranularity) (uint64, device.Code) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.Lookup); c != device.Success {
		return 0, c
	}
	switch {
	case option != device.MemGranularityMinimum && option != device.MemGranularityRecommended:
		return 0, device.ErrorInvalidValue
	case prop.Location.ID != 0:
		return 0, device.ErrorInvalidDevice
	}
	return d.virtual.granularity, device.Success
}

// checkLocation answers what a call does with a location: there is one device.
func checkLocation(l device.MemLocation) device.Code {
	switch {
	case l.Type != device.MemLocationDevice:
		return device.ErrorInvalidValue
	case l.ID != 0:
		return device.ErrorInvalidDevice
	}
	return device.Success
}

// MemAddressReserve takes the lowest addresses that are free, or addr where it is free and aligned. They cost no
// memory. An addr inside a granule is refused, where the manual calls it a hint: so an H200 with driver 580 answers.
func (d *Device) MemAddressReserve(size, alignment uint64, addr device.Ptr, flags uint64) (device.Ptr, device.Code) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.Lookup); c != device.Success {
		return 0, c
	}
	if !d.virtual.whole(size) || alignment != 0 && !powerOfTwo(alignment) || uint64(addr)%d.virtual.granularity != 0 ||
		flags != 0 {
		return 0, device.ErrorInvalidValue
	}
	base := d.virtual.reserve(size, max(alignment, d.virtual.granularity), uint64(addr))
	if base == 0 {
		return 0, device.ErrorOutOfMemory
	}
	d.charge(d.profile.AddressReserve.At(size))
	return device.Ptr(base), device.Success
}

// MemAddressFree gives addresses back, exactly as they were reserved, once nothing is mapped there.
func (d *Device) MemAddressFree(p device.Ptr, size uint64) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.Lookup); c != device.Success {
		return c
	}
	r := d.virtual.holding(uint64(p))
	if r == nil || *r != (reservation{uint64(p), size}) {
		return device.ErrorInvalidValue
	}
	if _, placed := d.virtual.between(r.base, r.end()); len(placed) > 0 {
		return device.ErrorInvalidValue
	}
	i := d.virtual.at(r.base)
	d.virtual.reservations = slices.Delete(d.virtual.reservations, i, i+1)
	d.charge(d.profile.AddressFree.At(size))
	return device.Success
}

// MemCreate makes physical memory, all poison. It counts as taken from now on, mapped or not.
func (d *Device) MemCreate(size uint64, prop device.MemProp, flags uint64) (device.MemHandle, device.Code) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.Lookup); c != device.Success {
		return 0, c
	}
	if !d.virtual.whole(size) || prop.Type != device.MemAllocationPinned || flags != 0 {
		return 0, device.ErrorInvalidValue
	}
	if c := checkLocation(prop.Location); c != device.Success {
		return 0, c
	}
	if size > d.limit {
		return 0, device.ErrorOutOfMemory
	}
	if size > d.limit-d.reserved {
		d.reclaim()
	}
	if size > d.limit-d.reserved {
		return 0, device.ErrorOutOfMemory
	}
	d.reserved += size
	d.charge(d.profile.MemCreate.At(size))
	h := device.MemHandle(d.newHandle())
	d.virtual.physical[h] = &physical{size: size, uses: 1}
	return h, device.Success
}

// MemRelease gives a handle up. The memory goes back now, or with its last mapping.
func (d *Device) MemRelease(h device.MemHandle) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.Lookup); c != device.Success {
		return c
	}
	x := d.virtual.physical[h]
	if x == nil {
		return device.ErrorInvalidValue
	}
	delete(d.virtual.physical, h)
	d.letGo(x)
	return device.Success
}

// letGo takes one use of physical memory away. With the last, the memory goes back.
func (d *Device) letGo(x *physical) {
	if x.uses--; x.uses > 0 {
		return
	}
	for _, c := range x.chunks {
		if c != nil {
			d.mem.keep(c)
		}
	}
	d.reserved -= x.size
	d.charge(d.profile.MemRelease.At(x.size))
}

// MemMap puts all of a handle's memory behind addresses. Nobody has access to it yet. The manual wants all of them
// reserved; only the first has to be, and what follows may be another reservation's or nobody's: so an H200 with driver
// 580 answers.
func (d *Device) MemMap(p device.Ptr, size, offset uint64, h device.MemHandle, flags uint64) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.Lookup); c != device.Success {
		return c
	}
	base, x := uint64(p), d.virtual.physical[h]
	switch {
	case x == nil, size == 0, flags != 0, base%d.virtual.granularity != 0, d.virtual.holding(base) == nil:
		return device.ErrorInvalidValue
	case size != x.size, offset != 0:
		return device.ErrorNotSupported
	}
	i, placed := d.virtual.between(base, base+size)
	if len(placed) > 0 {
		return device.ErrorInvalidValue
	}
	x.uses++
	d.virtual.placed = slices.Insert(d.virtual.placed, i,
		&placement{mapping: mapping{base: base, size: size, shared: x}, physical: x})
	d.charge(d.profile.MemMap)
	return device.Success
}

// MemUnmap takes the memory behind addresses away: whole mappings, as many as there are, none included. It takes any
// addresses that begin in a reservation, and waits for nothing, where the manual calls it synchronous: so an H200 with
// driver 580 answers.
func (d *Device) MemUnmap(p device.Ptr, size uint64) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.Lookup); c != device.Success {
		return c
	}
	base, end := uint64(p), uint64(p)+size
	first, placed := d.virtual.between(base, end)
	n := len(placed)
	if d.virtual.holding(base) == nil || end <= base || n > 0 && (placed[0].base < base || placed[n-1].end() > end) {
		return device.ErrorInvalidValue
	}
	d.setAccess(placed, device.MemAccessNone)
	for _, x := range placed {
		d.charge(d.profile.MemUnmap.At(x.size))
		d.letGo(x.physical)
	}
	d.virtual.placed = slices.Delete(d.virtual.placed, first, first+n)
	return d.fault
}

// MemSetAccess says what the device may do with the memory behind addresses: whole mappings, from the first to the last
// of them. Behind a hole it changes nothing and still succeeds, and it waits for nothing, where the manual calls it
// synchronous: so an H200 with driver 580 answers. It costs as much for each mapping as it would alone.
func (d *Device) MemSetAccess(p device.Ptr, size uint64, desc []device.MemAccessDesc) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.Lookup); c != device.Success {
		return c
	}
	base, end := uint64(p), uint64(p)+size
	_, placed := d.virtual.between(base, end)
	n := len(placed)
	if n == 0 || placed[0].base != base || placed[n-1].end() != end || len(desc) == 0 {
		return device.ErrorInvalidValue
	}
	for _, x := range desc {
		if c := checkLocation(x.Location); c != device.Success {
			return c
		}
		switch x.Access {
		case device.MemAccessNone, device.MemAccessRead, device.MemAccessReadWrite:
		default:
			return device.ErrorInvalidValue
		}
	}
	joined := 1
	for joined < n && placed[joined].base == placed[joined-1].end() {
		joined++
	}
	placed = placed[:joined]
	d.setAccess(placed, desc[len(desc)-1].Access) // all are the one device's: the last one holds
	for _, x := range placed {
		d.charge(d.profile.MemSetAccess.At(x.size))
	}
	return d.fault
}

// setAccess changes what may be done with mappings; without access they are no part of the device's memory. Work that
// has ended by now has found them as they were. Work that has not finds them as they will be: an illegal address,
// unless it may do there what it does.
func (d *Device) setAccess(placed []*placement, access device.MemAccess) {
	if slices.ContainsFunc(placed, func(x *placement) bool { return x.access != access }) {
		d.settle()
	}
	for _, x := range placed {
		before := x.access
		x.access, x.readOnly = access, access == device.MemAccessRead
		switch {
		case before == device.MemAccessNone && access != device.MemAccessNone:
			d.mem.show(&x.mapping)
		case before != device.MemAccessNone && access == device.MemAccessNone:
			d.mem.hide(&x.mapping)
		}
		if before == device.MemAccessRead {
			d.virtual.readOnly--
		}
		if access == device.MemAccessRead {
			d.virtual.readOnly++
		}
	}
}
