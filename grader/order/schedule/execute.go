package schedule

import (
	"slices"

	"cudalab/native/interval"
	"cudalab/native/trace"
)

// state is what memory was found in where it could not be used.
type state uint8

// The states.
const (
	exists     state = iota
	unborn           // the allocation comes only later
	ended            // it was freed, or an allocator has taken the block back
	unmapped         // there is nothing behind the addresses
	forbidden        // MemSetAccess has taken the access away
	notWritten       // there is memory, into which nothing has written
)

// result is what came of a call in some order.
type result struct {
	states []state // in which it has found each of what it touches; nil: all exists
	values uint64  // a digest of all that the call has read
	parts  []seen  // the same in parts, where that was asked for
}

// note takes in the state of the k-th of n that a call touches.
func (r *result) note(k, n int, s state) {
	if s == exists {
		return
	}
	if r.states == nil {
		r.states = make([]state, n)
	}
	if r.states[k] == exists {
		r.states[k] = s
	}
}

// state is that of the k-th of what a call touches.
func (r result) state(k int) state {
	if k < len(r.states) {
		return r.states[k]
	}
	return exists
}

// seen is a value that a call has found in some bytes.
type seen struct {
	touch
	lo, hi int64
	value  uint64
}

// memory is the memory that an order is carried out on.
type memory struct {
	p       *Program
	only    func(int) bool // the records that are carried out, of which memory knows
	parts   bool           // keep the parts of all results
	bytes   map[trace.ID]*interval.Map[int64, uint64]
	state   map[trace.ID]state
	ended   map[trace.ID]int // the record of the end
	mapping map[int]uint32   // by the record of the MemMap: what MemSetAccess allows, with mapped set
	results map[int]result
	// by value: the record of the call that wrote it, where parts are kept
	writer map[uint64]int
	owner  map[trace.ID]*interval.Map[int64, trace.ID] // of bytes that were written as a block's: that block
	holder map[trace.ID]*interval.Map[int64, trace.ID] // of bytes that were handed out: the block
}

const (
	mayRead      = 1
	mayReadWrite = 3
	mapped       = 1 << 31 // beside CUDA's flags
)

// Values that no call writes.
const (
	fresh  = 0x9E3779B97F4A7C15 // of memory that an allocation has made and nothing has written
	before = 0xBF58476D1CE4E5B9 // of memory from before the trace: whatever it holds, it is the same in every order
)

// execute carries out calls in an order.
func (p *Program) execute(order []int, parts bool) *memory {
	m := p.begin(order, parts)
	for _, i := range order {
		m.do(i)
	}
	return m
}

// begin is the memory before any of the calls of an order is carried out. What none of them makes is there from the
// beginning.
func (p *Program) begin(order []int, parts bool) *memory {
	within := make(map[int]bool, len(order))
	for _, i := range order {
		within[i] = true
	}
	m := &memory{p: p, parts: parts, bytes: map[trace.ID]*interval.Map[int64, uint64]{}, state: map[trace.ID]state{},
		ended:   map[trace.ID]int{},
		mapping: map[int]uint32{}, results: make(map[int]result, len(order)), writer: map[uint64]int{},
		owner:  map[trace.ID]*interval.Map[int64, trace.ID]{},
		holder: map[trace.ID]*interval.Map[int64, trace.ID]{}}
	m.only = func(i int) bool { return within[i] }
	for _, i := range order {
		if o := p.ops[i]; o.kind == makes && p.Trace.Records[i].Site != 0 {
			m.state[o.memory] = unborn
			m.clear(o)
		}
	}
	return m
}

func (m *memory) of(id trace.ID) *interval.Map[int64, uint64] {
	b := m.bytes[id]
	if b == nil {
		b = &interval.Map[int64, uint64]{}
		m.bytes[id] = b
	}
	return b
}

// do carries out one call.
func (m *memory) do(i int) {
	o := m.p.ops[i]
	var r result
	switch o.kind {
	case makes:
		r = m.make(i, o)
	case ends:
		r = m.end(i, o)
	case places:
		m.mapping[i] = mapped
	case unmaps:
		for _, t := range o.touches {
			m.mapping[t.mapping] = 0
		}
		for _, id := range o.blocks {
			m.state[id], m.ended[id] = ended, i
		}
	case permits:
		for _, t := range o.touches {
			m.mapping[t.mapping] = mapped | m.p.Trace.Records[i].Flags
		}
	default:
		r = m.use(i, o)
	}
	m.results[i] = r
}

// make has an allocation begin. One from before the trace holds what it held.
func (m *memory) make(i int, o *op) (r result) {
	for k, t := range o.touches {
		if passes(&m.p.Trace.Records[i]) && m.state[t.memory] == unborn {
			r.note(k, len(o.touches), unborn)
		}
	}
	for _, t := range o.touches {
		h := m.holder[t.memory]
		if h == nil {
			h = &interval.Map[int64, trace.ID]{}
			m.holder[t.memory] = h
		}
		h.Set(t.lo, t.hi, o.memory)
	}
	if m.state[o.memory] == ended {
		// the host has freed it already, which CUDA allows: Free, unlike FreeAsync, does not need the memory to be there
		return r
	}
	delete(m.state, o.memory)
	if m.p.Trace.Records[i].Site != 0 {
		m.clear(o)
	}
	return r
}

// clear has memory hold nothing that anybody has written.
func (m *memory) clear(o *op) {
	if o.part {
		return
	}
	b := m.of(o.memory)
	b.Reset()
	b.Set(0, o.size, fresh)
}

// end has an allocation end. What it holds then counts as read: of two writes in either order one shows there.
func (m *memory) end(i int, o *op) (r result) {
	waits := m.endsWhenIdle(i)
	for k, t := range o.touches {
		if passes(&m.p.Trace.Records[i]) { // the bytes stay as they are, until another is handed out there
			if m.state[o.memory] == unborn {
				r.note(k, len(o.touches), unborn)
			}
			continue
		}
		if s := m.state[o.memory]; s != unborn || queued(&m.p.Trace.Records[i]) { // Free does not mind
			r.note(k, len(o.touches), s)
		}
		switch {
		case t.block == o.memory:
			m.retract(&r, t)
		case !waits:
			m.read(&r, t)
		}
	}
	m.state[o.memory] = ended
	m.ended[o.memory] = i
	return r
}

// endsWhenIdle reports whether a free is Free of memory from Malloc. It waits for the device on every driver that was
// seen, so the order checker has no more than a remark for work that it does not come after.
func (m *memory) endsWhenIdle(i int) bool {
	return m.p.Trace.Records[i].Op == trace.OpFree && m.p.ops[i].from == trace.OpMalloc
}

// by notes as what some bytes were written.
func (m *memory) by(t touch) {
	w := m.owner[t.memory]
	switch {
	case t.block != 0 && w == nil:
		w = &interval.Map[int64, trace.ID]{}
		m.owner[t.memory] = w
		fallthrough
	case t.block != 0:
		w.Set(t.lo, t.hi, t.block)
	case w != nil:
		w.Cut(t.lo, t.hi)
	}
}

// retract reads and ends what was written to a block as such: the next one that has its bytes begins without.
func (m *memory) retract(r *result, t touch) {
	w := m.owner[t.memory]
	if w == nil {
		return
	}
	for _, s := range slices.Collect(w.Within(t.lo, t.hi)) {
		if s.Value == t.block {
			written := t
			written.lo, written.hi = s.Lo, s.Hi
			m.read(r, written)
			m.of(t.memory).Set(s.Lo, s.Hi, fresh)
			w.Cut(s.Lo, s.Hi)
		}
	}
}

// anothers reports whether some bytes of a block were written as a block's that was taken back before this one was
// handed out.
func (m *memory) anothers(t touch) bool {
	w := m.owner[t.memory]
	if w == nil || t.block == 0 {
		return false
	}
	for s := range w.Within(t.lo, t.hi) {
		if m.follows(t.block, s.Value) {
			return true
		}
	}
	return false
}

// lost reports whether some bytes of a block were handed out again.
func (m *memory) lost(t touch) bool {
	h := m.holder[t.memory]
	if h == nil || t.block == 0 {
		return false
	}
	for s := range h.Within(t.lo, t.hi) {
		if m.follows(s.Value, t.block) {
			return true
		}
	}
	return false
}

// follows reports whether a block was handed out after another had been taken back.
func (m *memory) follows(block, other trace.ID) bool {
	back, known := m.p.space.back[other]
	return known && block != other && back < m.p.space.made[block]
}

func (m *memory) use(i int, o *op) (r result) {
	for k, t := range o.touches {
		r.note(k, len(o.touches), m.usable(i, t))
		found := &r
		if t.kind == trace.Write {
			continue
		}
		if t.kind == trace.Atomic { // what it finds is no part of what it adds
			found = &result{}
		}
		if m.read(found, t) || m.anothers(t) {
			r.note(k, len(o.touches), notWritten)
		}
	}
	value := mix(uint64(i)+1, r.values)
	if m.parts {
		m.writer[value] = i
	}
	for _, t := range o.touches {
		b := m.of(t.memory)
		switch {
		case m.usable(i, t) != exists:
		case t.kind == trace.Write:
			b.Set(t.lo, t.hi, value)
			m.by(t)
		case t.kind == trace.Atomic:
			m.settle(t)
			for _, s := range slices.Collect(b.Within(t.lo, t.hi)) {
				sum := notZero(s.Value + value)
				b.Set(s.Lo, s.Hi, sum)
				if m.parts {
					m.writer[sum] = i
				}
			}
		}
	}
	return r
}

// usable is in which state a call finds what it uses.
func (m *memory) usable(i int, t touch) state {
	for _, id := range []trace.ID{t.memory, t.block} {
		s := m.state[id]
		if s == ended && i < m.ended[id] && m.endsWhenIdle(m.ended[id]) {
			continue
		}
		if s != exists {
			return s
		}
	}
	if m.lost(t) {
		return ended
	}
	if t.partly {
		return unmapped
	}
	if t.mapping >= 0 && m.only(t.mapping) {
		switch flags := m.mapping[t.mapping]; {
		case flags&mapped == 0:
			return unmapped
		case flags&mayReadWrite == mayReadWrite, t.kind == trace.Read && flags&mayRead != 0:
		default:
			return forbidden
		}
	}
	return exists
}

// settle gives bytes that nothing is known of the value that they have.
func (m *memory) settle(t touch) {
	b, at := m.of(t.memory), t.lo
	for _, s := range slices.Collect(b.Within(t.lo, t.hi)) {
		b.Set(at, s.Lo, before)
		at = s.Hi
	}
	b.Set(at, t.hi, before)
}

// read takes in what some bytes hold, and reports whether some of them hold nothing that was ever written.
func (m *memory) read(r *result, t touch) (unwritten bool) {
	at, last := t.lo, uint64(0)
	r.values = mix(r.values, uint64(t.memory))
	take := func(lo, hi int64, value uint64) {
		if lo < hi && (lo == t.lo || value != last) {
			r.values = mix(mix(r.values, uint64(lo)), value)
			last = value
			if m.parts {
				r.parts = append(r.parts, seen{t, lo, hi, value})
			}
		} else if n := len(r.parts); m.parts && n > 0 && lo < hi {
			r.parts[n-1].hi = hi
		}
		unwritten = unwritten || value == fresh
	}
	for s := range m.of(t.memory).Within(t.lo, t.hi) {
		take(at, s.Lo, before)
		take(s.Lo, s.Hi, s.Value)
		at = s.Hi
	}
	take(at, t.hi, before)
	r.values = mix(r.values, uint64(t.hi))
	return unwritten
}

// mix makes one value of two (the finaliser of SplitMix64, by Steele, Lea and Flood).
func mix(a, b uint64) uint64 {
	x := a*0x9E3779B97F4A7C15 + b + 0xD1B54A32D192ED03
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return notZero(x ^ x>>31)
}

// notZero keeps a value apart from those that no call writes.
func notZero(v uint64) uint64 {
	if v == 0 || v == fresh || v == before {
		return v + 1
	}
	return v
}
