package session

import (
	"cudalab/native/device"
	"cudalab/native/trace"
)

// StreamCreate makes a stream; flags is 0 or device.StreamNonBlocking.
func (s *Session) StreamCreate(flags uint32) (*Stream, device.Code) {
	x := &Stream{&streamState{object: object{owner: s, flags: flags, lent: !s.guest.Load()}}}
	if !s.watched.Load() {
		var code device.Code
		x.handle, code = s.dev.StreamCreate(flags)
		if code != device.Success {
			return nil, s.note(code)
		}
		return x, code
	}
	code := s.call(trace.Record{Op: trace.OpStreamCreate, Flags: flags}, named{}, func(r *trace.Record) device.Code {
		var code device.Code
		x.handle, code = s.dev.StreamCreate(flags)
		if code == device.Success && s.tracing {
			x.name(&s.counts.streams, s.epoch)
			r.Stream = x.id
			s.streams = append(s.streams, x)
		}
		return code
	})
	if code != device.Success {
		return nil, code
	}
	return x, code
}

// StreamDestroy destroys a stream. Its pending work completes.
func (s *Session) StreamDestroy(x *Stream) device.Code {
	if x != nil {
		s.take(trace.OpStreamDestroy, &x.object)
	}
	destroy := func() device.Code {
		if x == nil {
			return s.dev.StreamDestroy(0)
		}
		if x.dead.Swap(true) {
			return device.ErrorInvalidHandle
		}
		code := s.dev.StreamDestroy(x.handle)
		x.dead.Store(code == device.Success)
		return code
	}
	if !s.watched.Load() && x.usable(s) {
		return s.note(destroy())
	}
	return s.call(trace.Record{Op: trace.OpStreamDestroy}, named{stream: x}, func(*trace.Record) device.Code {
		return destroy()
	})
}

// StreamSynchronize waits for the work in a stream.
func (s *Session) StreamSynchronize(x *Stream) device.Code {
	if !s.watched.Load() && x.usable(s) {
		return s.note(s.dev.StreamSynchronize(x.raw()))
	}
	return s.wait(trace.Record{Op: trace.OpStreamSynchronize}, named{stream: x}, nil, func() device.Code {
		return s.dev.StreamSynchronize(x.raw())
	}, nil)
}

// StreamQuery answers Success when the work in a stream is done, else ErrorNotReady.
func (s *Session) StreamQuery(x *Stream) device.Code {
	if !s.watched.Load() && x.usable(s) {
		return s.note(s.dev.StreamQuery(x.raw()))
	}
	return s.call(trace.Record{Op: trace.OpStreamQuery}, named{stream: x}, func(*trace.Record) device.Code {
		return s.dev.StreamQuery(x.raw())
	})
}

// StreamWaitEvent makes later work in a stream wait for what an event remembers now.
func (s *Session) StreamWaitEvent(x *Stream, e *Event) device.Code {
	if !s.watched.Load() && x.usable(s) && e.usable(s) {
		return s.note(s.dev.StreamWaitEvent(x.raw(), e.raw()))
	}
	return s.call(trace.Record{Op: trace.OpStreamWaitEvent}, named{stream: x, event: e},
		func(*trace.Record) device.Code { return s.dev.StreamWaitEvent(x.raw(), e.raw()) })
}

// DeviceSynchronize waits for all work.
func (s *Session) DeviceSynchronize() device.Code {
	if !s.watched.Load() {
		return s.note(s.dev.CtxSynchronize())
	}
	return s.wait(trace.Record{Op: trace.OpDeviceSynchronize}, named{}, nil, s.dev.CtxSynchronize, nil)
}
