package order

import "cudalab/native/trace"

// built is a program as a trace, for Check, and as what its calls mean by CUDA's manual, for machine and judge.
type built struct {
	trace   trace.Trace
	calls   []call
	machine machine
	bytes   int64 // of every allocation
	memory  []*memory
	events  []*placedEvent

	streams []placedStream // 0 is the legacy default stream
	places  [nothing]*memory
	named   [eventPlaces]*placedEvent
	layout
}

// call is what one call is about.
type call struct {
	record int // where it is in the trace
	op     trace.Op
	stream trace.ID
	onHost bool // what it does is done by the host
	passes bool // it only has a place in its stream, and holds back nobody else
	staged bool // a synchronous copy from pageable memory, of which only the staging is waited for
	uses   []use
	frees  *memory
	ends   []*view   // mappings that it takes away, or the block that it takes back
	hands  *view     // the block that it hands out
	holds  []byteOf  // the bytes that are that block's
	again  *view     // the block that it takes back once more
	parts  []*memory // of which it hands out some bytes
	limits []limit
	waits  int // the call that it waits for; -1: none, or several
}

// use is an access to the bytes of memory from lo up to hi.
type use struct {
	memory *memory
	lo, hi int64
	kind   trace.AccessKind
	views  []*view // that it goes through
	broken string  // the rule that it breaks in whatever order; then no bytes are used
	by     int     // the call that this is to be blamed on
}

// memory is an allocation. Birth and death are the calls that made and freed it; -1: none.
type memory struct {
	id           trace.ID
	op           trace.Op
	birth, death int
}

type placedStream struct {
	blocking, destroyed bool
	last                []int // the call that is last in it, if there is one
	passing             []int // the calls behind that one that only have a place in it
}

type placedEvent struct {
	id       trace.ID
	recorded int   // the call that recorded it last; -1: none
	early    []int // the calls that named it before that
	rewaited bool  // others named it afterwards
}

func (p *steps) build() *built {
	b := &built{bytes: p.bytes, trace: trace.Trace{Sites: []trace.Site{nil}}, streams: []placedStream{{blocking: true}}}
	for i, flags := range p.flags {
		b.record(trace.Record{Op: trace.OpStreamCreate, Stream: trace.ID(i + 1), Flags: flags})
		b.streams = append(b.streams, placedStream{blocking: flags&nonBlocking == 0})
	}
	b.trace.Records = append(b.trace.Records, // from no known site, as is what was there before the trace
		b.fill(old, &memory{op: trace.OpMalloc, birth: -1, death: -1}),
		b.fill(pinned, &memory{op: trace.OpMallocHost, birth: -1, death: -1}))
	b.take(b.places[old], addressOf(old), b.bytes)
	b.take(b.places[pinned], addressOf(pinned), b.bytes)
	if p.virtual {
		b.reserve()
	}
	for _, s := range p.list {
		if b.streams[s.stream].destroyed {
			continue
		}
		switch s.op {
		case trace.OpStreamDestroy:
			if s.stream != legacyID {
				b.streams[s.stream].destroyed = true
				b.record(trace.Record{Op: s.op, Stream: s.stream})
			}
		case trace.OpEventDestroy:
			if e := b.named[s.event]; e != nil {
				b.named[s.event] = nil
				b.record(trace.Record{Op: s.op, Event: e.id})
			}
		case trace.OpEventRecord, trace.OpStreamWaitEvent, trace.OpEventSynchronize, trace.OpEventQuery,
			trace.OpEventElapsedTime:
			b.eventStep(s)
		case trace.OpStreamSynchronize, trace.OpStreamQuery, trace.OpDeviceSynchronize:
			b.waitStep(s)
		case trace.OpMallocAsync, trace.OpMallocFromPoolAsync, trace.OpMalloc, trace.OpMallocHost, trace.OpBlockAlloc:
			b.allocStep(s)
		case trace.OpFreeAsync, trace.OpFree, trace.OpFreeHost:
			b.freeStep(s)
		case trace.OpMemCreate, trace.OpMemRelease, trace.OpMemMap, trace.OpMemUnmap, trace.OpMemSetAccess, trace.OpBlockFree:
			b.virtualStep(s)
		default:
			b.useStep(s)
		}
	}
	return b
}

// record appends one call's record, from a site of its own.
func (b *built) record(r trace.Record) {
	r.Site = uint32(len(b.trace.Sites))
	b.trace.Sites = append(b.trace.Sites, trace.Site{{Line: int(r.Site)}})
	if inHalves(&r) {
		enter := r
		enter.Phase, enter.Code = trace.Enter, 0
		b.trace.Records = append(b.trace.Records, enter)
		r.Phase, r.Pair = trace.Leave, int32(len(b.trace.Records)-1)
	}
	b.trace.Records = append(b.trace.Records, r)
}

// inHalves reports whether a call is recorded entering and leaving.
func inHalves(r *trace.Record) bool {
	switch r.Op {
	case trace.OpStreamSynchronize, trace.OpEventSynchronize, trace.OpDeviceSynchronize, trace.OpMallocHost, trace.OpFree,
		trace.OpFreeHost, trace.OpMemcpyHtoD, trace.OpMemcpyDtoH, trace.OpMemUnmap:
		return true
	}
	return r.Host == trace.Pageable
}

// add appends a call. If it is to a stream, it comes there behind what is in the stream already, and behind what the
// legacy default stream's barriers put before it.
func (b *built) add(r trace.Record, c call, m machineCall) {
	c.record, c.op, c.stream = len(b.trace.Records), r.Op, r.Stream
	b.record(r)
	switch {
	case r.Code != 0:
		m = machineCall{idle: true}
	case !c.onHost:
		m.queued = true
		blocking := b.streams[r.Stream].blocking
		for id, s := range b.streams {
			barrier := blocking && s.blocking && (r.Stream == legacyID || id == int(legacyID))
			if id == int(r.Stream) || barrier {
				m.turn = append(m.turn, s.last...)
			}
			if id == int(r.Stream) {
				m.turn = append(m.turn, s.passing...)
			}
		}
		if s := &b.streams[r.Stream]; c.passes {
			s.passing = append(s.passing, len(b.calls))
		} else {
			s.last, s.passing = []int{len(b.calls)}, nil
		}
	}
	b.calls = append(b.calls, c)
	b.machine = append(b.machine, m)
}

// event is the event in a place, made now if there is none.
func (b *built) event(place int) *placedEvent {
	if b.named[place] == nil {
		e := &placedEvent{id: trace.ID(len(b.events) + 1), recorded: -1}
		b.events = append(b.events, e)
		b.named[place] = e
		b.record(trace.Record{Op: trace.OpEventCreate, Event: e.id})
	}
	return b.named[place]
}

func (b *built) eventStep(s step) {
	i, e := len(b.calls), b.event(s.event)
	r := trace.Record{Op: s.op, Event: e.id}
	var recorded []int
	if e.recorded >= 0 {
		recorded = []int{e.recorded}
	}
	switch s.op {
	case trace.OpEventRecord:
		r.Stream = s.stream
		b.add(r, call{waits: -1}, machineCall{})
		e.recorded = i
		return
	case trace.OpEventElapsedTime:
		if end := b.named[s.event2]; recorded != nil && end != nil && end.recorded >= 0 {
			r.Event2 = end.id
			b.add(r, call{onHost: true, waits: -1}, machineCall{idle: true, returns: append(recorded, end.recorded)})
		}
		return
	case trace.OpStreamWaitEvent:
		r.Stream = s.stream
		if recorded == nil { // it never comes into the stream
			b.add(r, call{onHost: true, waits: -1}, machineCall{idle: true})
			break
		}
		b.add(r, call{waits: e.recorded}, machineCall{awaits: recorded})
	default:
		if s.notReady {
			if recorded != nil {
				r.Code = notReady
				b.record(r)
			}
			return
		}
		b.add(r, call{onHost: true, waits: e.recorded}, machineCall{idle: true, returns: recorded})
	}
	if recorded == nil {
		e.early = append(e.early, i)
	} else {
		e.rewaited = true
	}
}

func (b *built) waitStep(s step) {
	r := trace.Record{Op: s.op, Stream: s.stream}
	c := call{onHost: true, waits: -1}
	if s.op == trace.OpDeviceSynchronize {
		r.Stream = 0
	} else if last := b.streams[s.stream].last; last != nil && s.stream != legacyID {
		c.waits = last[0]
	}
	if s.notReady {
		r.Code = notReady
		b.record(r)
		return
	}
	var over []int
	for id, other := range b.streams {
		if s.op == trace.OpDeviceSynchronize || id == int(s.stream) || s.stream == legacyID && other.blocking {
			over = append(over, other.last...)
			if s.op == trace.OpDeviceSynchronize {
				over = append(over, other.passing...)
			}
		}
	}
	b.add(r, c, machineCall{idle: true, returns: over})
}

// fill puts memory into a place. The record is that of the call that made it.
func (b *built) fill(place int, m *memory) trace.Record {
	b.name(m)
	b.places[place] = m
	return trace.Record{Op: m.op, Alloc: m.id, Addr: uint64(addressOf(place)), Size: b.bytes}
}

func (b *built) name(m *memory) {
	m.id = trace.ID(len(b.memory) + 1)
	b.memory = append(b.memory, m)
}

func (b *built) allocStep(s step) {
	if s.from.place >= handed {
		b.handOut(s)
		return
	}
	if m := b.places[s.to.place]; m != nil && m.death < 0 {
		return
	}
	r := b.fill(s.to.place, &memory{op: s.op, birth: len(b.calls), death: -1})
	b.take(b.places[s.to.place], addressOf(s.to.place), b.bytes)
	onHost := onHost(&trace.Record{Op: s.op})
	if !onHost {
		r.Stream = s.stream
	}
	b.add(r, call{onHost: onHost, waits: -1}, machineCall{})
}

// freeStep frees what is in a place. A second free is refused. Blocks go back to their allocator, once.
func (b *built) freeStep(s step) {
	m := b.places[s.to.place]
	if m == nil || m.op == trace.OpBlockAlloc && m.death >= 0 {
		return
	}
	r := trace.Record{Op: s.op, Alloc: m.id, Addr: uint64(addressOf(s.to.place))}
	switch {
	case m.op == trace.OpBlockAlloc:
		r.Op = trace.OpBlockFree
	case s.op == trace.OpFreeAsync:
		r.Stream = s.stream
	}
	if m.death < 0 {
		m.death = len(b.calls)
		b.give(addressOf(s.to.place))
	} else {
		r.Freed, r.Code = true, invalidValue
	}
	b.add(r, call{onHost: r.Op != trace.OpFreeAsync, frees: m, waits: -1}, machineCall{})
}

// useStep is a launch, a copy, a memset, or the host's own access to pinned memory. Freed memory is refused to all but
// launches, whose arguments CUDA does not look at, and except for blocks, which CUDA does not know.
func (b *built) useStep(s step) {
	r := trace.Record{Op: s.op, Stream: s.stream, Host: s.host}
	c := call{onHost: onHost(&trace.Record{Op: s.op}), waits: -1}
	var m machineCall
	switch s.op {
	case trace.OpHostRead, trace.OpHostWrite:
		r.Stream, r.Host = 0, trace.Pinned
	case trace.OpMemset, trace.OpMemcpyDtoD:
		r.Stream = legacyID
	case trace.OpMemcpyHtoD, trace.OpMemcpyDtoH:
		r.Stream = legacyID
		c.staged = s.op == trace.OpMemcpyHtoD && s.host == trace.Pageable
	}
	if s.op == trace.OpMemcpyDtoH || s.op == trace.OpMemcpyHtoD && s.host == trace.Pinned ||
		s.op == trace.OpMemcpyDtoHAsync && s.host == trace.Pageable {
		m.returns = []int{len(b.calls)}
	}
	kinds := []trace.AccessKind{trace.Write, trace.Read}
	if s.update {
		kinds[0] = trace.Atomic
	}
	for arg, p := range []piece{s.to, s.from} {
		if p.size == 0 || p.place == pinned && s.host == trace.Pageable {
			continue
		}
		at, known := b.at(p)
		if !known {
			return
		}
		uses, accesses := b.touch(at, p.size, kinds[arg])
		c.uses = append(uses, c.uses...) // a call reads before it writes
		for _, x := range accesses {
			x.Arg = uint8(arg)
			r.Accesses = append(r.Accesses, x)
		}
		if s.op != trace.OpLaunch && !b.reaches(at, p.size, kinds[arg]) {
			r.Code = invalidValue
		}
	}
	b.add(r, c, m)
}
