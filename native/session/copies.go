package session

import (
	"cudalab/native/device"
	"cudalab/native/trace"
)

// Host is the host's side of a copy: a Go slice, or pinned memory from an offset on.
type Host struct {
	Slice  []byte
	Buffer *HostBuffer // if not nil, the memory is pinned and Slice is unused
	Offset int64
}

// Room is the number of bytes on the host's side; negative if the offset lies beyond its end.
func (h Host) Room() int64 {
	if h.Buffer != nil {
		if h.Offset < 0 {
			return -1
		}
		return h.Buffer.size - h.Offset
	}
	return int64(len(h.Slice))
}

// Freed reports whether the memory is pinned memory that has been freed.
func (h Host) Freed() bool { return h.Buffer != nil && h.Buffer.Freed() }

// fits reports whether count bytes lie inside live memory on the host's side. The session checks it for the device's
// sake and the program's: beyond it lies other Go memory.
func (h Host) fits(s *Session, count int64) bool {
	return count >= 0 && count <= h.Room() && (h.Buffer == nil || h.Buffer.alive(s))
}

// MemcpyHtoD copies to the device and waits until the host's side is no longer needed.
func (s *Session) MemcpyHtoD(dst device.Ptr, src Host, count int64) device.Code {
	return s.copyHost(trace.OpMemcpyHtoD, dst, src, count, nil)
}

// MemcpyDtoH copies from the device and waits for it.
func (s *Session) MemcpyDtoH(dst Host, src device.Ptr, count int64) device.Code {
	return s.copyHost(trace.OpMemcpyDtoH, src, dst, count, nil)
}

// MemcpyHtoDAsync copies to the device in a stream's order.
func (s *Session) MemcpyHtoDAsync(dst device.Ptr, src Host, count int64, x *Stream) device.Code {
	return s.copyHost(trace.OpMemcpyHtoDAsync, dst, src, count, x)
}

// MemcpyDtoHAsync copies from the device in a stream's order.
func (s *Session) MemcpyDtoHAsync(dst Host, src device.Ptr, count int64, x *Stream) device.Code {
	return s.copyHost(trace.OpMemcpyDtoHAsync, src, dst, count, x)
}

func (s *Session) copyHost(op trace.Op, p device.Ptr, h Host, count int64, x *Stream) device.Code {
	if !s.watched.Load() && x.usable(s) && h.fits(s, count) {
		return s.note(s.transfer(op, p, h, count, x))
	}
	prepare := func(r *trace.Record) device.Code {
		s.copyAccesses(r, p, h, count)
		if !h.fits(s, count) {
			return device.ErrorInvalidValue
		}
		if h.Buffer == nil && (op == trace.OpMemcpyHtoD || op == trace.OpMemcpyHtoDAsync) {
			s.givenBytes(r, h.Slice[:count])
		}
		return device.Success
	}
	r := trace.Record{Op: op, Host: trace.Pageable, Addr: uint64(p), Size: count}
	n := named{stream: x, buffer: h.Buffer}
	if h.Buffer != nil {
		r.Host = trace.Pinned
		if op == trace.OpMemcpyHtoDAsync || op == trace.OpMemcpyDtoHAsync {
			return s.call(r, n, func(r *trace.Record) device.Code {
				if code := prepare(r); code != device.Success {
					return code
				}
				return s.transfer(op, p, h, count, x)
			})
		}
	}
	return s.wait(r, n, prepare, func() device.Code { return s.transfer(op, p, h, count, x) }, nil)
}

// copyAccesses enters what a copy touches: the device's side and, if it is pinned, the host's.
func (s *Session) copyAccesses(r *trace.Record, p device.Ptr, h Host, count int64) {
	onDevice, onHost := trace.Write, trace.Read
	deviceArg, hostArg := uint8(0), uint8(1)
	if r.Op == trace.OpMemcpyDtoH || r.Op == trace.OpMemcpyDtoHAsync {
		onDevice, onHost = onHost, onDevice
		deviceArg, hostArg = hostArg, deviceArg
	}
	s.touch(r, p, count, onDevice, deviceArg)
	if h.Buffer != nil {
		s.touchBuffer(r, h.Buffer, h.Offset, count, onHost, hostArg)
	}
}

// transfer asks the device for a copy.
func (s *Session) transfer(op trace.Op, p device.Ptr, h Host, count int64, x *Stream) device.Code {
	if h.Buffer != nil {
		host, offset, size := h.Buffer.handle, uint64(h.Offset), uint64(count)
		switch op {
		case trace.OpMemcpyHtoD:
			return s.dev.MemcpyHostToD(p, host, offset, size)
		case trace.OpMemcpyDtoH:
			return s.dev.MemcpyDToHost(host, offset, p, size)
		case trace.OpMemcpyHtoDAsync:
			return s.dev.MemcpyHostToDAsync(p, host, offset, size, x.raw())
		default:
			return s.dev.MemcpyDToHostAsync(host, offset, p, size, x.raw())
		}
	}
	switch op {
	case trace.OpMemcpyHtoD:
		return s.dev.MemcpyHtoD(p, h.Slice[:count])
	case trace.OpMemcpyDtoH:
		return s.dev.MemcpyDtoH(h.Slice[:count], p)
	case trace.OpMemcpyHtoDAsync:
		return s.dev.MemcpyHtoDAsync(p, h.Slice[:count], x.raw())
	default:
		return s.dev.MemcpyDtoHAsync(h.Slice[:count], p, x.raw())
	}
}

// MemcpyDtoD copies within the device's memory. It does not wait.
func (s *Session) MemcpyDtoD(dst, src device.Ptr, count int64) device.Code {
	if !s.watched.Load() && count >= 0 {
		return s.note(s.dev.MemcpyDtoD(dst, src, uint64(count)))
	}
	return s.call(trace.Record{Op: trace.OpMemcpyDtoD, Addr: uint64(dst), Size: count}, named{},
		func(r *trace.Record) device.Code {
			if count < 0 {
				return device.ErrorInvalidValue
			}
			s.touch(r, dst, count, trace.Write, 0)
			s.touch(r, src, count, trace.Read, 1)
			return s.dev.MemcpyDtoD(dst, src, uint64(count))
		})
}

// MemcpyDtoDAsync copies within the device's memory in a stream's order.
func (s *Session) MemcpyDtoDAsync(dst, src device.Ptr, count int64, x *Stream) device.Code {
	if !s.watched.Load() && count >= 0 && x.usable(s) {
		return s.note(s.dev.MemcpyDtoDAsync(dst, src, uint64(count), x.raw()))
	}
	return s.call(trace.Record{Op: trace.OpMemcpyDtoDAsync, Addr: uint64(dst), Size: count}, named{stream: x},
		func(r *trace.Record) device.Code {
			if count < 0 {
				return device.ErrorInvalidValue
			}
			s.touch(r, dst, count, trace.Write, 0)
			s.touch(r, src, count, trace.Read, 1)
			return s.dev.MemcpyDtoDAsync(dst, src, uint64(count), x.raw())
		})
}

// Filled is how many calls of Memset's and MemsetAsync's were made, traced or not.
func (s *Session) Filled() int64 { return s.filled.Load() }

// Memset sets bytes of device memory. It does not wait.
func (s *Session) Memset(p device.Ptr, value byte, count int64) device.Code {
	s.filled.Add(1)
	if !s.watched.Load() && count >= 0 {
		return s.note(s.dev.MemsetD8(p, value, uint64(count)))
	}
	return s.call(trace.Record{Op: trace.OpMemset, Addr: uint64(p), Size: count}, named{},
		func(r *trace.Record) device.Code {
			if count < 0 {
				return device.ErrorInvalidValue
			}
			s.touch(r, p, count, trace.Write, 0)
			s.givenBytes(r, []byte{value})
			return s.dev.MemsetD8(p, value, uint64(count))
		})
}

// MemsetAsync sets bytes of device memory in a stream's order.
func (s *Session) MemsetAsync(p device.Ptr, value byte, count int64, x *Stream) device.Code {
	s.filled.Add(1)
	if !s.watched.Load() && count >= 0 && x.usable(s) {
		return s.note(s.dev.MemsetD8Async(p, value, uint64(count), x.raw()))
	}
	return s.call(trace.Record{Op: trace.OpMemsetAsync, Addr: uint64(p), Size: count}, named{stream: x},
		func(r *trace.Record) device.Code {
			if count < 0 {
				return device.ErrorInvalidValue
			}
			s.touch(r, p, count, trace.Write, 0)
			s.givenBytes(r, []byte{value})
			return s.dev.MemsetD8Async(p, value, uint64(count), x.raw())
		})
}
