package session

import (
	"cudalab/native/device"
	"cudalab/native/trace"
)

// HostRead copies len(dst) bytes out of pinned memory, as the host's own loads do: without waiting for anything. A
// range outside the buffer, or a buffer that was freed, is answered ErrorInvalidValue.
func (s *Session) HostRead(x *HostBuffer, offset int64, dst []byte) device.Code {
	return s.hostAccess(trace.OpHostRead, trace.Read, x, offset, dst, func() {
		s.dev.HostRead(x.handle, uint64(offset), dst)
	})
}

// HostWrite copies src into pinned memory, under HostRead's rules.
func (s *Session) HostWrite(x *HostBuffer, offset int64, src []byte) device.Code {
	return s.hostAccess(trace.OpHostWrite, trace.Write, x, offset, src, func() {
		s.dev.HostWrite(x.handle, uint64(offset), src)
	})
}

func (s *Session) hostAccess(op trace.Op, kind trace.AccessKind, x *HostBuffer, offset int64, bytes []byte,
	access func()) device.Code {
	size := int64(len(bytes))
	legal := x != nil && x.alive(s) && Host{Buffer: x, Offset: offset}.fits(s, size)
	if !s.watched.Load() && legal {
		access()
		return device.Success
	}
	r := trace.Record{Op: op, Host: trace.Pinned, Size: size}
	return s.call(r, named{buffer: x}, func(r *trace.Record) device.Code {
		if x != nil {
			r.Addr = uint64(x.handle) + uint64(offset)
			s.touchBuffer(r, x, offset, size, kind, 0)
		}
		if !legal {
			return device.ErrorInvalidValue
		}
		if kind == trace.Write {
			s.givenBytes(r, bytes)
		}
		access()
		return device.Success
	})
}

// touchBuffer appends an access to pinned memory to r. The lock is held.
func (s *Session) touchBuffer(r *trace.Record, x *HostBuffer, offset, size int64, kind trace.AccessKind, arg uint8) {
	a := trace.Access{Offset: offset, Size: size, Kind: kind, Arg: arg}
	if x.owner == s {
		a.Alloc, a.Freed = x.id, x.dead.Load()
	}
	s.access(r, a)
}
