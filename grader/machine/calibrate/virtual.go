package calibrate

import (
	"cudalab/native/device"
	"cudalab/native/sim"
)

// virtualSteps measure virtual memory management.
var virtualSteps = []step{
	{"what virtual memory management costs", mappingConstants, (*meter).mappings},
}

var mappingConstants = []string{"address_reserve_ns", "address_free_ns", "mem_create_ns", "mem_map_ns",
	"mem_set_access_ns",
	"mem_unmap_ns", "mem_release_ns"}

// physical is the memory that is made.
var physical = device.MemProp{Type: device.MemAllocationPinned,
	Location: device.MemLocation{Type: device.MemLocationDevice}}

// mappings makes one mapping of each size and takes it apart again, call by call.
func (m *meter) mappings() {
	if !m.d.Info().VirtualMemory {
		for _, name := range mappingConstants {
			m.unknown[name] = true
		}
		return
	}
	var sizes []uint64
	for _, n := range []uint64{1, 2, 8, 16, 32, 64, 128, 256, 512} {
		sizes = append(sizes, n*m.profile.Granularity)
	}
	access := []device.MemAccessDesc{{Location: physical.Location, Access: device.MemAccessReadWrite}}
	var (
		p device.Ptr
		h device.MemHandle
	)
	calls := []struct {
		name string
		call func(size uint64) device.Code
	}{
		{"cuMemAddressReserve", func(size uint64) (code device.Code) {
			p, code = m.d.MemAddressReserve(size, 0, 0,
				0)
			return code
		}},
		{"cuMemCreate", func(size uint64) (code device.Code) { h, code = m.d.MemCreate(size, physical, 0); return code }},
		{"cuMemMap", func(size uint64) device.Code { return m.d.MemMap(p, size, 0, h, 0) }},
		{"cuMemSetAccess", func(size uint64) device.Code { return m.d.MemSetAccess(p, size, access) }},
		{"cuMemUnmap", func(size uint64) device.Code { return m.d.MemUnmap(p, size) }},
		{"cuMemRelease", func(uint64) device.Code { return m.d.MemRelease(h) }},
		{"cuMemAddressFree", func(size uint64) device.Code { return m.d.MemAddressFree(p, size) }},
	}
	found := m.curves(len(calls), m.affordable(sizes...), func(size uint64, times timing) {
		for i, c := range calls {
			times[i] = append(times[i], m.took(c.name, func() device.Code { return c.call(size) }))
		}
	})
	m.profile.AddressReserve, m.profile.MemCreate, m.profile.MemSetAccess = found[0], found[1], found[3]
	m.profile.MemUnmap, m.profile.MemRelease, m.profile.AddressFree = found[4], found[5], found[6]
	m.profile.MemMap = middle(found[2])
}

// middle is the median of a curve's costs, for what does not depend on the size.
func middle(c sim.Curve) int64 {
	var all []int64
	for _, point := range c {
		all = append(all, point.Nanos)
	}
	return median(all)
}
