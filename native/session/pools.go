package session

import (
	"slices"

	"cudalab/native/device"
	"cudalab/native/trace"
)

// MemPool is a memory pool's identity: the driver reuses the handles of destroyed ones. A nil *MemPool is the null
// pool.
type MemPool struct{ *poolState }

type poolState struct {
	object
	handle   device.Pool
	standard bool   // the device's default pool
	made     uint32 // the trace it was made in, 0 for none
}

// Destroyed reports whether the pool has been destroyed.
func (x *MemPool) Destroyed() bool { return x.dead.Load() }

func (x *MemPool) usable(s *Session) bool { return x == nil || x.alive(s) }

func (x *MemPool) raw() device.Pool {
	if x == nil {
		return 0
	}
	return x.handle
}

// poolID is the pool's identity in the trace, under the rules of streamID. The default pool's is 0.
func (s *Session) poolID(x *MemPool) trace.ID {
	if x == nil || x.owner != s || x.standard {
		return 0
	}
	if x.epoch != s.epoch {
		x.name(&s.counts.pools, s.epoch)
		s.add(trace.Record{Op: trace.OpMemPoolCreate, Pool: x.id, Time: s.dev.Now()})
	}
	return x.id
}

// poolOf is the pool behind a handle that the device has answered: one value for each pool. The lock is held.
func (s *Session) poolOf(handle device.Pool) *MemPool {
	for _, x := range s.pools {
		if x.handle == handle {
			return x
		}
	}
	standard, code := s.dev.DeviceGetDefaultMemPool()
	return s.newPool(handle, code == device.Success && handle == standard)
}

func (s *Session) newPool(handle device.Pool, standard bool) *MemPool {
	x := &MemPool{&poolState{object: object{owner: s, lent: standard || !s.guest.Load()},
		handle: handle, standard: standard}}
	s.pools = append(s.pools, x)
	return x
}

// What follows holds the lock also with tracing off, MallocFromPoolAsync excepted: the session keeps the book of which
// pool is current.

// MemPoolCreate makes a pool of a device's memory. Any ordinal but 0 is answered ErrorInvalidDevice.
func (s *Session) MemPoolCreate(ordinal int) (x *MemPool, code device.Code) {
	code = s.call(trace.Record{Op: trace.OpMemPoolCreate}, named{}, func(r *trace.Record) device.Code {
		if ordinal != 0 {
			return device.ErrorInvalidDevice
		}
		handle, code := s.dev.MemPoolCreate()
		if code != device.Success {
			return code
		}
		x = s.newPool(handle, false)
		if s.tracing {
			x.name(&s.counts.pools, s.epoch)
			x.made = s.epoch
			r.Pool = x.id
		}
		return code
	})
	return x, code
}

// MemPoolDestroy destroys a pool. What is allocated from it stays valid.
func (s *Session) MemPoolDestroy(x *MemPool) device.Code {
	if x != nil {
		s.take(trace.OpMemPoolDestroy, &x.object)
	}
	return s.call(trace.Record{Op: trace.OpMemPoolDestroy}, named{pool: x}, func(*trace.Record) device.Code {
		code := s.dev.MemPoolDestroy(x.raw())
		if code == device.Success && x != nil {
			s.forgetPool(x)
		}
		return code
	})
}

// forgetPool enters that a pool has been destroyed. The lock is held.
func (s *Session) forgetPool(x *MemPool) {
	x.dead.Store(true)
	s.pools = slices.DeleteFunc(s.pools, func(other *MemPool) bool { return other == x })
	if s.current == x {
		s.current = nil
	}
}

// MemPoolTrimTo gives back what a pool does not use, down to so many bytes. A negative number is answered
// ErrorInvalidValue: it would reach the driver as an enormous one.
func (s *Session) MemPoolTrimTo(x *MemPool, keep int64) device.Code {
	r := trace.Record{Op: trace.OpMemPoolTrimTo, Value: uint64(keep)}
	return s.call(r, named{pool: x}, func(*trace.Record) device.Code {
		if keep < 0 {
			return device.ErrorInvalidValue
		}
		return s.dev.MemPoolTrimTo(x.raw(), uint64(keep))
	})
}

// MemPoolGetAttribute reads an attribute of a pool.
func (s *Session) MemPoolGetAttribute(x *MemPool, attr device.PoolAttr) (value uint64, code device.Code) {
	r := trace.Record{Op: trace.OpMemPoolGetAttribute, Attr: int32(attr)}
	code = s.call(r, named{pool: x}, func(r *trace.Record) (code device.Code) {
		value, code = s.dev.MemPoolGetAttribute(x.raw(), attr)
		r.Value = value
		return code
	})
	return value, code
}

// MemPoolSetAttribute sets an attribute of a pool.
func (s *Session) MemPoolSetAttribute(x *MemPool, attr device.PoolAttr, value uint64) device.Code {
	r := trace.Record{Op: trace.OpMemPoolSetAttribute, Attr: int32(attr), Value: value}
	return s.call(r, named{pool: x}, func(*trace.Record) device.Code {
		return s.dev.MemPoolSetAttribute(x.raw(), attr, value)
	})
}

// DeviceGetDefaultMemPool is the pool that a device begins with.
func (s *Session) DeviceGetDefaultMemPool(ordinal int) (x *MemPool, code device.Code) {
	return s.poolOfDevice(trace.OpDeviceGetDefaultMemPool, ordinal, s.dev.DeviceGetDefaultMemPool)
}

// DeviceGetMemPool is a device's current pool: the one that MallocAsync takes from.
func (s *Session) DeviceGetMemPool(ordinal int) (x *MemPool, code device.Code) {
	return s.poolOfDevice(trace.OpDeviceGetMemPool, ordinal, s.dev.DeviceGetMemPool)
}

func (s *Session) poolOfDevice(op trace.Op, ordinal int, ask func() (device.Pool, device.Code)) (x *MemPool,
	code device.Code) {
	code = s.call(trace.Record{Op: op}, named{}, func(*trace.Record) device.Code {
		if ordinal != 0 {
			return device.ErrorInvalidDevice
		}
		handle, code := ask()
		if code != device.Success {
			return code
		}
		x = s.poolOf(handle)
		return code
	})
	return x, code
}

// DeviceSetMemPool makes a pool a device's current one.
func (s *Session) DeviceSetMemPool(ordinal int, x *MemPool) device.Code {
	return s.call(trace.Record{Op: trace.OpDeviceSetMemPool}, named{pool: x}, func(*trace.Record) device.Code {
		if ordinal != 0 {
			return device.ErrorInvalidDevice
		}
		code := s.dev.DeviceSetMemPool(x.raw())
		if code == device.Success {
			s.current = x
		}
		return code
	})
}

// MallocFromPoolAsync allocates device memory in a stream's order, from a pool.
func (s *Session) MallocFromPoolAsync(size int64, from *MemPool, x *Stream) (p device.Ptr, code device.Code) {
	if !s.watched.Load() && size >= 0 && from.usable(s) && x.usable(s) {
		p, code = s.dev.MemAllocFromPoolAsync(uint64(size), from.raw(), x.raw())
		return p, s.note(code)
	}
	code = s.call(trace.Record{Op: trace.OpMallocFromPoolAsync, Size: size}, named{stream: x, pool: from},
		func(r *trace.Record) (code device.Code) {
			if code = s.refuse(r, size); code == device.Success {
				rise := s.rise(r)
				p, code = s.dev.MemAllocFromPoolAsync(uint64(size), from.raw(), x.raw())
				r.Value = rise()
				s.allocated(r, p, size, code)
			}
			return code
		})
	return p, code
}

// rise answers by how many bytes the pool that a call allocates from, unless it is the default one, holds more from the
// system than before. The device is asked itself: what the student's code asks shows it in some programs and in others
// not.
func (s *Session) rise(r *trace.Record) func() uint64 {
	i := slices.IndexFunc(s.pools, func(x *MemPool) bool { return x.epoch == s.epoch && x.id == r.Pool })
	if !s.tracing || r.Pool == 0 || i < 0 {
		return func() uint64 { return 0 }
	}
	reserved := func() uint64 {
		bytes, _ := s.dev.MemPoolGetAttribute(s.pools[i].handle, device.PoolReservedMemCurrent)
		return bytes
	}
	before := reserved()
	return func() uint64 { return reserved() - before }
}
