package session

import (
	"cudalab/native/device"
	"cudalab/native/trace"
)

// maxTimed bounds the operations of one trace whose times are taken: each holds two events of the device's until the
// trace ends. Later operations are recorded without times.
const maxTimed = 4096

// timing is what a session needs to find out when the device did what a program enqueued. Its events are made and
// recorded on the device directly: neither a trace nor the order checker ever sees them.
type timing struct {
	base    device.Event   // what all times are measured from
	origin  int64          // the host's clock when base was reached
	spare   []device.Event // to be used again
	pending []measurement
	levels  map[level]uint64 // what the pools' sizes last were
}

// measurement is an operation between two events in its stream.
type measurement struct {
	record     int // where it goes in the trace
	stream     device.Stream
	start, end device.Event
}

// level is a figure of a pool's that is followed.
type level struct {
	pool trace.ID
	attr device.PoolAttr
}

// followed are the figures that are read, with TimeOperations, whenever a pool may have grown or shrunk.
var followed = []device.PoolAttr{device.PoolReservedMemCurrent, device.PoolUsedMemCurrent}

// TimeOperations says whether the traces started from now on hold the times at which the device began and ended each
// operation in a stream, and the sizes of the memory pools over time: the latter as records of MemPoolGetAttribute that
// have Site 0, which no real call has. What is measured is slowed down by it: an event is recorded before and after
// each operation, and pools are asked for their sizes. Never switch it on where time is judged.
func (s *Session) TimeOperations(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case on && s.timing == nil:
		s.timing = &timing{}
	case !on && s.timing != nil:
		for _, e := range s.timing.spare {
			s.dev.EventDestroy(e)
		}
		s.timing = nil
	}
}

// beginTimes ties the device's clock to the host's. The lock is held.
func (s *Session) beginTimes() {
	t := s.timing
	if t == nil {
		return
	}
	t.levels = map[level]uint64{}
	t.base = 0
	base, ok := s.timingEvent()
	if !ok || s.dev.CtxSynchronize() != device.Success || s.dev.EventRecord(base, 0) != device.Success {
		return
	}
	code := s.dev.EventQuery(base)
	for code == device.ErrorNotReady { // waiting would add the time that it takes to wake up
		code = s.dev.EventQuery(base)
	}
	if code == device.Success {
		t.base, t.origin = base, s.dev.Now()
	}
}

func (s *Session) timingEvent() (device.Event, bool) {
	t := s.timing
	if n := len(t.spare); n > 0 {
		e := t.spare[n-1]
		t.spare = t.spare[:n-1]
		return e, true
	}
	e, code := s.dev.EventCreate(0)
	return e, code == device.Success
}

// startTime marks the start of an operation in x and sets r's time to that of the call behind the mark. It returns nil
// where r is no such operation or no times are taken. The lock is held.
func (s *Session) startTime(r *trace.Record, x *Stream) *measurement {
	t := s.timing
	if t == nil || !s.tracing || t.base == 0 || len(t.pending) >= maxTimed || !r.Op.InStream() {
		return nil
	}
	start, ok := s.timingEvent()
	end, ok2 := s.timingEvent()
	if !ok || !ok2 || s.dev.EventRecord(start, x.raw()) != device.Success {
		return nil
	}
	r.Time = s.dev.Now()
	return &measurement{stream: x.raw(), start: start, end: end}
}

// endTime marks the end of the operation whose start is m, for the record at an index. An operation that the device
// refused has no times. The lock is held.
func (s *Session) endTime(m *measurement, record int, code device.Code) {
	t := s.timing
	switch {
	case t == nil || m == nil:
	case code == device.Success && s.dev.EventRecord(m.end, m.stream) == device.Success:
		m.record = record
		t.pending = append(t.pending, *m)
	default:
		t.spare = append(t.spare, m.start, m.end)
	}
}

// resolveTimes waits for the device and enters the times in the trace. The lock is held.
func (s *Session) resolveTimes() {
	t := s.timing
	if t == nil {
		return
	}
	if t.base != 0 && s.dev.CtxSynchronize() == device.Success {
		last := map[device.Stream]int64{}
		for _, m := range t.pending {
			before, code := s.dev.EventElapsedTime(t.base, m.start)
			took, code2 := s.dev.EventElapsedTime(m.start, m.end)
			if code != device.Success || code2 != device.Success {
				continue
			}
			// The times are floats of milliseconds: rounding must not let neighbours in a stream overlap.
			start := max(t.origin+int64(float64(before)*1e6), last[m.stream])
			end := start + max(int64(float64(took)*1e6), 1)
			last[m.stream] = end
			s.records[m.record].Start, s.records[m.record].End = start, end
		}
		for _, m := range t.pending {
			t.spare = append(t.spare, m.start, m.end)
		}
		t.spare = append(t.spare, t.base)
	}
	t.pending, t.base = nil, 0
}

// followPools enters the sizes of the pools that have changed since it last looked, where the call of op may have
// changed them. The lock is held.
func (s *Session) followPools(op trace.Op) {
	t := s.timing
	if t == nil || !s.tracing || t.base == 0 || len(t.pending) >= maxTimed || !resizes(op) {
		return
	}
	if standard, code := s.dev.DeviceGetDefaultMemPool(); code == device.Success {
		s.followPool(0, standard)
	}
	for _, x := range s.pools {
		if !x.standard && x.epoch == s.epoch {
			s.followPool(x.id, x.handle)
		}
	}
}

func (s *Session) followPool(id trace.ID, handle device.Pool) {
	for _, attr := range followed {
		value, code := s.dev.MemPoolGetAttribute(handle, attr)
		last, known := s.timing.levels[level{id, attr}]
		if code != device.Success || known && last == value {
			continue
		}
		s.timing.levels[level{id, attr}] = value
		s.add(trace.Record{
			Op: trace.OpMemPoolGetAttribute, Pool: id, Attr: int32(attr), Value: value, Time: s.dev.Now(),
		})
	}
}

// resizes reports whether a pool may have another size after a call: it hands memory out and takes it back, and gives
// unused memory back to the system at a synchronisation.
func resizes(op trace.Op) bool {
	switch op {
	case trace.OpMallocAsync, trace.OpMallocFromPoolAsync, trace.OpFreeAsync, trace.OpMemPoolTrimTo,
		trace.OpStreamSynchronize, trace.OpEventSynchronize, trace.OpDeviceSynchronize:
		return true
	}
	return false
}
