package order

import (
	"math"
	"slices"

	"cudalab/native/trace"
)

// physical is what else is known of memory that MemCreate has made. It is gone once it is both released and unmapped.
type physical struct {
	released int   // record of the release, counted from 1; 0: none
	mappings []int // records of the MemMap calls that hold it
}

// space is what the program has made of its addresses by virtual memory management. The spans are of addresses; the
// stamp of each is that of the record of the call.
type space struct {
	reserved spans // by MemAddressReserve
	returned spans // by MemAddressFree, and not reserved since
	mapped   spans // by MemMap
	unmapped spans // by MemUnmap, and not mapped since
	access   spans // by MemSetAccess, since they were mapped
	// of each mapping, by the record of its MemMap: what went through it, from its first address on
	uses  map[int]*history
	tried map[int]bool // records of the reservations and mappings that the program tried to end, and was refused
}

// addresses is the range that a call names. It is empty where the numbers make none.
func addresses(r *trace.Record) (lo, hi int64) {
	size := max(r.Size, 0)
	if r.Addr > math.MaxInt64-uint64(size) {
		return 0, 0
	}
	return int64(r.Addr), int64(r.Addr) + size
}

// recordIn is the record of the first span that has some of the addresses between lo and hi; -1 if there is none.
func recordIn(s *spans, lo, hi int64) int {
	for x := range s.Within(lo, hi) {
		return x.Value.record()
	}
	return -1
}

// try notes that the program tried to end what some records have made.
func (s *space) try(records ...int) {
	if s.tried == nil {
		s.tried = map[int]bool{}
	}
	for _, at := range records {
		s.tried[at] = true
	}
}

// mappings are the records of what is mapped between two addresses, and whether that is whole mappings without a gap.
func (c *checker) mappings(lo, hi int64) (records []int, whole bool) {
	at := lo
	whole = true
	for m := range c.space.mapped.Within(lo, hi) {
		first, last := addresses(c.words.record(m.Value.record()))
		whole = whole && first == at
		at = last
		records = append(records, m.Value.record())
	}
	return records, whole && at == hi
}

func (c *checker) reserve(i int, r *trace.Record) {
	if lo, hi := addresses(r); lo < hi {
		c.space.reserved.Set(lo, hi, stamp{hostID, position(i)})
		c.space.returned.Cut(lo, hi)
	}
}

// giveBack takes in a MemAddressFree that succeeded.
func (c *checker) giveBack(i int, r *trace.Record) {
	if lo, hi := addresses(r); lo < hi {
		c.space.reserved.Cut(lo, hi)
		c.space.returned.Set(lo, hi, stamp{hostID, position(i)})
	}
}

// failedGiveBack takes in a MemAddressFree that was refused. What is still mapped there is its fault, and if the
// program never unmaps that, it is not told a second time.
func (c *checker) failedGiveBack(i int, r, done *trace.Record) {
	lo, hi := addresses(r)
	hi = max(hi, lo+1)
	reserved := recordIn(&c.space.reserved, lo, hi)
	if reserved >= 0 {
		defer c.space.try(reserved)
	}
	if done.Faked || done.Code != invalidValue {
		return
	}
	if mapped, _ := c.mappings(lo, hi); len(mapped) > 0 {
		if !slices.ContainsFunc(mapped, func(at int) bool { return !c.space.tried[at] }) {
			return // the program tried to unmap all of it, and knows
		}
		c.space.try(mapped...)
		c.report.giveBackOfMapped(i, mapped)
		return
	}
	switch returned := recordIn(&c.space.returned, lo, hi); {
	case reserved >= 0:
		if w := c.words.record(reserved); w.Addr != r.Addr || w.Size != r.Size {
			c.report.giveBackOfPart(i, reserved)
		}
	case returned >= 0:
		c.report.giveBackTwice(i, returned)
	default:
		c.report.giveBackOfNothing(i)
	}
}

// release takes in a MemRelease that succeeded.
func (c *checker) release(i int, r *trace.Record) {
	if r.Alloc == 0 {
		return
	}
	a := c.physicalMemory(r.Alloc)
	a.physical.released = i + 1
	c.endUnheld(i, a)
}

func (c *checker) failedRelease(i int, r, done *trace.Record) {
	switch a := c.allocs[r.Alloc]; {
	case a != nil:
		a.tried = true
	case done.Code == invalidValue && !done.Faked:
		c.report.releaseOfNothing(i)
	}
}

// physicalMemory is the memory behind a handle. One that was made before the trace appears at its first use.
func (c *checker) physicalMemory(id trace.ID) *allocation {
	a := c.allocation(id)
	if a.physical == nil {
		a.physical = &physical{}
	}
	return a
}

// endUnheld ends memory that nothing holds any more.
func (c *checker) endUnheld(i int, a *allocation) {
	if a.freed == 0 && a.physical.released > 0 && len(a.physical.mappings) == 0 {
		c.end(i, a)
	}
}

func (c *checker) mapMemory(i int, r *trace.Record) {
	lo, hi := addresses(r)
	if lo == hi {
		return
	}
	c.space.mapped.Set(lo, hi, stamp{hostID, position(i)})
	c.space.unmapped.Cut(lo, hi)
	c.space.access.Cut(lo, hi)
	if r.Alloc != 0 {
		if c.space.uses == nil {
			c.space.uses = map[int]*history{}
		}
		c.space.uses[i] = c.newHistory()
		a := c.physicalMemory(r.Alloc)
		a.physical.mappings = append(a.physical.mappings, i)
	}
}

// through takes in that q uses some bytes of memory by way of a mapping, from an address on.
func (c *checker) through(addr uint64, size int64, kind trace.AccessKind, q *queue, by stamp) {
	lo := int64(addr)
	if at := recordIn(&c.space.mapped, lo, lo+size); at >= 0 && c.space.uses[at] != nil {
		first, _ := addresses(c.words.record(at))
		c.space.uses[at].add(q, by, kind, lo-first, lo-first+size)
	}
}

// usedThrough is what went through a mapping between two addresses, if its memory is known.
func (c *checker) usedThrough(mapping int, lo, hi int64) []usage {
	r := c.words.record(mapping)
	if c.space.uses[mapping] == nil {
		return nil
	}
	first, last := addresses(r)
	return []usage{{c.physicalMemory(r.Alloc), c.space.uses[mapping], max(lo, first) - first, min(hi, last) - first}}
}

// unmap takes in a MemUnmap that succeeded. Work that uses the memory by way of another mapping does not mind.
func (c *checker) unmap(i int, r *trace.Record) {
	lo, hi := addresses(r)
	if lo == hi {
		return
	}
	records, whole := c.mappings(lo, hi)
	if !whole && recordIn(&c.space.reserved, lo, hi) >= 0 {
		c.wrongUnmap(i, lo, hi, records, Remark)
	}
	inside := c.blocksIn(lo, hi)
	var used []usage
	for _, at := range records {
		used = append(used, c.usedThrough(at, math.MinInt64, math.MaxInt64)...)
	}
	pending(c.queues.host, trace.Write, func(y conflict, a *allocation) {
		c.report.freeBeforeUse(i, usedAs(y, a, inside),
			y)
	}, used...)
	c.endBlocks(i, inside)
	c.space.mapped.Cut(lo, hi)
	c.space.access.Cut(lo, hi)
	for _, at := range records {
		m := c.words.record(at)
		first, last := addresses(m)
		c.space.unmapped.Set(first, last, stamp{hostID, position(i)})
		if h := c.space.uses[at]; h != nil {
			h.reset()
			c.spare = append(c.spare, h)
			delete(c.space.uses, at)
			a := c.physicalMemory(m.Alloc)
			a.physical.mappings = slices.DeleteFunc(a.physical.mappings, func(m int) bool { return m == at })
			c.endUnheld(i, a)
		}
	}
}

func (c *checker) failedUnmap(i int, r, done *trace.Record) {
	lo, hi := addresses(r)
	hi = max(hi, lo+1)
	records, whole := c.mappings(lo, hi)
	c.space.try(records...)
	if done.Code == invalidValue && !done.Faked && !whole {
		c.wrongUnmap(i, lo, hi, records, Error)
	}
}

// wrongUnmap reports a MemUnmap of addresses that are not whole mappings side by side, those of records among them. A
// driver may be content with that (an H200's, 580, takes what there is), where the manual is not.
func (c *checker) wrongUnmap(i int, lo, hi int64, records []int, severity Severity) {
	switch unmapped := recordIn(&c.space.unmapped, lo, hi); {
	case len(records) > 0:
		c.report.unmapOfPart(i, records[0], severity)
	case unmapped >= 0:
		c.report.unmapTwice(i, unmapped, severity)
	default:
		c.report.unmapOfNothing(i, severity)
	}
}

// setAccess takes in a MemSetAccess that succeeded. Where there is a hole between mappings it has done nothing behind
// that: so an H200 with driver 580 does. Work that is still to come finds what access there is when it runs.
func (c *checker) setAccess(i int, r *trace.Record) {
	lo, hi := addresses(r)
	first := lo
	var used []usage
	for m := range c.space.mapped.Within(lo, hi) {
		if m.Lo > lo {
			break
		}
		used = append(used, c.usedThrough(m.Value.record(), m.Lo, m.Hi)...)
		c.space.access.Set(m.Lo, m.Hi, stamp{hostID, position(i)})
		lo = m.Hi
	}
	if r.Flags&mayReadWrite == mayReadWrite {
		return
	}
	taken := trace.Write // what conflicts with a write: all uses
	if r.Flags&mayRead != 0 {
		taken = trace.Read // all but reads
	}
	pending(c.queues.host, taken, func(y conflict, a *allocation) {
		c.report.revokeBeforeUse(i, usedAs(y, a, c.blocksIn(first, lo)), y)
	}, used...)
	for _, s := range used { // what a use needs is taken away once
		s.history.forget(taken, s.lo, s.hi)
	}
}

// usable reports whether an access to the bytes of a between lo and hi finds memory that it may use: mapped, and made
// accessible since. If not, that is reported.
func (c *checker) usable(i int, x *trace.Access, a *allocation, lo, hi int64) bool {
	if a.made < 0 || c.words.record(a.made).Site == 0 {
		return true // it may have been mapped before the trace
	}
	if a.block != nil {
		return c.usableBlock(i, x, a, lo, hi)
	}
	shift := int64(x.Addr) - x.Offset
	mapping := recordIn(&c.space.mapped, lo+shift, hi+shift)
	if x.Addr == 0 || mapping < 0 || c.allowed(x.Kind, lo+shift, hi+shift) {
		return true // where nothing is mapped any more, the access is known to come after the unmap
	}
	c.report.noAccess(i, x, a, lo, hi, mapping)
	return false
}

// usableBlock is usable for a block. Outside reserved addresses there are no mappings: it is part of an allocation.
func (c *checker) usableBlock(i int, x *trace.Access, a *allocation, lo, hi int64) bool {
	base := int64(c.words.record(a.made).Addr)
	reserved := recordIn(&c.space.reserved, base, base+a.size)
	if reserved < 0 {
		return true
	}
	at := base + lo
	for m := range c.space.mapped.Within(base+lo, base+hi) {
		if m.Lo > at {
			break
		}
		if !c.allowed(x.Kind, m.Lo, m.Hi) {
			c.report.noAccess(i, x, a, m.Lo-base, m.Hi-base, m.Value.record())
			return false
		}
		at = m.Hi
	}
	if at < base+hi {
		c.report.notMapped(i, x, a, reserved)
		return false
	}
	return true
}

// The bits of MemSetAccess's flags (CUmemAccess_flags in cuda.h): reading takes one, everything else both.
const (
	mayRead      = 1
	mayReadWrite = 3
)

// allowed reports whether MemSetAccess has made all addresses between lo and hi accessible for a kind of access.
func (c *checker) allowed(kind trace.AccessKind, lo, hi int64) bool {
	need := uint32(mayReadWrite)
	if kind == trace.Read {
		need = mayRead
	}
	for s := range c.space.access.Within(lo, hi) {
		if s.Lo > lo || c.words.record(s.Value.record()).Flags&need != need {
			return false
		}
		lo = s.Hi
	}
	return lo >= hi
}
