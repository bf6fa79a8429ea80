package session

import (
	"slices"
	"sort"

	"cudalab/native/device"
	"cudalab/native/trace"
)

// allocation is a piece of device memory that was handed out while tracing, or addresses that memory was mapped to.
type allocation struct {
	id     trace.ID
	base   device.Ptr
	size   int64
	pooled bool       // from a pool
	memory *MemHandle // of a mapping: the physical memory, whose identity is id
	offset int64      // of a mapping: where in that memory it begins
}

// table knows which allocation an address belongs to, or last belonged to.
type table struct {
	live, freed spanMap
}

// alignment is what every allocation's address is a multiple of, so that the bytes up to the next multiple belong
// to no other allocation: an address there is taken for one beyond the end of this one.
const alignment = 256

func (a *allocation) span() span {
	size := (uint64(max(a.size, 1)) + alignment - 1) / alignment * alignment
	return span{lo: uint64(a.base), hi: uint64(a.base) + size, of: a}
}

func (t *table) add(a *allocation) { t.live.set(a.span()) }

// find is the allocation around p, and where its addresses, or the part of them that p lies in, end. Where none is live it
// is the one most recently freed there, and freed is set. It is nil where there never was one.
func (t *table) find(p device.Ptr) (a *allocation, freed bool, end device.Ptr) {
	live, ok := t.live.from(uint64(p))
	if ok && live.lo <= uint64(p) {
		return live.of, false, device.Ptr(live.hi)
	}
	dead, found := t.freed.from(uint64(p))
	if !found || dead.lo > uint64(p) {
		return nil, false, 0
	}
	if ok {
		dead.hi = min(dead.hi, live.lo)
	}
	return dead.of, true, device.Ptr(dead.hi)
}

// remove moves a from the live to the freed allocations; restore undoes it. What another has of its addresses, as blocks
// of a faulty allocator may, stays the other's.
func (t *table) remove(a *allocation) {
	whole := a.span()
	for s, ok := t.live.from(whole.lo); ok && s.lo < whole.hi; s, ok = t.live.from(s.hi) {
		if s.of == a {
			t.live.clear(s.lo, s.hi)
			t.freed.set(s)
		}
	}
}

func (t *table) restore(a *allocation) {
	s := a.span()
	t.freed.clear(s.lo, s.hi)
	t.live.set(s)
}

// forget drops all that is known of a's addresses.
func (t *table) forget(a *allocation) {
	s := a.span()
	t.live.clear(s.lo, s.hi)
	t.freed.clear(s.lo, s.hi)
}

// span says that the addresses from lo up to and without hi belong to an allocation.
type span struct {
	lo, hi uint64
	of     *allocation
}

// spanMap is an ordered set of disjoint spans, kept in short sorted chunks: finding, adding and removing one are
// cheap with a hundred thousand of them.
type spanMap struct {
	chunks [][]span // none is empty
	n      int      // spans in all
}

const chunkSpans = 512

// before is the position of the last span that starts below addr; chunk is -1 where there is none.
func (m *spanMap) before(addr uint64) (chunk, i int) {
	chunk = sort.Search(len(m.chunks), func(c int) bool { return m.chunks[c][0].lo >= addr }) - 1
	if chunk < 0 {
		return -1, -1
	}
	c := m.chunks[chunk]
	return chunk, sort.Search(len(c), func(i int) bool { return c[i].lo >= addr }) - 1
}

// from is the first span that ends behind addr: the one that holds it, or the next one.
func (m *spanMap) from(addr uint64) (s span, ok bool) {
	chunk := sort.Search(len(m.chunks), func(c int) bool { return m.chunks[c][len(m.chunks[c])-1].hi > addr })
	if chunk == len(m.chunks) {
		return span{}, false
	}
	c := m.chunks[chunk]
	return c[sort.Search(len(c), func(i int) bool { return c[i].hi > addr })], true
}

// clear takes the addresses from lo to hi out of every span.
func (m *spanMap) clear(lo, hi uint64) {
	for {
		chunk, i := m.before(hi)
		if chunk < 0 || m.chunks[chunk][i].hi <= lo {
			return
		}
		old := m.chunks[chunk][i]
		m.chunks[chunk] = slices.Delete(m.chunks[chunk], i, i+1)
		m.n--
		if len(m.chunks[chunk]) == 0 {
			m.chunks = slices.Delete(m.chunks, chunk, chunk+1)
		}
		if old.lo < lo {
			m.insert(span{old.lo, lo, old.of})
		}
		if hi < old.hi {
			m.insert(span{hi, old.hi, old.of})
		}
	}
}

// set gives the addresses of s to its allocation, whosever they were.
func (m *spanMap) set(s span) {
	m.clear(s.lo, s.hi)
	m.insert(s)
}

func (m *spanMap) insert(s span) {
	m.n++
	if len(m.chunks) == 0 {
		m.chunks = append(m.chunks, []span{s})
		return
	}
	chunk, i := m.before(s.lo)
	chunk = max(chunk, 0)
	c := slices.Insert(m.chunks[chunk], i+1, s)
	m.chunks[chunk] = c
	if len(c) == chunkSpans {
		upper := append(make([]span, 0, chunkSpans), c[chunkSpans/2:]...)
		m.chunks[chunk] = c[:chunkSpans/2]
		m.chunks = slices.Insert(m.chunks, chunk+1, upper)
	}
}

// all lists the allocations in order of address.
func (m *spanMap) all() []*allocation {
	list := make([]*allocation, 0, m.n)
	for _, c := range m.chunks {
		for _, s := range c {
			list = append(list, s.of)
		}
	}
	return list
}
