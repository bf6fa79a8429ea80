package sim

import (
	"slices"
	"sort"

	"cudalab/native/device"
)

// Where reserved addresses lie: between the default pool's and MemAlloc's.
const (
	virtualBase = 0x2000_0000_0000
	virtualEnd  = 0x7000_0000_0000
)

// leastGranularity is the smallest Options.Granularity: a page of the host.
const leastGranularity = 4 << 10

// virtual is what virtual memory management has made: addresses, physical memory, and which of it is mapped where.
type virtual struct {
	granularity  uint64
	reservations []*reservation // by address
	placed       []*placement   // by address: one may reach beyond the reservation it starts in
	physical     map[device.MemHandle]*physical
	readOnly     int // placements that may be read and not written
}

// reservation is a stretch of addresses that MemAddressReserve has handed out.
type reservation struct{ base, size uint64 }

// physical is memory that MemCreate has made. Its handle goes with MemRelease; the memory is there until it is neither
// held by a handle nor mapped.
type physical struct {
	size   uint64
	chunks []*chunk // shared by its placements; nil until the first touch
	uses   int      // placements, and one for the handle
}

// placement is physical memory at reserved addresses. Its mapping is part of the device's memory while there is access.
type placement struct {
	mapping
	physical *physical
	access   device.MemAccess
}

// newVirtual panics on a granularity that is none: a fault in a suite, never a student's.
func newVirtual(granularity uint64) virtual {
	if granularity < leastGranularity || !powerOfTwo(granularity) {
		panic("sim: the granularity must be a power of two and at least 4 KiB")
	}
	return virtual{granularity: granularity, physical: map[device.MemHandle]*physical{}}
}

func powerOfTwo(n uint64) bool { return n > 0 && n&(n-1) == 0 }

// whole reports whether a size is one that can be reserved, made or mapped.
func (v *virtual) whole(size uint64) bool { return size > 0 && size%v.granularity == 0 }

func (r *reservation) end() uint64 { return r.base + r.size }

// reserve takes addresses: those wished for where they are free and aligned, or else the lowest. It answers 0 where
// there are none.
func (v *virtual) reserve(size, alignment, wish uint64) uint64 {
	base, i := v.room(size, alignment, virtualBase)
	if wish >= virtualBase {
		if near, j := v.room(size, alignment, wish); near == wish {
			base, i = near, j
		}
	}
	if base != 0 {
		v.reservations = slices.Insert(v.reservations, i, &reservation{base: base, size: size})
	}
	return base
}

// room is the lowest aligned address, from one on, at which size bytes are free, and the index of a reservation there.
// It answers address 0 where there is none.
func (v *virtual) room(size, alignment, from uint64) (base uint64, i int) {
	base = roundUp(from, alignment)
	for i = v.at(base); i < len(v.reservations) && v.reservations[i].base < base+size; i++ {
		base = roundUp(v.reservations[i].end(), alignment)
	}
	if base > virtualEnd || size > virtualEnd-base {
		return 0, 0
	}
	return base, i
}

// at is the index of the first reservation that ends behind an address.
func (v *virtual) at(address uint64) int {
	return sort.Search(len(v.reservations), func(i int) bool { return v.reservations[i].end() > address })
}

// holding is the reservation that an address lies in, or nil.
func (v *virtual) holding(address uint64) *reservation {
	if i := v.at(address); i < len(v.reservations) && v.reservations[i].base <= address {
		return v.reservations[i]
	}
	return nil
}

// placedAt is the index of the first placement that ends behind an address.
func (v *virtual) placedAt(address uint64) int {
	return sort.Search(len(v.placed), func(i int) bool { return v.placed[i].end() > address })
}

// between are the placements that have any of the addresses from base up to end, from the index first on.
func (v *virtual) between(base, end uint64) (first int, placed []*placement) {
	first = v.placedAt(base)
	last := first
	for last < len(v.placed) && v.placed[last].base < end {
		last++
	}
	return first, v.placed[first:last]
}

// permits reports whether the access that was set covers one of a kind.
func (x *placement) permits(kind device.AccessKind) bool {
	return x.access == device.MemAccessReadWrite || x.access == device.MemAccessRead && kind == device.Read
}

// allows reports whether these addresses, at least one, are mapped without a gap and may be accessed so.
func (v *virtual) allows(base, size uint64, kind device.AccessKind) bool {
	for i := v.placedAt(base); i < len(v.placed) && v.placed[i].base <= base && v.placed[i].permits(kind); i++ {
		n := v.placed[i].end() - base
		if size <= n {
			return true
		}
		base, size = base+n, size-n
	}
	return false
}

// forbids reports whether a kernel writes where it may only read. A kernel's view of memory does not tell the two
// apart.
func (v *virtual) forbids(l *device.Launch) bool {
	if v.readOnly == 0 {
		return false
	}
	return slices.ContainsFunc(l.Kernel.Accesses(l, nil), func(a device.Access) bool {
		return a.Kind != device.Read && v.touchesReadOnly(uint64(a.Ptr), a.Size)
	})
}

// touchesReadOnly reports whether any of these addresses may be read and not written.
func (v *virtual) touchesReadOnly(base, size uint64) bool {
	_, placed := v.between(base, base+size)
	return slices.ContainsFunc(placed, func(x *placement) bool { return x.readOnly })
}
