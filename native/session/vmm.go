package session

import (
	"slices"

	"cudalab/native/device"
	"cudalab/native/trace"
)

// MemHandle is the identity of physical memory: the driver reuses the handles of memory that is gone. A nil *MemHandle
// is the null handle. The memory lives until the handle is released and nothing maps it any more.
type MemHandle struct{ *handleState }

type handleState struct {
	object
	handle   device.MemHandle
	size     int64
	made     uint32 // the trace it was made in, 0 for none
	mappings int    // made and not unmapped while tracing; guarded by owner.mu
}

// Size is the memory's size in bytes.
func (x *MemHandle) Size() int64 { return x.size }

// Released reports whether the handle has been released.
func (x *MemHandle) Released() bool { return x.dead.Load() }

func (x *MemHandle) usable(s *Session) bool { return x == nil || x.alive(s) }

func (x *MemHandle) raw() device.MemHandle {
	if x == nil {
		return 0
	}
	return x.handle
}

// memRange is a reserved range of addresses.
type memRange struct {
	base device.Ptr
	size uint64
}

// memoryID is the memory's identity in the trace, under the rules of streamID. It counts with the allocations.
func (s *Session) memoryID(x *MemHandle) trace.ID {
	if x.owner != s {
		return 0
	}
	if x.epoch != s.epoch {
		x.name(&s.counts.allocations, s.epoch)
		s.add(trace.Record{
			Op: trace.OpMemCreate, Alloc: x.id, Size: x.size, Time: s.dev.Now(),
		})
	}
	return x.id
}

// Sizes, alignments and offsets below 0 are answered ErrorInvalidValue here, and a device other than 0
// ErrorInvalidDevice: neither reaches the driver.

// noDevice reports whether a location is a device that does not exist.
func noDevice(l device.MemLocation) bool { return l.Type == device.MemLocationDevice && l.ID != 0 }

// MemGetAllocationGranularity is what the sizes of such memory, and the addresses it is mapped to, must be multiples
// of, in bytes.
func (s *Session) MemGetAllocationGranularity(prop device.MemProp, option device.MemGranularity) (int64, device.Code) {
	var size uint64
	ask := func() (code device.Code) {
		if noDevice(prop.Location) {
			return device.ErrorInvalidDevice
		}
		size, code = s.dev.MemGetAllocationGranularity(prop, option)
		return code
	}
	if !s.watched.Load() {
		code := s.note(ask())
		return int64(size), code
	}
	code := s.call(trace.Record{Op: trace.OpMemGetAllocationGranularity}, named{},
		func(*trace.Record) device.Code { return ask() })
	return int64(size), code
}

// MemAddressReserve takes size bytes of address space, near addr if that is free; an alignment of 0 is the default.
func (s *Session) MemAddressReserve(size, alignment int64, addr device.Ptr, flags uint64) (p device.Ptr,
	code device.Code) {
	reserve := func() (code device.Code) {
		if size < 0 || alignment < 0 {
			return device.ErrorInvalidValue
		}
		p, code = s.dev.MemAddressReserve(uint64(size), uint64(alignment), addr, flags)
		return code
	}
	if !s.watched.Load() {
		code = s.note(reserve())
		return p, code
	}
	r := trace.Record{Op: trace.OpMemAddressReserve, Size: size, Value: uint64(alignment)}
	code = s.call(r, named{}, func(r *trace.Record) device.Code {
		code := reserve()
		if code == device.Success {
			r.Addr = uint64(p)
			if s.tracing {
				s.ranges = append(s.ranges, memRange{p, uint64(size)})
			}
		}
		return code
	})
	return p, code
}

// MemAddressFree gives reserved addresses back, exactly as they were reserved.
func (s *Session) MemAddressFree(p device.Ptr, size int64) device.Code {
	if !s.watched.Load() && size >= 0 {
		return s.note(s.dev.MemAddressFree(p, uint64(size)))
	}
	return s.call(trace.Record{Op: trace.OpMemAddressFree, Addr: uint64(p), Size: size}, named{},
		func(*trace.Record) device.Code {
			if size < 0 {
				return device.ErrorInvalidValue
			}
			code := s.dev.MemAddressFree(p, uint64(size))
			if code == device.Success {
				s.ranges = slices.DeleteFunc(s.ranges, func(x memRange) bool { return x.base == p })
				s.rewatch()
			}
			return code
		})
}

// MemCreate makes physical memory. It counts against the quota.
func (s *Session) MemCreate(size int64, prop device.MemProp, flags uint64) (*MemHandle, device.Code) {
	x := &MemHandle{&handleState{object: object{owner: s}, size: size}}
	create := func() (code device.Code) {
		if noDevice(prop.Location) {
			return device.ErrorInvalidDevice
		}
		x.handle, code = s.dev.MemCreate(uint64(size), prop, flags)
		return code
	}
	var code device.Code
	if !s.watched.Load() && size >= 0 {
		code = s.note(create())
	} else {
		code = s.call(trace.Record{Op: trace.OpMemCreate, Size: size}, named{}, func(r *trace.Record) device.Code {
			code := s.refuse(r, size)
			if code == device.Success {
				code = create()
			}
			if code == device.Success && s.tracing {
				x.name(&s.counts.allocations, s.epoch)
				x.made = s.epoch
				r.Alloc = x.id
				s.handles = append(s.handles, x)
				s.asked += uint64(size)
			}
			return code
		})
	}
	if code != device.Success {
		return nil, code
	}
	return x, code
}

// MemRelease gives a handle up. Memory that is mapped lives on until it is unmapped.
func (s *Session) MemRelease(x *MemHandle) device.Code {
	release := func() device.Code {
		if x == nil {
			return s.dev.MemRelease(0)
		}
		if x.dead.Swap(true) {
			return device.ErrorInvalidValue
		}
		code := s.dev.MemRelease(x.handle)
		x.dead.Store(code == device.Success)
		return code
	}
	if !s.watched.Load() && x.usable(s) {
		return s.note(release())
	}
	return s.call(trace.Record{Op: trace.OpMemRelease}, named{memory: x}, func(*trace.Record) device.Code {
		code := release()
		if code == device.Success && x != nil {
			s.dropped(x)
		}
		return code
	})
}

// MemMap puts physical memory, from an offset on, behind reserved addresses.
func (s *Session) MemMap(p device.Ptr, size, offset int64, x *MemHandle, flags uint64) device.Code {
	if !s.watched.Load() && size >= 0 && offset >= 0 && x.usable(s) {
		return s.note(s.dev.MemMap(p, uint64(size), uint64(offset), x.raw(), flags))
	}
	r := trace.Record{Op: trace.OpMemMap, Addr: uint64(p), Size: size, Value: uint64(offset)}
	return s.call(r, named{memory: x}, func(r *trace.Record) device.Code {
		if size < 0 || offset < 0 {
			return device.ErrorInvalidValue
		}
		code := s.dev.MemMap(p, uint64(size), uint64(offset), x.raw(), flags)
		if code == device.Success && x != nil && (s.tracing || s.sweeps(p)) {
			s.memory.add(&allocation{id: x.id, base: p, size: size, memory: x, offset: offset})
			x.mappings++
		}
		return code
	})
}

// sweeps reports whether an address lies in a range that Sweep is to give back, and so must empty. The lock is held.
func (s *Session) sweeps(p device.Ptr) bool {
	return slices.ContainsFunc(s.ranges, func(r memRange) bool { return p >= r.base && uint64(p-r.base) < r.size })
}

// MemUnmap takes the memory behind addresses away: whole mappings, one or several. It is taken for a call that may
// wait: the manual calls it synchronous for most uses, though it was not seen to wait (H200, driver 580).
func (s *Session) MemUnmap(p device.Ptr, size int64) device.Code {
	unmap := func() device.Code { return s.dev.MemUnmap(p, uint64(size)) }
	if !s.watched.Load() && size >= 0 {
		return s.note(unmap())
	}
	var mappings []*allocation
	return s.wait(trace.Record{Op: trace.OpMemUnmap, Addr: uint64(p), Size: size}, named{},
		func(*trace.Record) device.Code {
			if size < 0 {
				return device.ErrorInvalidValue
			}
			mappings = s.unmapping(p, size)
			return device.Success
		}, unmap,
		func(_ *trace.Record, code device.Code) { s.unmapped(mappings, code) })
}

// unmapping lists the mappings between two addresses and takes them for freed before the device is asked: afterwards
// the addresses may already be another's. It lists none if one reaches beyond, which the device does not accept. The
// lock is held.
func (s *Session) unmapping(p device.Ptr, size int64) (mappings []*allocation) {
	lo, hi := uint64(p), uint64(p)+uint64(size)
	for x, ok := s.memory.live.From(lo); ok && x.Lo < hi; x, ok = s.memory.live.From(x.Hi) {
		if x.Lo < lo || x.Hi > hi {
			return nil
		}
		if x.Value.memory != nil {
			mappings = append(mappings, x.Value)
		}
	}
	for _, m := range mappings {
		s.memory.remove(m)
	}
	return mappings
}

// unmapped takes unmapping back if the call failed. The lock is held.
func (s *Session) unmapped(mappings []*allocation, code device.Code) {
	for _, m := range mappings {
		if code != device.Success {
			s.memory.restore(m)
			continue
		}
		s.blocks.forget(m)
		m.memory.mappings--
		s.dropped(m.memory)
	}
	s.rewatch()
}

// dropped gives the quota back what a handle's memory took of it, if nothing holds that memory any more. The lock is
// held.
func (s *Session) dropped(x *MemHandle) {
	if x.dead.Load() && x.mappings == 0 && x.made != 0 && x.made == s.epoch {
		s.handles = slices.DeleteFunc(s.handles, func(other *MemHandle) bool { return other == x })
		s.asked -= uint64(x.size)
		s.rewatch()
	}
}

// MemSetAccess says who may use the memory behind addresses.
func (s *Session) MemSetAccess(p device.Ptr, size int64, desc []device.MemAccessDesc) device.Code {
	set := func() device.Code {
		if size < 0 {
			return device.ErrorInvalidValue
		}
		if slices.ContainsFunc(desc, func(d device.MemAccessDesc) bool { return noDevice(d.Location) }) {
			return device.ErrorInvalidDevice
		}
		return s.dev.MemSetAccess(p, uint64(size), desc)
	}
	if !s.watched.Load() {
		return s.note(set())
	}
	r := trace.Record{Op: trace.OpMemSetAccess, Addr: uint64(p), Size: size}
	if len(desc) > 0 {
		r.Flags = uint32(desc[0].Access)
	}
	return s.call(r, named{}, func(*trace.Record) device.Code { return set() })
}
