package sim

import (
	"iter"
	"slices"
	"sort"
)

// alignment of everything handed out, as cuMemAlloc and pools align.
const alignment = 512

// reach is how many addresses a heap has: far more than any device has memory, so that the run behind the last
// allocation is always the largest.
const reach = 1 << 44

// heap hands out parts of a stretch of addresses, which it maps in steps as they are needed.
type heap struct {
	step  uint64   // bytes
	live  []*block // allocations, by address
	free  []*block // all other addresses, by address
	held  uint64   // bytes mapped
	frees uint64   // how many there were
	loose bool     // something may be outstanding on a free block
}

// block is a stretch of addresses: an allocation, free memory, or a gap where nothing is mapped.
type block struct {
	addr, size uint64
	asked      uint64 // bytes the program asked for; 0 while free
	gap        bool   // whole steps that are not mapped
	turn       uint64 // of free memory: the heap's frees when it was freed; 0: it never was
	freed      *op    // of free memory: the stream-ordered free that the host has not seen finished; nil: it is anyone's
	after      *op    // the last operation on the block itself: the next owner's first comes behind it; nil: none
}

// newHeap is a heap of so many addresses, which begin at a multiple of its step.
func newHeap(base, reach, step uint64) heap {
	return heap{step: step, free: []*block{{addr: base, size: reach, gap: true}}}
}

func (b *block) end() uint64 { return b.addr + b.size }

// idle reports whether nothing is outstanding on the block itself.
func (b *block) idle() bool { return b.after == nil || b.after.done }

func roundUp(n, unit uint64) uint64 { return (n + unit - 1) / unit * unit }

// at is the index of the first block that ends behind an address.
func at(blocks []*block, address uint64) int {
	return sort.Search(len(blocks), func(i int) bool { return blocks[i].end() > address })
}

// holding is the allocation that an address lies in, or nil.
func (h *heap) holding(address uint64) *block {
	if i := at(h.live, address); i < len(h.live) {
		if b := h.live[i]; b.addr <= address && address-b.addr < b.asked {
			return b
		}
	}
	return nil
}

// run is a stretch of neighbouring free blocks.
type run struct {
	addr, size uint64
	turn       uint64 // when the last of it was freed
	pending    bool   // the host has not seen all of it freed
}

func (r run) end() uint64 { return r.addr + r.size }

// runs are the longest runs of the free blocks that are in, by address.
func (h *heap) runs(in func(*block) bool) iter.Seq[run] {
	return func(yield func(run) bool) {
		var r run
		for _, b := range h.free {
			chosen := in(b)
			if r.size > 0 && (!chosen || b.addr != r.end()) {
				if !yield(r) {
					return
				}
				r = run{}
			}
			if chosen {
				r = run{b.end() - r.size - b.size, r.size + b.size, max(r.turn, b.turn), r.pending || b.freed != nil}
			}
		}
		if r.size > 0 {
			yield(r)
		}
	}
}

// take hands out memory at the start of the smallest run of gaps and usable blocks that has room, and maps what is
// missing there: at most so many bytes. It answers the operations that the new owner's first one comes behind; a nil
// block where nothing fits. So an H200 with driver 580 places what it allocates from a pool, in a hole rather than in
// what is mapped behind the last allocation. Of runs of one size it was seen to take the one freed first, and after a
// synchronisation the one freed last.
func (h *heap) take(m *memory, asked, room uint64, usable func(*block) bool) (*block, []*op) {
	size := roundUp(asked, alignment)
	var best run
	for r := range h.runs(func(b *block) bool { return b.gap || usable(b) }) {
		switch {
		case r.size < size, best.size > 0 && r.size > best.size:
			continue
		case r.size == best.size && (r.turn < best.turn) != (r.pending && best.pending):
			continue
		}
		if h.missing(r.addr, r.addr+size) <= room {
			best = r
		}
	}
	if best.size == 0 {
		return nil, nil
	}
	h.mapGaps(m, best.addr, best.addr+size)
	i, j := h.split(best.addr), h.split(best.addr+size)
	var after []*op
	for _, part := range h.free[i:j] {
		if !part.idle() {
			after = append(after, part.after)
		}
	}
	b := h.free[i]
	*b = block{addr: best.addr, size: size, asked: asked}
	h.free = slices.Delete(h.free, i, j)
	h.live = slices.Insert(h.live, at(h.live, b.addr), b)
	return b, after
}

// missing is how many bytes mapGaps would map.
func (h *heap) missing(from, to uint64) (n uint64) {
	for i := at(h.free, from); i < len(h.free) && h.free[i].addr < to; i++ {
		if b := h.free[i]; b.gap {
			n += min(b.end(), roundUp(to, h.step)) - b.addr
		}
	}
	return n
}

// mapGaps maps the steps that are missing between two addresses, the first of which does not lie inside a gap.
func (h *heap) mapGaps(m *memory, from, to uint64) {
	for i := at(h.free, from); i < len(h.free) && h.free[i].addr < to; i++ {
		if b := h.free[i]; b.gap {
			h.split(min(b.end(), roundUp(to, h.step)))
			b.gap = false
			h.held += b.size
			m.add(b.addr, b.size)
		}
	}
}

// split divides the free block that an address lies inside. It answers the index of the first free block that does not
// lie before the address.
func (h *heap) split(address uint64) int {
	i := at(h.free, address)
	if i == len(h.free) || h.free[i].addr >= address {
		return i
	}
	b := h.free[i]
	rest := *b
	rest.addr, rest.size = address, b.end()-address
	b.size -= rest.size
	h.free = slices.Insert(h.free, i+1, &rest)
	return i + 1
}

// put makes an allocation free.
func (h *heap) put(b *block) {
	i := at(h.live, b.addr)
	h.live = slices.Delete(h.live, i, i+1)
	h.frees++
	b.asked, b.turn = 0, h.frees
	if b.freed == nil && b.idle() {
		b.after = nil
	}
	h.loose = h.loose || b.after != nil
	h.list(b)
}

// list adds a free block, joined to its neighbours where it can be.
func (h *heap) list(b *block) {
	i := at(h.free, b.addr)
	if i < len(h.free) && b.join(h.free[i]) {
		h.free[i] = b
	} else {
		h.free = slices.Insert(h.free, i, b)
	}
	if i > 0 && h.free[i-1].join(b) {
		h.free = slices.Delete(h.free, i, i+1)
	}
}

// join makes two neighbours one where the same is outstanding on both: both are gaps, or free to anyone, or freed by
// one stream. It reports whether they are one.
func (b *block) join(next *block) bool {
	switch {
	case b.end() != next.addr || b.gap != next.gap:
		return false
	case b.freed == nil && next.freed == nil:
		if !b.idle() || !next.idle() {
			return false
		}
	case b.freed == nil || next.freed == nil || b.freed.slot != next.freed.slot:
		return false
	}
	b.size += next.size
	if next.turn > b.turn {
		b.turn, b.freed, b.after = next.turn, next.freed, next.after
	}
	return true
}

// collect makes anyone's the free blocks on which, as the host knows, nothing is outstanding.
func (h *heap) collect(seen clock) {
	if !h.loose {
		return
	}
	h.loose = false
	joined := h.free[:0]
	for _, b := range h.free {
		switch {
		case b.after == nil:
		case seen.covers(b.after):
			b.freed, b.after = nil, nil
		default:
			h.loose = true
		}
		if n := len(joined); n == 0 || !joined[n-1].join(b) {
			joined = append(joined, b)
		}
	}
	clear(h.free[len(joined):])
	h.free = joined
}

// spare are the whole steps that are mapped, free and idle.
func (h *heap) spare(idle func(*block) bool) []run {
	var steps []run
	for r := range h.runs(func(b *block) bool { return !b.gap && idle(b) }) {
		if low, high := roundUp(r.addr, h.step), r.end()/h.step*h.step; low < high {
			steps = append(steps, run{addr: low, size: high - low})
		}
	}
	return steps
}

// unmap makes a gap of whole steps that are free.
func (h *heap) unmap(m *memory, address, size uint64) {
	i, j := h.split(address), h.split(address+size)
	h.free = slices.Delete(h.free, i, j)
	h.list(&block{addr: address, size: size, gap: true})
	h.held -= size
	m.remove(address, size)
}
