package order

import "cudalab/native/trace"

// block is what else is known of memory that an allocator under test has handed out, a part of memory of its own. Its
// history is what was done to it by its caller; what its bytes went through is in the history of the memory around it.
type block struct {
	around   *allocation // nil: unknown
	overlaps bool        // another, which only a faulty allocator hands out
	ordered  bool        // it is there for what its birth's stream does next, and not for all that the host does
}

// whole is the memory that has to exist for a to exist: that around a block, where it is known, and the block is not
// there only later.
func (a *allocation) whole() *allocation {
	if a.block != nil && a.block.around != nil && !a.block.ordered {
		return a.block.around
	}
	return a
}

// handOut takes in that an allocator has handed out a block. It exists for all that the host enqueues later, or for the
// work that comes into a stream next, if the memory around it does.
func (c *checker) handOut(i int, r *trace.Record) {
	lo, hi := addresses(r)
	if r.Alloc == 0 || lo == hi || c.allocs[r.Alloc] != nil {
		return
	}
	q := c.queues.host
	if inStream(r) {
		q = c.queues.next(r.Stream, i)
	}
	around := c.allocs[trace.ID(r.Value)]
	a := &allocation{id: r.Alloc, birth: stamp{q.id, position(i)}, made: i, size: r.Size, history: c.newHistory(),
		block: &block{around: around, ordered: inStream(r)}}
	c.allocs[a.id] = a
	c.reuse(i, q, a)
	for _, other := range c.blocksIn(lo, hi) {
		a.block.overlaps, other.block.overlaps = true, true
		a.parted, other.parted = true, true
	}
	c.blocks.Set(lo, hi, stamp{hostID, position(i)})
	switch around, _ := c.inside(a); {
	case around == nil:
	case !a.block.ordered:
		a.birth = around.birth
	case !q.behind(around.birth) && around.excuses(q) == 0:
		c.report.beforeAlloc(i, &trace.Access{}, around, around.birth)
		around.excuse(excuse{a.birth, around.birth.pos})
	}
	for _, p := range c.parts(nil, a, 0, a.size) {
		p.memory.parted = p.memory.parted || p.memory != a
	}
	a.parted = a.parted || around != nil && around.made < 0
}

// inside is the allocation that a block is a part of, and from which of its bytes on. It is nil for a block of mapped
// memory, or of memory that is not known, or no more.
func (c *checker) inside(a *allocation) (around *allocation, shift int64) {
	around = a.block.around
	if around == nil || around.made < 0 || around.physical != nil || around.history == nil {
		return nil, 0
	}
	return around, int64(c.words.record(a.made).Addr) - int64(c.words.addr(around))
}

// part is some bytes of memory, those of another at the same offset less shift.
type part struct {
	memory *allocation
	lo, hi int64
	shift  int64
	addr   uint64 // of a block in mapped memory
}

// parts appends what the bytes of a between lo and hi really are: those of the memory around a block, or of the memory
// that is mapped to its addresses. A block of unknown memory is memory of its own.
func (c *checker) parts(list []part, a *allocation, lo, hi int64) []part {
	if a.block == nil {
		return append(list, part{a, lo, hi, 0, 0})
	}
	if around, shift := c.inside(a); around != nil {
		return append(list, part{around, lo + shift, hi + shift, shift, 0})
	}
	known, base := len(list), int64(c.words.record(a.made).Addr)
	for m := range c.space.mapped.Within(base+lo, base+hi) {
		r := c.words.record(m.Value.record())
		if memory := c.allocs[r.Alloc]; memory != nil && memory.history != nil {
			at := m.Lo - int64(r.Addr) + int64(r.Value)
			list = append(list, part{memory, at, at + m.Hi - m.Lo, at - m.Lo + base, uint64(m.Lo)})
		}
	}
	if len(list) == known {
		return append(list, part{a, lo, hi, 0, 0})
	}
	return list
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
	if inStream(r) {
		c.takeBackIn(i, r, a)
		return
	}
	pending(c.queues.host, trace.Write, func(y conflict, _ *allocation) { c.report.freeBeforeUse(i, a, y) }, usages(a)...)
	for _, p := range c.parts(nil, a, 0, a.size) {
		if p.memory != a { // what its caller did is over, or was reported; the next one's bytes are not written
			p.memory.history.retract(a.history, p.lo, p.hi, p.shift)
		}
	}
	c.endBlocks(i, []*allocation{a})
}

// within is how many of a block's bytes up to hi are those of the memory around it. If that is not all, that is
// reported.
func (c *checker) within(i int, x *trace.Access, b *allocation, hi int64) int64 {
	around, shift := c.inside(b)
	if around == nil || hi+shift <= around.size {
		return hi
	}
	y := *x
	y.Offset += shift
	c.report.outOfBounds(i, &y, around)
	return around.size - shift
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

// usedAs is what a use of memory was made of: one of some blocks, or the memory as such.
func usedAs(y conflict, memory *allocation, blocks []*allocation) *allocation {
	for _, b := range blocks {
		if b.history.holds(y) {
			return b
		}
	}
	return memory
}

// endBlocks takes in that the i-th record's call was the end of some blocks.
func (c *checker) endBlocks(i int, list []*allocation) {
	for _, a := range list {
		if a.freed == 0 { // it may lie in several pieces, between others that overlap it
			c.end(i, a)
		}
	}
}

// vacate takes a block off its addresses.
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
}
