package session

import (
	"iter"
	"math"

	"cudalab/native/device"
	"cudalab/native/interval"
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
	live, freed addresses
}

// newTable knows none.
func newTable() table {
	return table{live: &interval.Map[uint64, *allocation]{}, freed: &interval.Map[uint64, *allocation]{}}
}

// addresses says which allocation an address belongs to. It is an interface so that Session is no generic type's user:
// every package that calls CUDA, a student's among them, would compile that type's methods once more, a quarter of its
// time.
type addresses interface {
	Set(lo, hi uint64, a *allocation)
	Cut(lo, hi uint64)
	Empty() bool
	From(p uint64) (interval.Span[uint64, *allocation], bool)
	Within(lo, hi uint64) iter.Seq[interval.Span[uint64, *allocation]]
}

// alignment is what every allocation's address is a multiple of, so that the bytes up to the next multiple belong
// to no other allocation: an address there is taken for one beyond the end of this one.
const alignment = 256

// addresses are those of a, from lo up to and without hi.
func (a *allocation) addresses() (lo, hi uint64) {
	size := (uint64(max(a.size, 1)) + alignment - 1) / alignment * alignment
	return uint64(a.base), uint64(a.base) + size
}

func (t *table) add(a *allocation) {
	lo, hi := a.addresses()
	t.live.Set(lo, hi, a)
}

// find is the allocation around p, and where its addresses, or the part of them that p lies in, end. Where none is live
// it is the one most recently freed there, and freed is set. It is nil where there never was one.
func (t *table) find(p device.Ptr) (a *allocation, freed bool, end device.Ptr) {
	live, ok := t.live.From(uint64(p))
	if ok && live.Lo <= uint64(p) {
		return live.Value, false, device.Ptr(live.Hi)
	}
	dead, found := t.freed.From(uint64(p))
	if !found || dead.Lo > uint64(p) {
		return nil, false, 0
	}
	if ok {
		dead.Hi = min(dead.Hi, live.Lo)
	}
	return dead.Value, true, device.Ptr(dead.Hi)
}

// remove moves a from the live to the freed allocations; restore undoes it. What another has of its addresses, as
// blocks of a faulty allocator may, stays the other's.
func (t *table) remove(a *allocation) {
	lo, hi := a.addresses()
	for s, ok := t.live.From(lo); ok && s.Lo < hi; s, ok = t.live.From(s.Hi) {
		if s.Value == a {
			t.live.Cut(s.Lo, s.Hi)
			t.freed.Set(s.Lo, s.Hi, a)
		}
	}
}

func (t *table) restore(a *allocation) {
	lo, hi := a.addresses()
	t.freed.Cut(lo, hi)
	t.live.Set(lo, hi, a)
}

// forget drops all that is known of a's addresses.
func (t *table) forget(a *allocation) {
	lo, hi := a.addresses()
	t.live.Cut(lo, hi)
	t.freed.Cut(lo, hi)
}

// all lists the live allocations in order of address.
func (t *table) all() (list []*allocation) {
	for s := range t.live.Within(0, math.MaxUint64) {
		list = append(list, s.Value)
	}
	return list
}
