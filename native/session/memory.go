package session

import (
	"cudalab/native/device"
	"cudalab/native/trace"
)

// Malloc allocates device memory. A negative size is answered ErrorInvalidValue here, as it is everywhere: it would
// reach the driver as an enormous one.
func (s *Session) Malloc(size int64) (p device.Ptr, code device.Code) {
	if !s.watched.Load() && size >= 0 {
		p, code = s.dev.MemAlloc(uint64(size))
		s.lend(p, code)
		return p, s.note(code)
	}
	code = s.call(trace.Record{Op: trace.OpMalloc, Size: size}, named{}, func(r *trace.Record) (code device.Code) {
		if code = s.refuse(r, size); code == device.Success {
			p, code = s.dev.MemAlloc(uint64(size))
			s.allocated(r, p, size, code)
		}
		return code
	})
	s.lend(p, code)
	return p, code
}

// MallocAsync allocates device memory in a stream's order, from the device's current pool.
func (s *Session) MallocAsync(size int64, x *Stream) (p device.Ptr, code device.Code) {
	if !s.watched.Load() && size >= 0 && x.usable(s) {
		p, code = s.dev.MemAllocAsync(uint64(size), x.raw())
		s.lend(p, code)
		return p, s.note(code)
	}
	code = s.call(trace.Record{Op: trace.OpMallocAsync, Size: size}, named{stream: x},
		func(r *trace.Record) (code device.Code) {
			if code = s.refuse(r, size); code == device.Success {
				rise := s.rise(r)
				p, code = s.dev.MemAllocAsync(uint64(size), x.raw())
				r.Value = rise()
				s.allocated(r, p, size, code)
			}
			return code
		})
	s.lend(p, code)
	return p, code
}

// FreeAsync frees device memory in a stream's order.
func (s *Session) FreeAsync(p device.Ptr, x *Stream) device.Code {
	s.takeMemory(trace.OpFreeAsync, p)
	if !s.watched.Load() && x.usable(s) {
		return s.note(s.dev.MemFreeAsync(p, x.raw()))
	}
	return s.call(trace.Record{Op: trace.OpFreeAsync, Addr: uint64(p)}, named{stream: x},
		func(r *trace.Record) device.Code {
			a := s.freeing(r, p)
			code := s.dev.MemFreeAsync(p, x.raw())
			s.freed(a, code)
			return code
		})
}

// Free frees device memory. It waits for the device if the memory came from Malloc.
func (s *Session) Free(p device.Ptr) device.Code {
	s.takeMemory(trace.OpFree, p)
	if !s.watched.Load() {
		return s.note(s.dev.MemFree(p))
	}
	var a *allocation
	return s.wait(trace.Record{Op: trace.OpFree, Addr: uint64(p)}, named{},
		func(r *trace.Record) device.Code {
			a = s.freeing(r, p)
			return device.Success
		},
		func() device.Code { return s.dev.MemFree(p) },
		func(_ *trace.Record, code device.Code) { s.freed(a, code) })
}

// MallocHost allocates pinned host memory.
func (s *Session) MallocHost(size int64) (*HostBuffer, device.Code) {
	x := &HostBuffer{&bufferState{object: object{owner: s, lent: !s.guest.Load()}, size: size}}
	if !s.watched.Load() && size >= 0 {
		var code device.Code
		x.handle, code = s.dev.MemAllocHost(uint64(size))
		if code != device.Success {
			return nil, s.note(code)
		}
		return x, code
	}
	code := s.wait(trace.Record{Op: trace.OpMallocHost, Size: size}, named{},
		func(r *trace.Record) device.Code { return s.refuse(r, size) },
		func() (code device.Code) {
			x.handle, code = s.dev.MemAllocHost(uint64(size))
			return code
		},
		func(r *trace.Record, code device.Code) {
			if code == device.Success && s.tracing {
				x.name(&s.counts.allocations, s.epoch)
				x.made = s.epoch
				r.Alloc, r.Addr = x.id, uint64(x.handle)
				s.buffers = append(s.buffers, x)
				s.asked += uint64(size)
			}
		})
	if code != device.Success {
		return nil, code
	}
	return x, code
}

// FreeHost frees pinned host memory; nil is the null pointer.
func (s *Session) FreeHost(x *HostBuffer) device.Code {
	if x == nil {
		return s.freeNullHost()
	}
	s.take(trace.OpFreeHost, &x.object)
	free := func() device.Code {
		if x.dead.Swap(true) {
			return device.ErrorInvalidValue
		}
		code := s.dev.MemFreeHost(x.handle)
		x.dead.Store(code == device.Success)
		return code
	}
	if !s.watched.Load() && x.alive(s) {
		return s.note(free())
	}
	return s.wait(trace.Record{Op: trace.OpFreeHost, Addr: uint64(x.handle)}, named{buffer: x},
		func(r *trace.Record) device.Code {
			if s.tracing && x.owner == s {
				r.Alloc, r.Freed = x.id, x.dead.Load()
			}
			if !x.alive(s) {
				return device.ErrorInvalidValue
			}
			return device.Success
		}, free,
		func(_ *trace.Record, code device.Code) {
			if code == device.Success && x.made != 0 && x.made == s.epoch {
				s.asked -= uint64(x.size)
			}
		})
}

func (s *Session) freeNullHost() device.Code {
	free := func() device.Code { return s.dev.MemFreeHost(0) }
	if !s.watched.Load() {
		return s.note(free())
	}
	return s.wait(trace.Record{Op: trace.OpFreeHost}, named{}, nil, free, nil)
}

// refuse answers a request for memory that must not reach the device. The lock is held.
func (s *Session) refuse(r *trace.Record, size int64) device.Code {
	if size < 0 {
		return device.ErrorInvalidValue
	}
	if s.beyondQuota(size) {
		r.Faked = true
		return device.ErrorOutOfMemory
	}
	return device.Success
}

// allocated enters the memory that a call made, if it made any. The lock is held.
func (s *Session) allocated(r *trace.Record, p device.Ptr, size int64, code device.Code) {
	r.Addr = uint64(p)
	if code != device.Success || p == 0 || !s.tracing {
		return
	}
	s.counts.allocations++
	r.Alloc = s.counts.allocations
	s.memory.add(&allocation{id: r.Alloc, base: p, size: size, pooled: r.Op != trace.OpMalloc})
	s.asked += uint64(size)
}

// freeing enters which allocation the address p of a free names, and takes it for freed before the device is asked:
// afterwards the address may already be another's. It is nil if p is not where a live allocation starts. The
// lock is held.
func (s *Session) freeing(r *trace.Record, p device.Ptr) *allocation {
	a, freed, _ := s.memory.find(p)
	if a == nil {
		return nil
	}
	r.Alloc, r.Freed = a.id, freed
	if freed || a.base != p || a.memory != nil {
		return nil
	}
	s.memory.remove(a)
	s.asked -= uint64(a.size)
	s.rewatch()
	return a
}

// freed takes freeing back if the free failed; otherwise there are no blocks in the memory any more. The lock is held.
func (s *Session) freed(a *allocation, code device.Code) {
	switch {
	case a == nil:
	case code == device.Success:
		s.blocks.forget(a)
	default:
		s.memory.restore(a)
		s.asked += uint64(a.size)
		s.rewatch()
	}
}
