package order

import "cudalab/native/trace"

// layout is what a program has made of its addresses, byte by byte, as a session knows it.
type layout struct {
	memories, blocks table
	mapped           [handed - slot]*view // by slot; nil: nothing
	handedOut        [handles - handed]*view
	reserved         [2]int // the calls that reserved the first two slots, and the third
	released         map[*memory]bool
}

// view is a mapping of memory, or a block of it: a way to its bytes that begins and ends. Made and ended are calls; -1:
// none.
type view struct {
	memory      *memory // of a block: only its identity
	base, size  int64   // its addresses
	made, ended int
	access      uint32 // of a mapping
	overlapped  int    // of a block: the call since which another has some of its bytes; -1: none
	inStream    bool   // of a block: it was handed out in the order of a stream
}

// limit is that from a call on what goes through a mapping may do so much.
type limit struct {
	view   *view
	access uint32
}

// region is what some addresses mean.
type region struct {
	memory *memory
	base   int64 // the address of its first byte
	size   int64
	view   *view // nil: all of an allocation
}

func (r *region) isBlock() bool { return r.view != nil && r.memory.op == trace.OpBlockAlloc }

type table struct{ live, dead map[int64]*region }

func (t *table) take(r *region) {
	if t.live == nil {
		t.live, t.dead = map[int64]*region{}, map[int64]*region{}
	}
	for at := r.base; at < r.base+r.size; at++ {
		t.live[at] = r
	}
}

func (t *table) give(r *region) {
	for at := r.base; at < r.base+r.size; at++ {
		if t.live[at] == r {
			t.dead[at] = r
			delete(t.live, at)
		}
	}
}

func (t *table) forget(lo, hi int64) {
	for at := lo; at < hi; at++ {
		delete(t.live, at)
		delete(t.dead, at)
	}
}

// find is the region that an address is in, or that was there last, and where that part of it ends.
func (t *table) find(at int64) (r *region, dead bool, end int64) {
	look := func(at int64) (*region, bool) {
		if r := t.live[at]; r != nil {
			return r, false
		}
		return t.dead[at], true
	}
	if r, dead = look(at); r == nil {
		return nil, false, at
	}
	for end = at + 1; ; end++ {
		if x, d := look(end); x != r || d != dead {
			return r, dead, end
		}
	}
}

// addressOf is the address of an allocation in a place. Every slot has the bytes of one allocation.
func addressOf(place int) int64 { return int64(place+1) << 20 }

func (b *built) slotAt(k int) int64 {
	if k == 2 {
		return 2 << 40
	}
	return 1<<40 + int64(k)*b.bytes
}

// at is where a piece begins, if anything ever was in its place.
func (b *built) at(p piece) (at int64, known bool) {
	switch {
	case p.place >= handed:
		v := b.handedOut[p.place-handed]
		if v == nil {
			return 0, false
		}
		return v.base + p.lo, true
	case p.place >= slot:
		return b.slotAt(p.place-slot) + p.lo, true
	}
	return addressOf(p.place) + p.lo, b.places[p.place] != nil
}

func (b *built) take(m *memory, at, size int64) { b.memories.take(&region{m, at, size, nil}) }

// give takes in that the memory from an address on is gone, with the blocks in it.
func (b *built) give(at int64) {
	r := b.memories.live[at]
	b.memories.give(r)
	b.blocks.forget(at, at+r.size)
	for _, v := range b.handedOut {
		if v != nil && v.ended < 0 && v.base < at+r.size && at < v.base+v.size {
			v.ended = len(b.calls)
		}
	}
}

// needs is the access that a use of mapped memory takes.
func needs(kind trace.AccessKind) uint32 {
	if kind == trace.Read {
		return readOnly
	}
	return readWrite
}

// reaches reports whether the device finds memory at all of some addresses, and may use it. Of blocks of memory that is
// not the program's nothing is known.
func (b *built) reaches(lo, size int64, kind trace.AccessKind) bool {
	for at := lo; at < lo+size; at++ {
		r, dead, _ := b.memories.find(at)
		switch {
		case r == nil:
			return false
		case r.memory.op == trace.OpBlockAlloc:
		case dead, r.view != nil && needs(kind)&^r.view.access != 0:
			return false
		}
	}
	return true
}

// touch is what an access to some addresses means, and how a session records it: as one to the block that it begins in,
// or else to the memory, one for each of the mappings that lie side by side.
func (b *built) touch(at, size int64, kind trace.AccessKind) (uses []use, accesses []trace.Access) {
	for {
		x := trace.Access{Offset: at, Size: size, Kind: kind}
		r, dead, end := b.blocks.find(at)
		if r == nil || dead && at+size > r.base+r.size { // then it is the allocator's own
			r, dead, end = b.memories.find(at)
		}
		if r == nil {
			return append(uses, use{broken: OutOfBounds, by: b.reservation(at), kind: kind}), append(accesses, x)
		}
		x.Alloc, x.Freed, x.Offset = r.memory.id, dead, at-r.base
		if r.view != nil && !r.isBlock() {
			x.Addr = uint64(at)
			if next, _, _ := b.memories.find(end); end-at < size && next != nil {
				x.Size = end - at
			}
		}
		accesses = append(accesses, x)
		uses = append(uses, b.uses(r, dead, at, x.Size, kind)...)
		if x.Size == size {
			return uses, accesses
		}
		at, size = end, size-x.Size
	}
}

// uses is what it means to use some bytes of a region, which may go beyond its end.
func (b *built) uses(r *region, dead bool, at, size int64, kind trace.AccessKind) (list []use) {
	beyond := at + size - r.base - r.size
	switch {
	case r.view != nil && (dead || r.view.ended >= 0):
		return []use{{broken: UseAfterFree, by: r.view.ended, kind: kind}}
	case dead:
		return []use{{broken: UseAfterFree, by: r.memory.death, kind: kind}}
	}
	// what belongs to a block, and what to the other, is not known
	if beyond > 0 && (!r.isBlock() || r.view.overlapped < 0) {
		list = append(list, use{broken: OutOfBounds, by: r.memory.birth, kind: kind})
	}
	size -= max(beyond, 0)
	if !r.isBlock() {
		return append(list, b.useOf(r, at, size, kind))
	}
	var inside []use
	for size > 0 {
		around, dead, end := b.memories.find(at)
		if whole, _, _ := b.memories.find(r.base); around == nil && whole.view == nil {
			list = append(list, use{broken: OutOfBounds, by: whole.memory.birth, kind: kind})
			break
		}
		if around == nil || dead {
			return append(list, use{broken: OutOfBounds, by: b.reservation(r.base), kind: kind})
		}
		n := min(end-at, size)
		u := b.useOf(around, at, n, kind)
		if u.broken != "" {
			return append(list, u)
		}
		u.views = append(u.views, r.view)
		inside = append(inside, u)
		at, size = at+n, size-n
	}
	return append(list, inside...)
}

// useOf is a use of memory, by way of a mapping if it is mapped.
func (b *built) useOf(r *region, at, size int64, kind trace.AccessKind) use {
	u := use{memory: r.memory, lo: at - r.base, hi: at + size - r.base, kind: kind}
	if v := r.view; v != nil {
		u.views = []*view{v}
		if needs(kind)&^v.access != 0 {
			return use{broken: OutOfBounds, by: v.made, kind: kind}
		}
	}
	return u
}

// reservation is the call that reserved an address; -1: none did.
func (b *built) reservation(at int64) int {
	for k, slots := range []int64{2, 1} {
		if lo := b.slotAt(2 * k); lo <= at && at < lo+slots*b.bytes {
			return b.reserved[k]
		}
	}
	return -1
}

// handOut hands out a block of the memory at some addresses, which may go on to where there is none.
func (b *built) handOut(s step) {
	k, i := s.from.place-handed, len(b.calls)
	at, known := b.at(s.to)
	around, dead, _ := b.memories.find(at)
	if b.handedOut[k] != nil && b.handedOut[k].ended < 0 || !known || dead || around == nil ||
		around.memory.op == trace.OpBlockAlloc {
		return
	}
	parted := []*memory{around.memory}
	var holds []byteOf
	v := &view{memory: &memory{op: s.op, birth: i, death: -1}, base: at, size: s.to.size, made: i, ended: -1,
		overlapped: -1, inStream: s.inStream}
	for x := at; x < at+s.to.size; x++ {
		if r := b.blocks.live[x]; r != nil && r.view.ended < 0 {
			v.overlapped = i
			if r.view.overlapped < 0 {
				r.view.overlapped = i
			}
		}
		if r := b.memories.live[x]; r != nil {
			parted = append(parted, r.memory)
			if r == around || r.view != nil && around.view != nil {
				holds = append(holds, byteOf{r.memory, x - r.base})
			}
		}
	}
	b.name(v.memory)
	b.handedOut[k] = v
	b.blocks.take(&region{v.memory, at, v.size, v})
	b.add(s.placed(trace.Record{Op: s.op, Alloc: v.memory.id, Addr: uint64(at), Size: v.size,
		Value: uint64(around.memory.id)}),
		call{onHost: !s.inStream, passes: s.inStream, parts: parted, hands: v, holds: holds, waits: -1}, machineCall{})
}

// takeBack takes a block back, perhaps once more.
func (b *built) takeBack(s step) {
	v := b.handedOut[s.to.place-handed]
	if v == nil {
		return
	}
	r, dead, _ := b.blocks.find(v.base)
	if r == nil || r.view != v {
		return
	}
	c := call{onHost: !s.inStream, passes: s.inStream, waits: -1}
	switch {
	case v.ended < 0:
		c.ends = []*view{v}
		v.ended = len(b.calls)
	case b.calls[v.ended].op == trace.OpBlockFree:
		c.again = v
	}
	if !dead {
		b.blocks.give(r)
	}
	b.add(s.placed(trace.Record{Op: s.op, Alloc: v.memory.id, Addr: uint64(v.base), Freed: dead}), c, machineCall{})
}

// placed is the record of a block's being handed out or taken back, in a stream or not.
func (s step) placed(r trace.Record) trace.Record {
	if s.inStream {
		r.Stream, r.Flags = s.stream, trace.InStream
	}
	return r
}
