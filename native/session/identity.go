package session

import (
	"sync/atomic"

	"cudalab/native/device"
	"cudalab/native/trace"
)

// Stream is a stream's identity. The driver reuses the handles of destroyed streams, and may crash on one that it has
// not reused yet, so the handle alone will not do. A nil *Stream is the legacy default stream.
//
// What is known of it lies behind a second pointer, here and in the others of its kind: given a verb that does not
// suit, fmt prints what the first points to, by which code would learn whether it is traced, and what is lent.
type Stream struct{ *streamState }

type streamState struct {
	object
	handle device.Stream
}

// streamOf finds the stream that a value of package cuda's stands for.
var streamOf func(any) *Stream

// WrapStreams tells the package how to find the stream that a value of another package's stands for, for whoever has
// only that.
func WrapStreams(of func(any) *Stream) { streamOf = of }

// StreamOf is the stream that a value of the package's that wraps streams stands for; nil, the legacy default stream,
// for the zero value.
func StreamOf(x any) *Stream { return streamOf(x) }

// Event is an event's identity. A nil *Event is the null event.
type Event struct{ *eventState }

type eventState struct {
	object
	handle device.Event
}

// HostBuffer is a pinned host allocation's identity.
type HostBuffer struct{ *bufferState }

type bufferState struct {
	object
	handle device.Host
	size   int64
	made   uint32 // the trace it was made in, 0 for none
}

// object is a thing of a session's that has a life: made once, destroyed once.
type object struct {
	owner *Session
	flags uint32
	dead  atomic.Bool
	lent  bool   // it was not made by the code under test
	epoch uint32 // the trace that id belongs to; both are guarded by owner.mu
	id    trace.ID
}

// name gives o the next identity of the trace.
func (o *object) name(count *trace.ID, epoch uint32) {
	*count++
	o.id, o.epoch = *count, epoch
}

func (o *object) alive(s *Session) bool { return o.owner == s && !o.dead.Load() }

func (x *Stream) usable(s *Session) bool { return x == nil || x.alive(s) }

func (x *Stream) raw() device.Stream {
	if x == nil {
		return 0
	}
	return x.handle
}

func (x *Event) usable(s *Session) bool { return x == nil || x.alive(s) }

func (x *Event) raw() device.Event {
	if x == nil {
		return 0
	}
	return x.handle
}

// Size is the buffer's length in bytes.
func (x *HostBuffer) Size() int64 { return x.size }

// Freed reports whether the buffer has been freed.
func (x *HostBuffer) Freed() bool { return x.dead.Load() }

// named is what a call names by value. A nil stream is the legacy default stream.
type named struct {
	stream        *Stream
	event, event2 *Event
	buffer        *HostBuffer
	pool          *MemPool
	memory        *MemHandle
}

// identify enters the identities of n in r. The lock is held, and r is not in the trace yet: a thing that was made
// before the trace gets its creating record ahead of r.
func (s *Session) identify(r *trace.Record, n named) {
	r.Stream = s.streamID(n.stream)
	r.Event = s.eventID(n.event)
	r.Event2 = s.eventID(n.event2)
	if r.Op == trace.OpMallocAsync || r.Op == trace.OpDeviceGetMemPool {
		n.pool = s.current
	}
	r.Pool = s.poolID(n.pool)
	s.identifyBuffer(n.buffer)
	if n.memory != nil {
		r.Alloc = s.memoryID(n.memory)
	}
}

func (s *Session) streamID(x *Stream) trace.ID {
	if x == nil || x.owner != s {
		return 0
	}
	if x.epoch != s.epoch {
		x.name(&s.counts.streams, s.epoch)
		s.add(trace.Record{
			Op: trace.OpStreamCreate, Stream: x.id, Flags: x.flags, Time: s.dev.Now(),
		})
	}
	return x.id
}

func (s *Session) eventID(x *Event) trace.ID {
	if x == nil || x.owner != s {
		return 0
	}
	if x.epoch != s.epoch {
		x.name(&s.counts.events, s.epoch)
		s.add(trace.Record{
			Op: trace.OpEventCreate, Event: x.id, Flags: x.flags, Time: s.dev.Now(),
		})
	}
	return x.id
}

func (s *Session) identifyBuffer(x *HostBuffer) {
	if x == nil || x.owner != s || x.epoch == s.epoch {
		return
	}
	x.name(&s.counts.allocations, s.epoch)
	s.add(trace.Record{
		Op: trace.OpMallocHost, Alloc: x.id, Addr: uint64(x.handle), Size: x.size, Time: s.dev.Now(),
	})
}
