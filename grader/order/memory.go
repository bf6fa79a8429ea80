package order

import "cudalab/native/trace"

// allocation is a piece of device or pinned memory.
type allocation struct {
	id    trace.ID
	birth stamp // the memory exists for what is ordered behind it
	made  int   // record of the call that made it; -1 if it is not in the trace
	size  int64
	freed int  // record of the call that freed it, counted from 1; 0: none
	tried bool // the program tried to free it

	physical *physical // of memory that MemCreate has made
	block    *block    // of memory that an allocator under test has handed out
	// others have some of its bytes too, so what nothing has written cannot be told from its own history
	parted bool

	excused []excuse // the uses before the allocation that were reported
	history *history // nil once freed
	former  *history // what was done to blocks of it that were given back in a stream; nil where there are none
}

// excuse is a use before the allocation that was reported. What is ordered behind it is no new fault: whoever mends the
// one orders it behind the allocation, and behind what followed on the allocation's stream up to position after.
type excuse struct {
	use   stamp
	after int32
}

// excusesKept limits allocation.excused, and so what a program with the same fault on every stream costs to check.
const excusesKept = 64

// unknownSize stands for the size of memory whose allocation is not in the trace.
const unknownSize = int64(1) << 62

func (c *checker) allocation(id trace.ID) *allocation {
	a := c.allocs[id]
	if a == nil {
		a = &allocation{id: id, birth: stamp{hostID, 0}, made: -1, size: unknownSize, history: c.newHistory()}
		a.history.writes.Set(0, a.size, stamp{hostID, 1})
		c.allocs[id] = a
	}
	return a
}

func (c *checker) newHistory() *history {
	if n := len(c.spare); n > 0 {
		h := c.spare[n-1]
		c.spare = c.spare[:n-1]
		return h
	}
	return &history{}
}

func (c *checker) allocate(i int, r, done *trace.Record) {
	by := stamp{hostID, position(i)}
	if r.Op == trace.OpMallocAsync || r.Op == trace.OpMallocFromPoolAsync {
		c.queues.enqueue(r.Stream, i)
		by.stream = r.Stream
	}
	if done.Alloc == 0 || c.allocs[done.Alloc] != nil {
		return // no bytes asked for; an identity that was there before is no session's
	}
	a := &allocation{id: done.Alloc, birth: by, made: i, size: done.Size, history: c.newHistory()}
	if r.Op == trace.OpMemCreate {
		a.physical = &physical{}
	}
	c.allocs[a.id] = a
	if r.Site == 0 { // made before the trace began, so it may hold anything
		a.history.writes.Set(0, a.size, stamp{hostID, position(i)})
	}
}

// access checks and takes in what the i-th record's call touches: reads before writes, as a call does that reads and
// writes the same bytes.
func (c *checker) access(i int, r *trace.Record, q *queue) {
	for k := range r.Accesses {
		if x := &r.Accesses[k]; x.Kind != trace.Write {
			c.touch(i, x, q)
		}
	}
	for k := range r.Accesses {
		if x := &r.Accesses[k]; x.Kind == trace.Write {
			c.touch(i, x, q)
		}
	}
}

// overlap looks whether a copy within the device reads and writes some of the same bytes, in whatever mappings and
// blocks.
func (c *checker) overlap(i int, r *trace.Record) {
	read := c.partsOf(r, trace.Read)
	for _, y := range c.partsOf(r, trace.Write) {
		for _, x := range read {
			if lo, hi := max(x.lo, y.lo), min(x.hi, y.hi); x.memory == y.memory && lo < hi {
				c.report.overlappingCopy(i, x.memory, lo, hi)
				return
			}
		}
	}
}

// partsOf are the parts of a call's accesses to live memory, as far as they stay within.
func (c *checker) partsOf(r *trace.Record, kind trace.AccessKind) (list []part) {
	for _, x := range r.Accesses {
		if x.Kind == kind && x.Alloc != 0 && !x.Freed {
			a := c.allocation(x.Alloc)
			list = c.parts(list, a, max(x.Offset, 0), min(x.Offset+x.Size, a.size))
		}
	}
	return list
}

// reachable is the part of an access that lies in live memory; a is nil where there is none. The rest is reported.
func (c *checker) reachable(i int, x *trace.Access) (a *allocation, lo, hi int64) {
	if x.Size <= 0 {
		return nil, 0, 0
	}
	if x.Alloc == 0 {
		if reserved := recordIn(&c.space.reserved, x.Offset, x.Offset+1); reserved >= 0 {
			c.report.onlyReserved(i, x, reserved)
		} else {
			c.report.nowhere(i, x)
		}
		return nil, 0, 0
	}
	a = c.allocation(x.Alloc)
	if x.Freed || a.freed > 0 {
		free := a.freed - 1
		if a.physical != nil && x.Addr != 0 {
			free = recordIn(&c.space.unmapped, int64(x.Addr), int64(x.Addr)+1)
		}
		c.report.afterFree(i, x, a, free)
		return nil, 0, 0
	}
	lo, hi = max(x.Offset, 0), min(x.Offset+x.Size, a.size)
	if x.Offset < 0 || x.Offset > a.size-x.Size {
		if a.block == nil || !a.block.overlaps {
			c.report.outOfBounds(i, x, a)
		}
	}
	if a.block != nil {
		hi = c.within(i, x, a, hi)
	}
	if lo >= hi {
		return nil, 0, 0
	}
	if (a.physical != nil || a.block != nil) && !c.usable(i, x, a, lo, hi) {
		return nil, 0, 0
	}
	return a, lo, hi
}

// touching is an access by q while it is checked.
type touching struct {
	*trace.Access
	call      int
	q         *queue
	memory    *allocation
	born      bool  // it comes after the memory's allocation
	mended    int32 // see excuses
	cause     stamp // what the call would have to wait for to see the memory as the birth's stream left it
	unwritten []span
	unchecked bool // nothing has written some bytes, which is no fault here
}

// touch checks one access by q and takes it in.
func (c *checker) touch(i int, x *trace.Access, q *queue) {
	a, lo, hi := c.reachable(i, x)
	if a == nil {
		return
	}
	t := touching{Access: x, call: i, q: q, memory: a, born: q.behind(a.birth), cause: a.birth}
	by := stamp{q.id, position(i)}
	whole := a.whole()
	if !t.born {
		t.mended = whole.excuses(q)
	}
	c.touched = c.parts(c.touched[:0], a, lo, hi)
	for _, p := range c.touched {
		c.checkPart(&t, p)
	}
	if !t.born && t.mended == 0 {
		c.report.beforeAlloc(i, x, whole, t.cause)
		whole.excuse(excuse{by, t.cause.pos})
	}
	if len(t.unwritten) > 0 {
		c.report.uninitialized(i, x, a, t.unwritten, c.short(t.unwritten[0].Lo))
	}
	for _, p := range c.touched {
		h := p.memory.history
		h.add(q, by, x.Kind, p.lo, p.hi)
		switch {
		case a.block != nil && p.memory != a:
			a.history.add(q, by, x.Kind, p.lo-p.shift, p.hi-p.shift)
			c.through(p.addr, p.hi-p.lo, x.Kind, q, by)
		case x.Addr != 0:
			c.through(x.Addr+uint64(lo-x.Offset), hi-lo, x.Kind, q, by)
		}
		if x.Kind == trace.Read && t.born && !t.unchecked {
			h.remember(q.id, p.lo, p.hi)
		}
	}
}

// short is the launch that has written the byte before one of the access that is looked at; -1 if there is none.
func (c *checker) short(lo int64) int {
	for _, p := range c.touched {
		if at := lo + p.shift; p.lo < at && at < p.hi || p.lo == at {
			i := recordIn(&p.memory.history.writes, at-1, at)
			if i >= 0 && c.words.record(i).Op == trace.OpLaunch {
				return i
			}
		}
	}
	return -1
}

// checkPart checks those bytes of an access that lie in one piece of memory.
func (c *checker) checkPart(t *touching, p part) {
	h := p.memory.history
	var gaps []extent
	check := func(lo, hi int64) {
		conflicting := func(y conflict) {
			if !t.born && y.by.stream == t.memory.birth.stream && (t.mended == 0 || y.by.pos <= t.mended) {
				t.cause.pos = max(t.cause.pos, y.by.pos)
				return
			}
			y.lo, y.hi = y.lo-p.shift, y.hi-p.shift
			c.report.race(t.call, t.Access, t.memory, t.q, y)
		}
		h.against(t.q, t.Kind, lo, hi, conflicting, func(lo, hi int64) {
			if t.Kind != trace.Write {
				gaps = append(gaps, extent{lo, hi})
			}
		})
		if t.memory.block == nil && p.memory.former != nil {
			p.memory.former.against(t.q, t.Kind, lo, hi, conflicting, func(int64, int64) {})
		}
	}
	if t.Kind != trace.Read {
		check(p.lo, p.hi)
	} else {
		for _, e := range h.unchecked(t.q.id, p.lo, p.hi) {
			check(e.lo, e.hi)
		}
	}
	if !t.born || t.memory.parted {
		t.unchecked = t.unchecked || len(gaps) > 0
		return
	}
	for _, g := range gaps {
		s := span{Lo: g.lo, Hi: g.hi, Value: stamp{hostID, position(t.call)}}
		h.writes.Set(s.Lo, s.Hi, s.Value)
		s.Lo, s.Hi = s.Lo-p.shift, s.Hi-p.shift
		t.unwritten = append(t.unwritten, s)
	}
}

func (a *allocation) excuse(x excuse) {
	if len(a.excused) == excusesKept {
		a.excused = a.excused[:copy(a.excused, a.excused[1:])]
	}
	a.excused = append(a.excused, x)
}

// excuses is up to which position of the allocation's stream q is ordered behind it once the uses before the allocation
// that were reported are mended; 0 if that helps q nothing.
func (a *allocation) excuses(q *queue) (after int32) {
	for _, x := range a.excused {
		if q.behind(x.use) {
			after = max(after, x.after)
		}
	}
	return after
}

// free takes in a free that succeeded.
func (c *checker) free(i int, r *trace.Record) {
	q := c.queues.host
	if r.Op == trace.OpFreeAsync {
		q = c.queues.enqueue(r.Stream, i)
	}
	if r.Alloc == 0 {
		return // of null, or of memory from before the trace
	}
	a := c.allocation(r.Alloc)
	if r.Freed || a.freed > 0 {
		c.report.doubleFree(i, a)
		return
	}
	mended := a.excuses(q)
	covered := mended > 0 || q.behind(a.birth) || r.Op != trace.OpFreeAsync
	pending(q, trace.Write, func(y conflict, _ *allocation) {
		ofBirth := y.by.stream == a.birth.stream
		if ofBirth && y.by.pos <= mended {
			return
		}
		covered = covered || ofBirth
		c.report.freeBeforeUse(i, a, y)
	}, append(usages(a), a.formerly()...)...)
	if !covered {
		c.report.freeBeforeAlloc(i, a)
	}
	c.endBlocks(i, c.blocksOf(a))
	c.end(i, a)
}

// end takes in that the i-th record's call was the end of a.
func (c *checker) end(i int, a *allocation) {
	if a.block != nil {
		c.vacate(a)
	}
	a.freed = i + 1
	a.excused = nil
	a.history.reset()
	c.spare = append(c.spare, a.history)
	a.history, a.former = nil, nil
}

// failedFree takes in a free that was refused.
func (c *checker) failedFree(i int, r, done *trace.Record) {
	if done.Faked {
		c.triedAt(r.Addr)
		return
	}
	a := c.allocs[r.Alloc]
	if a != nil && a.physical != nil {
		if done.Code == invalidValue {
			c.report.freeOfMapping(i, a)
		}
		return
	}
	if a != nil {
		a.tried = true
	}
	switch {
	case a != nil && (r.Freed || a.freed > 0):
		c.report.doubleFree(i, a)
	case done.Code == invalidValue && r.Addr != 0:
		c.report.invalidFree(i, a)
	}
}

// triedAt notes a free that never reached the device, so that its record names an address only.
func (c *checker) triedAt(addr uint64) {
	for _, a := range c.allocs {
		if a.freed == 0 && a.made >= 0 && a.block == nil && c.words.addr(a) == addr {
			a.tried = true
		}
	}
}

// failedAccess takes in a call that was refused for what it names: no access was made, but its fault is worth a word.
func (c *checker) failedAccess(i int, r *trace.Record) {
	for k := range r.Accesses {
		c.reachable(i, &r.Accesses[k])
	}
}
