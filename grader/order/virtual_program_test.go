package order

import (
	"slices"

	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// page is a size that the simulator maps memory in multiples of.
const page = 2 << 20

// virtual is the part of program that has addresses apart from memory, and blocks. A range of addresses has a number,
// from 1; memory that MemCreate has made is named as all memory is, and means the addresses it was mapped to last.
type virtual interface {
	Reserve(size int64) int
	FreeRange(v int, size int64)
	Create(size int64) trace.ID
	Release(m trace.ID)
	Map(v int, offset int64, m trace.ID) // all of m
	Unmap(v int, offset, size int64)
	SetAccess(v int, offset, size int64, flags uint32)
	MemsetAt(v int, offset, size int64) // where nothing was ever mapped

	HandOut(m trace.ID, offset, size int64) trace.ID // BlockAlloc, in the memory m
	TakeBack(m trace.ID)                             // BlockFree
	HandOutIn(m trace.ID, offset, size int64, s trace.ID) trace.ID
	TakeBackIn(m, s trace.ID)
}

const (
	readOnly  = uint32(cuda.MemAccessFlagsProtRead)
	readWrite = uint32(cuda.MemAccessFlagsProtReadWrite)
)

// mapped is memory mapped to a range of its own, ready to be used.
func mapped(p program) (v int, m trace.ID) {
	v, m = p.Reserve(page), p.Create(page)
	p.Map(v, 0, m)
	p.SetAccess(v, 0, page, readWrite)
	return v, m
}

// giveBack gives back what mapped made.
func giveBack(p program, v int, m trace.ID) {
	p.Unmap(v, 0, page)
	p.Release(m)
	p.FreeRange(v, page)
}

// placed is memory mapped to addresses.
type placed struct {
	at, size int64
	memory   trace.ID
	access   uint32
}

// addressing is what handmade knows of addresses.
type addressing struct {
	ranges []int64 // sizes of the ranges; 0 once given back
	placed []placed
	where  map[trace.ID]int64    // of physical memory and blocks
	around map[trace.ID]trace.ID // of blocks
}

func newAddressing() addressing {
	return addressing{where: map[trace.ID]int64{}, around: map[trace.ID]trace.ID{}}
}

func rangeAt(v int, offset int64) int64 { return int64(v)<<40 + offset }

// between are the mappings that have some of the addresses, and whether those are whole mappings, with holes or
// without.
func (h *addressing) between(at, size int64) (list []*placed, whole bool) {
	whole = size > 0 && h.ranges[at>>40-1] > 0
	for i := range h.placed {
		if m := &h.placed[i]; m.at < at+size && at < m.at+m.size {
			list = append(list, m)
			whole = whole && at <= m.at && m.at+m.size <= at+size
		}
	}
	return list, whole
}

// reach reports whether the device finds memory at some addresses that it may access.
func (h *addressing) reach(at, size int64, kind trace.AccessKind) bool {
	for _, m := range h.placed {
		if m.at <= at && at < m.at+m.size {
			enough := m.access == readWrite || m.access == readOnly && kind == trace.Read
			return enough && (at+size <= m.at+m.size || h.reach(m.at+m.size, at+size-m.at-m.size, kind))
		}
	}
	return false
}

// answer appends r, which the device refuses if it is not ok, and reports whether it succeeded.
func (h *handmade) answer(r trace.Record, ok bool) bool {
	if !ok {
		r.Code = invalidValue
	}
	return h.t.Records[h.add(r)].Code == 0
}

func (h *handmade) Reserve(size int64) int {
	h.ranges = append(h.ranges, size)
	v := len(h.ranges)
	h.add(trace.Record{Op: trace.OpMemAddressReserve, Addr: uint64(rangeAt(v, 0)), Size: size})
	return v
}

func (h *handmade) FreeRange(v int, size int64) {
	r := trace.Record{Op: trace.OpMemAddressFree, Addr: uint64(rangeAt(v, 0)), Size: size}
	free := !slices.ContainsFunc(h.placed, func(m placed) bool { return m.at>>40 == int64(v) })
	if h.answer(r, free && h.ranges[v-1] == size) {
		h.ranges[v-1] = 0
	}
}

func (h *handmade) Create(size int64) trace.ID {
	m := h.allocation(size)
	h.add(trace.Record{Op: trace.OpMemCreate, Alloc: m, Size: size})
	h.where[m], h.freed[m] = 0, true
	return m
}

func (h *handmade) Release(m trace.ID) {
	h.add(trace.Record{Op: trace.OpMemRelease, Alloc: m})
}

func (h *handmade) Map(v int, offset int64, m trace.ID) {
	r := trace.Record{Op: trace.OpMemMap, Addr: uint64(rangeAt(v, offset)), Size: h.sizes[m], Alloc: m}
	if h.answer(r, true) {
		h.placed = append(h.placed, placed{int64(r.Addr), r.Size, m, 0})
		slices.SortFunc(h.placed, func(a, b placed) int { return int(a.at - b.at) })
		h.where[m], h.freed[m] = int64(r.Addr), false
	}
}

func (h *handmade) Unmap(v int, offset, size int64) {
	at := rangeAt(v, offset)
	r := trace.Record{Op: trace.OpMemUnmap, Addr: uint64(at), Size: size}
	gone, whole := h.between(at, size)
	if !whole {
		r.Code = invalidValue
	}
	h.both(r)
	if !whole {
		return
	}
	for _, m := range gone {
		h.freed[m.memory] = h.freed[m.memory] || h.where[m.memory] == m.at
	}
	h.placed = slices.DeleteFunc(h.placed, func(m placed) bool { return at <= m.at && m.at < at+size })
}

func (h *handmade) SetAccess(v int, offset, size int64, flags uint32) {
	r := trace.Record{Op: trace.OpMemSetAccess, Addr: uint64(rangeAt(v, offset)), Size: size, Flags: flags}
	at := rangeAt(v, offset)
	list, _ := h.between(at, size)
	if !h.answer(r, len(list) > 0) {
		return
	}
	for _, m := range list {
		if m.at != at {
			return // behind a hole nothing is done
		}
		m.access = flags
		at += m.size
	}
}

func (h *handmade) MemsetAt(v int, offset, size int64) {
	h.add(trace.Record{Op: trace.OpMemset, Code: invalidValue,
		Accesses: []trace.Access{{Offset: rangeAt(v, offset), Size: size, Kind: trace.Write}}})
}

func (h *handmade) HandOut(m trace.ID, offset, size int64) trace.ID {
	return h.handOut(trace.Record{}, m, offset, size)
}

func (h *handmade) HandOutIn(m trace.ID, offset, size int64, s trace.ID) trace.ID {
	return h.handOut(trace.Record{Flags: trace.InStream, Stream: s}, m, offset, size)
}

func (h *handmade) handOut(r trace.Record, m trace.ID, offset, size int64) trace.ID {
	at, ok := h.where[m]
	if !ok {
		at = int64(h.addr(m, 0))
	}
	b := h.allocation(size)
	h.where[b], h.around[b] = at+offset, m
	r.Op, r.Alloc, r.Addr, r.Size, r.Value = trace.OpBlockAlloc, b, uint64(at+offset), size, uint64(m)
	h.add(r)
	return b
}

func (h *handmade) TakeBack(b trace.ID) { h.takeBack(trace.Record{}, b) }

func (h *handmade) TakeBackIn(b, s trace.ID) {
	h.takeBack(trace.Record{Flags: trace.InStream, Stream: s}, b)
}

func (h *handmade) takeBack(r trace.Record, b trace.ID) {
	r.Op, r.Alloc, r.Addr, r.Freed = trace.OpBlockFree, b, uint64(h.where[b]), h.freed[b]
	if h.freed[h.around[b]] {
		r.Alloc, r.Freed = 0, false
	}
	h.add(r)
	h.freed[b] = true
}

// resolve is where an access to a block goes once the memory around it is gone.
func (h *handmade) resolve(x trace.Access) trace.Access {
	if around := h.around[x.Alloc]; around != 0 && h.freed[around] {
		base, ok := h.where[around]
		if !ok {
			base = int64(h.addr(around, 0))
		}
		x.Offset += h.where[x.Alloc] - base
		x.Alloc, x.Freed = around, true
	}
	if at, ok := h.where[x.Alloc]; ok && h.around[x.Alloc] == 0 {
		x.Addr = uint64(at + x.Offset)
	}
	return x
}

// split is an access to mapped memory, one for each of the mappings that it spans.
func (h *handmade) split(x trace.Access) []trace.Access {
	beyond := x.Offset + x.Size - h.sizes[x.Alloc]
	for _, m := range h.placed {
		if beyond > 0 && !x.Freed && m.at == h.where[x.Alloc]+h.sizes[x.Alloc] {
			x.Size -= beyond
			return []trace.Access{x, {Alloc: m.memory, Size: beyond, Kind: x.Kind, Arg: x.Arg, Addr: uint64(m.at)}}
		}
	}
	return []trace.Access{x}
}

// refuses reports whether the device refuses a copy or memset that makes such an access.
func (h *handmade) refuses(x trace.Access) bool {
	if at, virtual := h.where[x.Alloc]; virtual && at>>40 > 0 && !h.reach(at+x.Offset, x.Size, x.Kind) {
		return true
	}
	return x.Freed || h.around[x.Alloc] == 0 && x.Offset+x.Size > h.sizes[x.Alloc]
}

// finishVirtual gives back what is left.
func (h *handmade) finishVirtual() {
	for _, m := range slices.Clone(h.placed) {
		h.Unmap(int(m.at>>40), m.at&(1<<40-1), m.size)
	}
	for i := range slices.Clone(h.t.Records) {
		if r := &h.t.Records[i]; r.Op == trace.OpMemCreate && !h.gone[object{trace.OpMemRelease, r.Alloc}] {
			h.Release(r.Alloc)
		}
	}
	for i, size := range h.ranges {
		if size > 0 {
			h.FreeRange(i+1, size)
		}
	}
}
