package sim

import (
	"cmp"
	"slices"
	"sort"
)

// alignment of everything handed out, as cuMemAlloc and pools align.
const alignment = 512

// heap hands out parts of the address space that it maps in steps.
type heap struct {
	base   uint64   // of its addresses
	step   uint64   // bytes
	blocks []*block // all that is mapped, by address
	free   []*block // those not handed out, by size and then address
	held   uint64   // bytes mapped
	loose  bool     // something may be outstanding on a free block
}

// block is a stretch of mapped memory: an allocation, or free.
type block struct {
	addr, size uint64
	asked      uint64 // bytes the program asked for; 0 while free
	live       bool
	freed      *op // of a free block: the stream-ordered free that the host has not seen finished; nil: it is anyone's
	after      *op // the last operation on the block itself: the next owner's first comes behind it; nil: none
}

func (b *block) end() uint64 { return b.addr + b.size }

// idle reports whether nothing is outstanding on the block itself.
func (b *block) idle() bool { return b.after == nil || b.after.done }

func bySize(a, b *block) int {
	return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.addr, b.addr))
}

func roundUp(n, unit uint64) uint64 { return (n + unit - 1) / unit * unit }

// at is the index of the first block that ends behind an address.
func (h *heap) at(address uint64) int {
	return sort.Search(len(h.blocks), func(i int) bool { return h.blocks[i].end() > address })
}

// holding is the allocation that an address lies in, or nil.
func (h *heap) holding(address uint64) *block {
	if i := h.at(address); i < len(h.blocks) {
		if b := h.blocks[i]; b.live && b.addr <= address && address-b.addr < b.asked {
			return b
		}
	}
	return nil
}

// take hands out size bytes from free blocks that are usable: the smallest that is large enough, else the lowest run of
// neighbours. It answers the operations that the new owner's first one comes behind; a nil block where nothing fits.
func (h *heap) take(asked uint64, usable func(*block) bool) (b *block, after []*op) {
	size := roundUp(asked, alignment)
	i := sort.Search(len(h.free), func(i int) bool { return h.free[i].size >= size })
	for ; i < len(h.free); i++ {
		if usable(h.free[i]) {
			b = h.free[i]
			break
		}
	}
	if b == nil {
		if b, after = h.merge(size, usable); b == nil {
			return nil, nil
		}
	}
	if b.after != nil && !b.after.done {
		after = append(after, b.after)
	}
	h.unlist(b)
	if b.size > size {
		rest := &block{addr: b.addr + size, size: b.size - size, freed: b.freed, after: b.after}
		b.size = size
		h.blocks = slices.Insert(h.blocks, h.at(b.addr)+1, rest)
		h.list(rest)
	}
	b.asked, b.live, b.freed, b.after = asked, true, nil, nil
	return b, after
}

// merge makes one free block of the first run of usable neighbours that has room, and answers what is outstanding on all
// but the last of them, whose end may be left over.
func (h *heap) merge(size uint64, usable func(*block) bool) (*block, []*op) {
	var total uint64
	first := 0
	for i, b := range h.blocks {
		if b.live || !usable(b) {
			total = 0
			continue
		}
		if total == 0 || h.blocks[i-1].end() != b.addr {
			first, total = i, 0
		}
		total += b.size
		if total < size {
			continue
		}
		var after []*op
		for _, part := range h.blocks[first:i] {
			if !part.idle() {
				after = append(after, part.after)
			}
			h.unlist(part)
		}
		h.unlist(b)
		b.addr, b.size = h.blocks[first].addr, total
		h.blocks = slices.Delete(h.blocks, first, i)
		h.list(b)
		return b, after
	}
	return nil, nil
}

// gap is where the heap grows for size bytes: the lowest addresses not in use at which whole steps, together with a
// usable free block right before them, have room. It answers the address, the place among the blocks and the bytes to
// map.
func (h *heap) gap(size uint64, usable func(*block) bool) (at uint64, i int, more uint64) {
	size = roundUp(size, alignment)
	at = h.base
	for i = 0; ; i++ {
		more = roundUp(size, h.step)
		if i > 0 {
			if b := h.blocks[i-1]; !b.live && b.end() == at && b.size < size && usable(b) {
				more = roundUp(size-b.size, h.step)
			}
		}
		if i == len(h.blocks) || h.blocks[i].addr-at >= more {
			return at, i, more
		}
		at = h.blocks[i].end()
	}
}

// grow maps what gap has found.
func (h *heap) grow(m *memory, at uint64, i int, more uint64) {
	b := &block{addr: at, size: more}
	h.blocks = slices.Insert(h.blocks, i, b)
	h.list(b)
	h.held += more
	m.add(at, more)
}

// put makes b free, joining it to its neighbours where the same is outstanding on both.
func (h *heap) put(b *block) {
	b.live, b.asked = false, 0
	i := h.at(b.addr)
	if i+1 < len(h.blocks) && joinable(b, h.blocks[i+1]) {
		next := h.blocks[i+1]
		h.unlist(next)
		b.absorb(next)
		h.blocks = slices.Delete(h.blocks, i+1, i+2)
	}
	if i > 0 && joinable(h.blocks[i-1], b) {
		previous := h.blocks[i-1]
		h.unlist(previous)
		b.absorb(previous)
		h.blocks = slices.Delete(h.blocks, i-1, i)
	}
	if b.freed == nil && b.idle() {
		b.after = nil
	}
	h.loose = h.loose || b.after != nil
	h.list(b)
}

// joinable reports whether two blocks, of which one is being freed, can be one: neighbours that are free to anyone, or
// that the same stream freed.
func joinable(a, b *block) bool {
	if a.live || b.live || a.end() != b.addr {
		return false
	}
	if a.freed == nil || b.freed == nil {
		return a.freed == b.freed && a.idle() && b.idle()
	}
	return a.freed.slot == b.freed.slot
}

// absorb makes b, just freed, as large as both. What is outstanding on b came last.
func (b *block) absorb(o *block) {
	b.addr = min(b.addr, o.addr)
	b.size += o.size
}

func (h *heap) list(b *block) {
	i, _ := slices.BinarySearchFunc(h.free, b, bySize)
	h.free = slices.Insert(h.free, i, b)
}

func (h *heap) unlist(b *block) {
	i, _ := slices.BinarySearchFunc(h.free, b, bySize)
	h.free = slices.Delete(h.free, i, i+1)
}

// collect makes anyone's the free blocks on which, as the host knows, nothing is outstanding.
func (h *heap) collect(seen clock) {
	if !h.loose {
		return
	}
	h.loose = false
	var known []*block
	for _, b := range h.free {
		switch {
		case b.after == nil:
		case seen.covers(b.after):
			b.freed, b.after = nil, nil
			known = append(known, b)
		default:
			h.loose = true
		}
	}
	for _, b := range known {
		// Joining an earlier one may have taken this one in.
		if i, found := slices.BinarySearchFunc(h.free, b, bySize); found && h.free[i] == b {
			h.unlist(b)
			h.put(b)
		}
	}
}

// cut unmaps whole steps of a free block on which nothing is outstanding, at most so many bytes, from its end. It
// answers the bytes unmapped.
func (h *heap) cut(m *memory, b *block, most uint64) uint64 {
	low, high := roundUp(b.addr, h.step), b.end()/h.step*h.step
	if b.live || low >= high {
		return 0
	}
	n := min(high-low, most/h.step*h.step)
	if n == 0 {
		return 0
	}
	low = high - n
	h.unlist(b)
	i := h.at(b.addr)
	var rest []*block
	if b.addr < low {
		rest = append(rest, &block{addr: b.addr, size: low - b.addr, freed: b.freed, after: b.after})
	}
	if high < b.end() {
		rest = append(rest, &block{addr: high, size: b.end() - high, freed: b.freed, after: b.after})
	}
	h.blocks = slices.Replace(h.blocks, i, i+1, rest...)
	for _, part := range rest {
		h.list(part)
	}
	m.remove(low, n)
	h.held -= n
	return n
}
