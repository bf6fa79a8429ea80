package session

import (
	"fmt"
	"slices"

	"cudalab/native/device"
	"cudalab/native/trace"
)

// Runaway is what a call panics with once a trace holds as many records as Limit allows.
type Runaway struct{ Records int }

func (r *Runaway) Error() string {
	return fmt.Sprintf("the program made more than %d CUDA calls, far more than its task needs: "+
		"look for a loop that never ends", r.Records)
}

// firstRecords is how many records a trace has room for at first.
const firstRecords = 512

// StartTrace begins a fresh trace: identities count from 1 again, and memory allocated before is unknown to it, so
// allocate after StartTrace what an exercise is to be handed. Streams, events, pools, pinned buffers and handles of
// physical memory made earlier may be used: each appears with a creating record of its own right before its first use,
// with Site 0, which no real call has.
func (s *Session) StartTrace() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tracing = true
	s.epoch++
	s.records = nil
	s.asides = nil
	s.accesses = nil
	s.sites = newSiteTable()
	s.memory, s.blocks = newTable(), newTable()
	s.streams, s.events, s.buffers, s.handles, s.ranges = nil, nil, nil, nil, nil
	s.counts.streams, s.counts.events, s.counts.pools, s.counts.allocations = 0, 0, 0, 0
	s.asked, s.folded = 0, 0
	s.givenSize = 0
	s.beginTimes()
	s.rewatch()
}

// StopTrace ends the trace and returns it. Without a StartTrace before, it is empty.
func (s *Session) StopTrace() *trace.Trace {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resolveTimes()
	t := &trace.Trace{Sites: s.sites.resolve(), Records: s.records}
	s.tracing = false
	s.records, s.accesses, s.sites = nil, nil, siteTable{}
	s.rewatch()
	return t
}

// Untraced has f make calls that the trace does not hold, for a case that makes very many and asks nothing of them.
// What they make is to be gone by the end of f, or never used in the trace.
func (s *Session) Untraced(f func()) {
	defer s.trace(s.trace(false))
	f()
}

// Traced has f make calls that the trace holds, in the midst of Untraced. What was made earlier, and be it in another
// Traced, appears with a creating record as behind StartTrace; device memory that f allocates is to be gone by its
// end.
func (s *Session) Traced(f func()) {
	defer s.trace(s.trace(true))
	s.mu.Lock()
	s.epoch++
	s.mu.Unlock()
	f()
}

// Count is how often the code under test has made a call of one kind, and how often it succeeded.
type Count struct{ Made, Succeeded int }

// Counted has f make calls that are only counted, by kind, for a case that makes too many to look at each: the trace
// holds the first of each kind, to show where it was made. The grader's own calls are neither counted nor held. Counts
// add up in to.
func (s *Session) Counted(to map[trace.Op]Count, f func()) {
	defer s.count(s.count(to))
	f()
}

// count has calls be counted in a table, or with nil not any more, and returns the table before.
func (s *Session) count(to map[trace.Op]Count) (before map[trace.Op]Count) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, s.counted = s.counted, to
	return before
}

// holds reports whether the trace holds a call that begins, and counts it. The lock is held.
func (s *Session) holds(op trace.Op) bool {
	if s.counted == nil || !s.tracing {
		return s.tracing
	}
	if !s.guest.Load() {
		return false
	}
	c := s.counted[op]
	c.Made++
	s.counted[op] = c
	return c.Made == 1
}

// succeeded counts a call that has. The lock is held.
func (s *Session) succeeded(op trace.Op, code device.Code) {
	if s.counted != nil && s.tracing && s.guest.Load() && code == device.Success {
		c := s.counted[op]
		c.Succeeded++
		s.counted[op] = c
	}
}

// trace turns the recording of calls on or off, and reports how it was before.
func (s *Session) trace(on bool) (before bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, s.tracing = s.tracing, on
	s.rewatch()
	return before
}

// Limit allows a trace at most so many records, from now on; 0 allows any number. The call that would go beyond it
// panics with a *Runaway and does not reach the device. Of a question that is asked again and again ("is it done?") a
// few records stay, and while the answer is ErrorNotReady no more of them count.
func (s *Session) Limit(records int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = records
}

// Mark adds a note of the grader's own to the trace, which is nobody's line: to find out the site takes longer than the
// rest.
func (s *Session) Mark(label string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tracing {
		s.add(trace.Record{Op: trace.OpMark, Label: label, Time: s.dev.Now()})
	}
}

// MarkHere is Mark with the site, where the grader is called by the code under test.
func (s *Session) MarkHere(label string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tracing {
		s.add(trace.Record{Op: trace.OpMark, Label: label, Site: s.sites.here(2), Time: s.dev.Now()})
	}
}

// Label names what the last call has made, for messages about it: "streams[0]".
func (s *Session) Label(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tracing && len(s.records) > 0 {
		s.records[len(s.records)-1].Label = name
	}
}

// call makes a call that does not wait. do works with the lock held: it fills in its record and reaches the device. It
// is not called when the answer is settled before: by a fault, or by a stream, event, pool or handle that is no more.
func (s *Session) call(r trace.Record, n named, do func(r *trace.Record) device.Code) device.Code {
	s.mu.Lock()
	defer s.mu.Unlock()
	rec, code := s.begin(r, n)
	var m *measurement
	if code == device.Success {
		m = s.startTime(rec, n.stream)
		code = do(rec)
	}
	rec.Code = int32(code)
	rec.Took = s.dev.Now() - rec.Time
	s.endTime(m, len(s.records)-1, code)
	s.followPools(r.Op)
	s.succeeded(r.Op, code)
	if s.tracing && rec != &s.scratch {
		s.fold()
	}
	return s.note(code)
}

// wait makes a call that may wait. prepare and settle work with the lock held, before and after; do reaches the device
// without it. prepare fills in the record and may refuse, with any other answer than Success; settle, which may be
// nil, is told the answer and completes the record of leaving.
func (s *Session) wait(r trace.Record, n named, prepare func(r *trace.Record) device.Code,
	do func() device.Code, settle func(r *trace.Record, code device.Code)) device.Code {
	at, epoch, m, code, faked := s.enter(r, n, prepare)
	refused := code != device.Success
	switch {
	case !refused:
		code = do()
	case faked && r.Op.Synchronises():
		// A wait that fails has waited: what it answers is the error of the work that it waited for.
		if real := do(); real != device.Success {
			code = real
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	rec := &s.scratch
	if s.tracing && at >= 0 && s.epoch == epoch {
		rec = s.add(s.records[at])
		rec.Phase = trace.Leave
		rec.Pair = int32(at)
		rec.Code = int32(code)
		rec.Took = s.dev.Now() - rec.Time
		s.endTime(m, len(s.records)-1, code)
	}
	if settle != nil && !refused {
		settle(rec, code)
	}
	s.followPools(r.Op)
	s.succeeded(r.Op, code)
	return s.note(code)
}

// enter is wait's first half: where the record of entering is, -1 with tracing off, and the answer if it is settled, if
// need be by a fault.
func (s *Session) enter(r trace.Record, n named, prepare func(r *trace.Record) device.Code) (at int, epoch uint32,
	m *measurement, code device.Code, faked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Phase = trace.Enter
	rec, code := s.begin(r, n)
	if code == device.Success && prepare != nil {
		code = prepare(rec)
	}
	faked = rec.Faked
	if rec == &s.scratch {
		rec.Faked = false // of the record that nobody reads
		return -1, s.epoch, nil, code, faked
	}
	at = len(s.records) - 1
	if code != device.Success {
		return at, s.epoch, nil, code, faked
	}
	return at, s.epoch, s.startTime(rec, n.stream), code, false
}

// begin adds r to the trace, with identities, site and time, and settles the answer if a fault or a value that is no
// more does. With tracing off the record is one that nobody reads. The lock is held.
func (s *Session) begin(r trace.Record, n named) (*trace.Record, device.Code) {
	rec := &s.scratch
	if s.holds(r.Op) {
		if s.limit > 0 && len(s.records)+s.folded >= s.limit {
			panic(&Runaway{Records: s.limit})
		}
		s.identify(&r, n)
		r.Site = s.sites.here(5)
		r.Time = s.dev.Now()
		rec = s.add(r)
	}
	if code, ok := s.fault(r.Op); ok {
		rec.Faked = true
		return rec, code
	}
	if !n.stream.usable(s) || !n.event.usable(s) || !n.event2.usable(s) {
		rec.Stale = true
		return rec, device.ErrorInvalidHandle
	}
	if !n.pool.usable(s) || !n.memory.usable(s) {
		rec.Stale = true
		return rec, device.ErrorInvalidValue // the driver's word for both
	}
	return rec, device.Success
}

// Bounds on what fold looks at.
const (
	// equal questions in a row that stay in the trace: that somebody asks again and again is to be seen there
	foldKept = 4
	foldBack = 32 // records that it looks back: more events and streams are asked in turn by nobody who waits
)

// fold takes the last record off the trace again if it is a question that was asked from the same place, with the same
// answer, often enough since anything else was done, by somebody who waits for something: who does so by asking makes a
// hundred thousand calls while a device is busy. Only "not ready" comes to an end by itself; what was answered
// otherwise still counts towards the limit. The lock is held.
func (s *Session) fold() {
	last := len(s.records) - 1
	r := &s.records[last]
	if !asks(r.Op) || r.Faked || r.Stale {
		return
	}
	kept, waits := 0, r.Code == int32(device.ErrorNotReady)
	for i := last - 1; i >= max(0, last-foldBack) && asks(s.records[i].Op); i-- {
		x := &s.records[i]
		waits = waits || x.Code == int32(device.ErrorNotReady)
		if x.Op == r.Op && x.Code == r.Code && x.Site == r.Site && x.Stream == r.Stream && x.Event == r.Event &&
			x.Event2 == r.Event2 {
			kept++
		}
	}
	if kept < foldKept || !waits {
		return
	}
	if r.Code != int32(device.ErrorNotReady) {
		s.folded++
	}
	s.records = s.records[:last]
}

// asks reports whether all that a call does is to ask whether the device is through with something.
func asks(op trace.Op) bool {
	return op == trace.OpStreamQuery || op == trace.OpEventQuery || op == trace.OpEventElapsedTime
}

// add appends a record to the trace. Records are large: the slice grows by more at a time than append would have it,
// which would spend more time on copying them than on all else. The lock is held.
func (s *Session) add(r trace.Record) *trace.Record {
	if len(s.records) == cap(s.records) {
		s.records = slices.Grow(s.records, 2*len(s.records)+firstRecords)
	}
	s.records = append(s.records, r)
	return &s.records[len(s.records)-1]
}

// access appends one access to r. A range of no bytes touches nothing. The lock is held.
func (s *Session) access(r *trace.Record, a trace.Access) {
	if !s.tracing || r == &s.scratch || a.Size <= 0 {
		return
	}
	if len(s.accesses) == cap(s.accesses) {
		s.accesses = append(make([]trace.Access, 0, 1024), r.Accesses...)
		r.Accesses = s.accesses
	}
	s.accesses = append(s.accesses, a)
	n := len(r.Accesses) + 1
	r.Accesses = s.accesses[len(s.accesses)-n : len(s.accesses) : len(s.accesses)]
}

// touch appends an access to device memory to r: to a block, or else to what lies around p. Where mappings lie side by
// side it is one access for each of them; otherwise all of it counts as an access to what p lies in, so that what goes
// beyond the end shows. What begins in a block that was taken back and goes beyond its end is the allocator's own, to
// what lies around it. The lock is held.
func (s *Session) touch(r *trace.Record, p device.Ptr, size int64, kind trace.AccessKind, arg uint8) {
	for {
		a := trace.Access{Offset: int64(p), Size: size, Kind: kind, Arg: arg}
		m, freed, end := s.blocks.find(p)
		if m == nil || freed && int64(p-m.base)+size > m.size {
			m, freed, end = s.memory.find(p)
		}
		if m != nil {
			a.Alloc, a.Freed, a.Offset = m.id, freed, m.offset+int64(p-m.base)
		}
		if m != nil && m.memory != nil {
			a.Addr = uint64(p)
		}
		if m != nil && m.memory != nil && int64(end-p) < size {
			if next, _, _ := s.memory.find(end); next != nil && next.memory != nil {
				a.Size = int64(end - p)
			}
		}
		s.access(r, a)
		if a.Size == size {
			return
		}
		p, size = end, size-a.Size
	}
}
