package session

import (
	"math"

	"cudalab/native/device"
	"cudalab/native/trace"
)

// EventCreate makes an event; flags are device.EventBlockingSync and device.EventDisableTiming.
func (s *Session) EventCreate(flags uint32) (*Event, device.Code) {
	x := &Event{&eventState{object: object{owner: s, flags: flags, lent: !s.guest.Load()}}}
	if !s.watched.Load() {
		var code device.Code
		x.handle, code = s.dev.EventCreate(flags)
		if code != device.Success {
			return nil, s.note(code)
		}
		return x, code
	}
	code := s.call(trace.Record{Op: trace.OpEventCreate, Flags: flags}, named{}, func(r *trace.Record) device.Code {
		var code device.Code
		x.handle, code = s.dev.EventCreate(flags)
		if code == device.Success && s.tracing {
			x.name(&s.counts.events, s.epoch)
			r.Event = x.id
			s.events = append(s.events, x)
		}
		return code
	})
	if code != device.Success {
		return nil, code
	}
	return x, code
}

// EventDestroy destroys an event. What waits for it goes on waiting.
func (s *Session) EventDestroy(x *Event) device.Code {
	if x != nil {
		s.take(trace.OpEventDestroy, &x.object)
	}
	destroy := func() device.Code {
		if x == nil {
			return s.dev.EventDestroy(0)
		}
		if x.dead.Swap(true) {
			return device.ErrorInvalidHandle
		}
		code := s.dev.EventDestroy(x.handle)
		x.dead.Store(code == device.Success)
		return code
	}
	if !s.watched.Load() && x.usable(s) {
		return s.note(destroy())
	}
	return s.call(trace.Record{Op: trace.OpEventDestroy}, named{event: x}, func(*trace.Record) device.Code {
		return destroy()
	})
}

// EventRecord makes an event remember where a stream stands.
func (s *Session) EventRecord(e *Event, x *Stream) device.Code {
	if !s.watched.Load() && e.usable(s) && x.usable(s) {
		return s.note(s.dev.EventRecord(e.raw(), x.raw()))
	}
	return s.call(trace.Record{Op: trace.OpEventRecord}, named{stream: x, event: e},
		func(*trace.Record) device.Code { return s.dev.EventRecord(e.raw(), x.raw()) })
}

// EventSynchronize waits for the work that an event remembers.
func (s *Session) EventSynchronize(e *Event) device.Code {
	if !s.watched.Load() && e.usable(s) {
		return s.note(s.dev.EventSynchronize(e.raw()))
	}
	return s.wait(trace.Record{Op: trace.OpEventSynchronize}, named{event: e}, nil, func() device.Code {
		return s.dev.EventSynchronize(e.raw())
	}, nil)
}

// EventQuery answers Success when the work that an event remembers is done, else ErrorNotReady.
func (s *Session) EventQuery(e *Event) device.Code {
	if !s.watched.Load() && e.usable(s) {
		return s.note(s.dev.EventQuery(e.raw()))
	}
	return s.call(trace.Record{Op: trace.OpEventQuery}, named{event: e}, func(*trace.Record) device.Code {
		return s.dev.EventQuery(e.raw())
	})
}

// EventElapsedTime is the time between two finished events, in milliseconds.
func (s *Session) EventElapsedTime(start, end *Event) (milliseconds float32, code device.Code) {
	if !s.watched.Load() && start.usable(s) && end.usable(s) {
		milliseconds, code = s.dev.EventElapsedTime(start.raw(), end.raw())
		return milliseconds, s.note(code)
	}
	code = s.call(trace.Record{Op: trace.OpEventElapsedTime}, named{event: start, event2: end},
		func(r *trace.Record) (code device.Code) {
			milliseconds, code = s.dev.EventElapsedTime(start.raw(), end.raw())
			r.Value = uint64(math.Float32bits(milliseconds))
			return code
		})
	return milliseconds, code
}
