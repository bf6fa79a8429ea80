package order

import (
	"math/rand/v2"

	"cudalab/native/trace"
)

// randomPlace is of device memory.
func (p *steps) randomPlace(random *rand.Rand) int {
	if !p.virtual {
		return random.IntN(pinned)
	}
	switch n := random.IntN(12); {
	case n < 5:
		return slot + random.IntN(handed-slot)
	case n < 9:
		return handed + random.IntN(handles-handed)
	}
	return random.IntN(pinned)
}

// randomReach is a piece that may go on from the first slot to the second.
func (p *steps) randomReach(random *rand.Rand) piece {
	x := p.randomPiece(random, p.randomPlace(random))
	if x.place == slot && random.IntN(3) == 0 {
		x.size += random.Int64N(p.bytes)
	}
	return x
}

// randomMapping puts memory behind addresses, mostly to be read and written.
func (p *steps) randomMapping(random *rand.Rand) []step {
	at, handle := piece{place: slot + random.IntN(handed-slot)}, piece{place: handles + random.IntN(nothing-handles)}
	list := []step{{op: trace.OpMemCreate, to: handle}, {op: trace.OpMemMap, to: at, from: handle}}
	if random.IntN(8) > 0 {
		list = append(list, step{op: trace.OpMemSetAccess, to: at, access: []uint32{readWrite, readWrite, readWrite,
			readOnly}[random.IntN(4)]})
	}
	return list
}

// randomBlock hands out a block.
func (p *steps) randomBlock(random *rand.Rand) []step {
	s := step{op: trace.OpBlockAlloc, to: p.randomReach(random), from: piece{place: handed + random.IntN(handles-handed)}}
	user := p.randomStream(random)
	if s.inStream = random.IntN(2) == 0; s.inStream {
		if s.stream = user; random.IntN(8) == 0 {
			s.stream = p.randomStream(random)
		}
	}
	return []step{s, {op: trace.OpMemsetAsync, stream: user, to: piece{place: s.from.place, size: 1}}}[:1+random.IntN(2)]
}

// randomReuse hands out a block, takes it back, and hands the same bytes out again, all in the order of streams.
func (p *steps) randomReuse(random *rand.Rand) (list []step) {
	bytes, into := p.randomPiece(random, []int{old, made, slot}[random.IntN(3)]),
		piece{place: handed + random.IntN(handles-handed), size: 1}
	for range 2 {
		s := step{inStream: true, stream: p.randomStream(random), to: bytes, from: into}
		for _, op := range []trace.Op{trace.OpBlockAlloc, trace.OpMemsetAsync, trace.OpBlockFree} {
			s.op = op
			if op != trace.OpBlockAlloc {
				s.to = into
			}
			if random.IntN(8) > 0 {
				list = append(list, s)
			}
		}
		switch random.IntN(4) {
		case 0:
			s.op = trace.OpEventRecord
			wait := step{op: trace.OpStreamWaitEvent, stream: p.randomStream(random)}
			list = append(list, s, wait)
		case 1:
			s.op = trace.OpStreamSynchronize
			list = append(list, s)
		}
	}
	return list
}

// randomVirtual is what a program does with its addresses, which makes little sense either.
func (p *steps) randomVirtual(random *rand.Rand) (list []step) {
	s := step{to: piece{place: slot + random.IntN(handed-slot)}, slots: 1 + random.IntN(2)}
	switch random.IntN(3) {
	case 0:
		list = append(list, step{op: trace.OpDeviceSynchronize})
	case 1:
		list = append(list, p.randomLaunch(random, step{stream: p.randomStream(random)})...)
	}
	switch n := random.IntN(24); {
	case n < 6:
		return p.randomMapping(random)
	case n < 9:
		s.op = trace.OpMemUnmap
	case n < 13:
		s.op, s.to.place = trace.OpBlockFree, handed+random.IntN(handles-handed)
		s.inStream, s.stream = random.IntN(2) == 0, p.randomStream(random)
	case n < 17:
		return p.randomBlock(random)
	case n < 19:
		return p.randomReuse(random)
	case n < 22:
		s.op, s.access = trace.OpMemSetAccess, []uint32{readWrite, readOnly, 0}[random.IntN(3)]
	default:
		s.op, s.to.place = trace.OpMemRelease, handles+random.IntN(nothing-handles)
	}
	return append(list, s)
}

// reserve reserves the addresses of the slots: two side by side, and one.
func (b *built) reserve() {
	b.released = map[*memory]bool{}
	for k, slots := range []int64{2, 1} {
		b.reserved[k] = len(b.calls)
		r := trace.Record{Op: trace.OpMemAddressReserve, Addr: uint64(b.slotAt(2 * k)), Size: slots * b.bytes}
		b.add(r, call{onHost: true, waits: -1}, machineCall{})
	}
}

// virtualStep is of virtual memory management. What CUDA would refuse is left out.
func (b *built) virtualStep(s step) {
	r := trace.Record{Op: s.op, Size: b.bytes, Flags: s.access}
	c := call{onHost: true, waits: -1}
	i, k := len(b.calls), s.to.place-slot
	switch s.op {
	case trace.OpBlockFree:
		b.takeBack(s)
		return
	case trace.OpMemCreate, trace.OpMemRelease:
		m := b.places[s.to.place]
		gone := m == nil || b.released[m]
		if gone != (s.op == trace.OpMemCreate) {
			return
		}
		if gone {
			m = &memory{op: s.op, birth: i, death: -1}
			b.fill(s.to.place, m)
		} else {
			r.Size = 0
		}
		b.released[m] = !gone
		r.Alloc = m.id
	case trace.OpMemMap:
		m := b.places[s.from.place]
		if m == nil || b.released[m] || b.mapped[k] != nil {
			return
		}
		v := &view{memory: m, base: b.slotAt(k), size: b.bytes, made: i, ended: -1}
		b.mapped[k] = v
		b.memories.take(&region{m, v.base, v.size, v})
		r.Alloc, r.Addr = m.id, uint64(v.base)
	default:
		views := b.mapped[k : k+1]
		if k == 0 && s.slots == 2 && b.mapped[1] != nil {
			views = b.mapped[:2]
		}
		if views[0] == nil {
			return
		}
		r.Addr, r.Size = uint64(views[0].base), int64(len(views))*b.bytes
		for j, v := range views {
			if s.op == trace.OpMemSetAccess {
				v.access = s.access
				c.limits = append(c.limits, limit{v, s.access})
				continue
			}
			v.ended = i
			c.ends = append(c.ends, v)
			b.give(v.base)
			views[j] = nil
		}
	}
	b.add(r, c, machineCall{})
}

// limited is the call behind call i that first takes away what a use through a mapping needs; -1: none does.
func (b *built) limited(i int, v *view, kind trace.AccessKind) int {
	for k := i + 1; k < len(b.calls); k++ {
		for _, l := range b.calls[k].limits {
			if l.view == v && needs(kind)&^l.access != 0 {
				return k
			}
		}
	}
	return -1
}
