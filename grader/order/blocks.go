package order

import (
	"slices"

	"cudalab/native/trace"
)

// block is what else is known of memory that an allocator under test has handed out, a part of memory of its own. It has a
// history of its own: what lies around it counts only where the one or the other comes or goes.
type block struct {
	around   *allocation // nil: unknown
	overlaps []overlap
}

// overlap is another block with some of the same bytes, which only a faulty allocator hands out: those at an offset are
// the other's at offset+shift.
type overlap struct {
	with  *allocation
	shift int64
}

// whole is the memory that has to exist for a to exist: that around a block, where it is known.
func (a *allocation) whole() *allocation {
	if a.block != nil && a.block.around != nil {
		return a.block.around
	}
	return a
}

func (a *allocation) overlapped() bool { return a.block != nil && len(a.block.overlaps) > 0 }

// handOut takes in that an allocator has handed out a block. It exists for all that the host enqueues later, if the memory
// around it does. What was written there before is the block's now.
func (c *checker) handOut(i int, r *trace.Record) {
	lo, hi := addresses(r)
	if r.Alloc == 0 || lo == hi || c.allocs[r.Alloc] != nil {
		return
	}
	around := c.allocs[trace.ID(r.Value)]
	a := &allocation{id: r.Alloc, birth: stamp{hostID, position(i)}, made: i, size: r.Size, history: c.newHistory(),
		block: &block{around: around}}
	c.allocs[a.id] = a
	for _, other := range c.blocksIn(lo, hi) {
		shift := lo - int64(c.words.record(other.made).Addr)
		a.block.overlaps = append(a.block.overlaps, overlap{other, shift})
		other.block.overlaps = append(other.block.overlaps, overlap{a, -shift})
		a.parted, other.parted = true, true
	}
	c.blocks.Set(lo, hi, stamp{hostID, position(i)})
	switch {
	case around == nil || around.physical != nil:
	case around.made < 0:
		a.parted = true
	default:
		a.birth = around.birth
		a.take(around, lo-int64(c.words.addr(around)), 0, r.Size)
	}
	for m := range c.space.mapped.Within(lo, hi) {
		r := c.words.record(m.Value.record())
		if memory := c.allocs[r.Alloc]; memory != nil {
			a.take(memory, m.Lo-int64(r.Addr)+int64(r.Value), m.Lo-lo, m.Hi-m.Lo)
		}
	}
}

// take moves what was written to size bytes of another allocation, from offset from on, to a's from offset to on.
func (a *allocation) take(other *allocation, from, to, size int64) {
	other.parted = true
	if other.history == nil {
		return
	}
	for s := range other.history.writes.Within(from, from+size) {
		a.history.writes.Set(s.Lo-from+to, s.Hi-from+to, s.Value)
	}
	other.history.writes.Cut(from, from+size)
}

// takeBack takes in that an allocator has taken a block back.
func (c *checker) takeBack(i int, r *trace.Record) {
	a := c.allocs[r.Alloc]
	switch {
	case a == nil || a.block == nil || a.made < 0 || c.words.record(a.made).Addr != r.Addr:
		return // nothing that was handed out, which is the allocator's fault
	case a.freed > 0:
		if c.words.record(a.freed-1).Op == trace.OpBlockFree {
			c.report.doubleFree(i, a)
		}
		return
	}
	pending(c.queues.host, trace.Write, func(y conflict, _ *allocation) {
		if y.by.record() > a.made { // what the allocator did before is not the caller's
			c.report.freeBeforeUse(i, a, y)
		}
	}, usages(a)...)
	c.endBlocks(i, []*allocation{a})
}

// reachableAround is reachable for an access that begins in a block that was taken back and goes beyond it: it is the
// allocator's own, to the memory around the block. Memory that is mapped is not looked for.
func (c *checker) reachableAround(i int, x *trace.Access, b *allocation) (a *allocation, lo, hi int64) {
	around := b.block.around
	if around == nil || around.made < 0 || around.physical != nil {
		return nil, 0, 0
	}
	y := *x
	y.Alloc, y.Freed = around.id, false
	y.Offset += int64(c.words.record(b.made).Addr) - int64(c.words.addr(around))
	return c.reachable(i, &y)
}

// blocksIn are the blocks that lie, at least in part, between two addresses.
func (c *checker) blocksIn(lo, hi int64) (list []*allocation) {
	for s := range c.blocks.Within(lo, hi) {
		list = append(list, c.allocs[c.words.record(s.Value.record()).Alloc])
	}
	return list
}

// blocksOf are the blocks in an allocation.
func (c *checker) blocksOf(a *allocation) (list []*allocation) {
	if c.blocks.Empty() || a.made < 0 {
		return nil
	}
	lo := int64(c.words.addr(a))
	for _, b := range c.blocksIn(lo, lo+a.size) {
		if b.block.around == a {
			list = append(list, b)
		}
	}
	return list
}

// endBlocks takes in that the i-th record's call was the end of some blocks.
func (c *checker) endBlocks(i int, list []*allocation) {
	for _, a := range list {
		if a.freed == 0 { // it may lie in several pieces, between others that overlap it
			c.end(i, a)
		}
	}
}

// vacate takes a block off its addresses, and out of the others that overlap it.
func (c *checker) vacate(a *allocation) {
	lo, hi := addresses(c.words.record(a.made))
	var own []span
	for s := range c.blocks.Within(lo, hi) {
		if s.Value.record() == a.made {
			own = append(own, s)
		}
	}
	for _, s := range own {
		c.blocks.Cut(s.Lo, s.Hi)
	}
	for _, o := range a.block.overlaps {
		o.with.block.overlaps = slices.DeleteFunc(o.with.block.overlaps, func(o overlap) bool { return o.with == a })
	}
}

// overlapping checks an access to a block against the blocks that it overlaps.
func (c *checker) overlapping(i int, x *trace.Access, a *allocation, q *queue, lo, hi int64) {
	for _, o := range a.block.overlaps {
		o.with.history.against(q, x.Kind, lo+o.shift, hi+o.shift, func(y conflict) {
			y.lo, y.hi = y.lo-o.shift, y.hi-o.shift
			c.report.race(i, x, a, q, y)
		}, func(int64, int64) {})
	}
}
