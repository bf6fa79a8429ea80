package order

// What callers do with the blocks of an allocator.
var allocatorBlocks = []scenario{
	{name: "blocks in turn", run: func(p program) {
		s := p.Stream(nonBlocking)
		m := p.Malloc(kB)
		for range 3 {
			b := p.HandOut(m, 256, 512)
			p.Launch(w, b, 0, 512, s)
			p.Launch(r, b, 0, 512, s)
			p.SyncStream(s)
			p.TakeBack(b)
		}
	}},
	{name: "neighbours on two streams, left to the allocator", run: func(p program) {
		s1, s2 := two(p)
		m := p.Malloc(kB)
		a, b := p.HandOut(m, 0, 256), p.HandOut(m, 256, 256)
		p.Launch(w, a, 0, 256, s1)
		p.Launch(w, b, 0, 256, s2)
		p.SyncDevice()
		p.Free(m)
	}},
	{name: "a block of memory set as a whole", run: func(p program) {
		s := p.Stream(nonBlocking)
		m := ready(p)
		b := p.HandOut(m, 0, 256)
		p.Launch(rw, b, 0, 256, s)
		p.SyncStream(s)
		p.TakeBack(b)
		p.CopyOut(m, kB)
	}},
	{name: "a block across two mappings", run: func(p program) {
		s := p.Stream(nonBlocking)
		v, a, b := p.Reserve(2*page), p.Create(page), p.Create(page)
		p.Map(v, 0, a)
		p.Map(v, page, b)
		p.SetAccess(v, 0, 2*page, readWrite)
		x := p.HandOut(a, page-256, 512)
		p.Launch(w, x, 0, 512, s)
		p.SyncStream(s)
		p.TakeBack(x)
	}},
	{name: "a block used after it is taken back", run: func(p program) {
		m := p.Malloc(kB)
		b := p.HandOut(m, 256, 256)
		p.TakeBack(b)
		p.Launch(w, b, 0, 256, p.Stream(0))
	}, faults: []string{"use-after-free: the launch of write on stream 1 / the allocator's Free"}},
	{name: "a block taken back under a kernel", run: func(p program) {
		s := p.Stream(nonBlocking)
		m := p.Malloc(kB)
		b := p.HandOut(m, 256, 256)
		p.Launch(w, b, 0, 256, s)
		p.TakeBack(b)
		p.SyncStream(s)
	}, faults: []string{"free-before-use: the allocator's Free / the launch of write on stream 1"}},
	{name: "a block taken back twice", run: func(p program) {
		b := p.HandOut(p.Malloc(kB), 256, 256)
		p.TakeBack(b)
		p.TakeBack(b)
	}, faults: []string{"double-free: the allocator's Free / the allocator's Free"}},
	{name: "beyond the end of a block", run: func(p program) {
		b := p.HandOut(p.Malloc(kB), 256, 256)
		p.Launch(w, b, 0, 512, p.Stream(0))
	}, faults: []string{"out-of-bounds: the launch of write on stream 1 / the allocator's Alloc"}},
	{name: "a fresh block read", run: func(p program) {
		s := p.Stream(nonBlocking)
		m := ready(p)
		b := p.HandOut(m, 0, 256)
		p.Launch(w, b, 0, 256, s)
		p.SyncStream(s)
		p.TakeBack(b)
		p.Launch(r, p.HandOut(m, 0, 256), 0, 256, s) // what is left there is the block before's
	}, faults: []string{"uninitialized-read: the launch of read on stream 1 / the allocator's Alloc"}},
	{name: "a race in a block", run: func(p program) {
		s1, s2 := two(p)
		b := p.HandOut(p.Malloc(kB), 0, 256)
		p.Launch(w, b, 0, 256, s1)
		p.Launch(r, b, 0, 256, s2)
	}, faults: []string{"data-race: the launch of read on stream 2 / the launch of write on stream 1"}},
	{name: "a block handed out under the allocator's memset", run: func(p program) {
		m := p.Malloc(kB)
		p.Memset(m, kB)
		b := p.HandOut(m, 0, 256)
		p.Launch(r, b, 0, 256, p.Stream(nonBlocking))
		p.SyncDevice()
		p.TakeBack(b)
	}, faults: []string{"data-race: the launch of read on stream 1 / Memset on the legacy default stream"}},
	{name: "a block of memory that may not exist yet", run: func(p program) {
		s1, s2 := two(p)
		m := p.MallocAsync(kB, s1)
		b := p.HandOut(m, 256, 256)
		p.Launch(w, b, 0, 256, s2)
		p.SyncDevice()
		p.TakeBack(b)
		p.FreeAsync(m, s1)
	}, faults: []string{"use-before-alloc: the launch of write on stream 2 / MallocAsync on stream 1"}},
	{name: "a block used, and its memory freed, where it may not exist yet", run: func(p program) {
		s1, s2 := two(p)
		m := p.MallocAsync(kB, s1)
		p.Launch(w, p.HandOut(m, 256, 256), 0, 256, s2)
		p.FreeAsync(m, s2)
	}, faults: []string{"use-before-alloc: the launch of write on stream 2 / MallocAsync on stream 1"}},
	{name: "blocks that overlap", run: func(p program) {
		s1, s2 := two(p)
		m := p.Malloc(kB)
		a, b := p.HandOut(m, 0, 512), p.HandOut(m, 256, 512)
		p.Launch(w, a, 0, 256, s1)
		p.Launch(w, b, 256, 256, s2) // what is only its own
		p.Launch(w, b, 0, 256, s2)   // the same as the other's second half
		p.SyncDevice()
		p.Launch(w, a, 0, 256, s2)
		p.SyncDevice()
		p.TakeBack(a)
		p.Launch(r, b, 0, 512, s1)
	}},
	{name: "blocks that overlap, used at once", run: func(p program) {
		s1, s2 := two(p)
		m := p.Malloc(kB)
		a := p.HandOut(m, 0, 512)
		p.Launch(w, a, 0, 512, s1)
		p.Launch(w, p.HandOut(m, 256, 512), 0, 512, s2)
	}, faults: []string{"data-race: the launch of write on stream 2 / the launch of write on stream 1"}},
	{name: "memory freed under a kernel in a block", run: func(p program) {
		s := p.Stream(nonBlocking)
		m := p.Malloc(kB)
		p.Launch(w, p.HandOut(m, 256, 256), 0, 256, s)
		p.Free(m)
	}, faults: []string{"remark free-while-pending: Free / the launch of write on stream 1"}},
	{name: "memory freed in a stream under a kernel in a block", run: func(p program) {
		s1, s2 := two(p)
		m := p.MallocAsync(kB, s1)
		p.SyncStream(s1)
		p.Launch(w, p.HandOut(m, 256, 256), 0, 256, s2)
		p.FreeAsync(m, s1)
	}, faults: []string{"free-before-use: FreeAsync on stream 1 / the launch of write on stream 2"}},
	{name: "memory unmapped under a kernel in a block", run: func(p program) {
		s := p.Stream(nonBlocking)
		v, m := mapped(p)
		p.Launch(w, p.HandOut(m, 256, 256), 0, 256, s)
		giveBack(p, v, m)
	}, faults: []string{"free-before-use: MemUnmap / the launch of write on stream 1"}},
	{name: "a block used after its memory is freed", run: func(p program) {
		m := p.Malloc(kB)
		b := p.HandOut(m, 256, 256)
		p.Free(m)
		p.MemsetAsync(b, 256, p.Stream(0))
	}, faults: []string{"use-after-free: MemsetAsync on stream 1 / Free"}},
	{name: "a block used after its memory is unmapped", run: func(p program) {
		v, m := mapped(p)
		b := p.HandOut(m, 256, 256)
		p.Unmap(v, 0, page)
		p.MemsetAsync(b, 256, p.Stream(0))
		p.TakeBack(b)
	}, faults: []string{"use-after-free: MemsetAsync on stream 1 / MemUnmap"}},
	{name: "a block without access", run: func(p program) {
		v, m := p.Reserve(page), p.Create(page)
		p.Map(v, 0, m)
		p.MemsetAsync(p.HandOut(m, 256, 256), 256, p.Stream(0))
	}, faults: []string{"out-of-bounds: MemsetAsync on stream 1 / MemMap"}},
	{name: "a block beyond what is mapped", run: func(p program) {
		v, m := p.Reserve(2*page), p.Create(page)
		p.Map(v, 0, m)
		p.SetAccess(v, 0, page, readWrite)
		p.MemsetAsync(p.HandOut(m, page-256, 512), 512, p.Stream(0))
	}, faults: []string{"out-of-bounds: MemsetAsync on stream 1 / MemAddressReserve"}},
}

// What lies around a block counts for it, and what is done to a block counts for what lies around.
var aroundBlocks = []scenario{
	{name: "what the allocator has written is the next block's, if the one before left it", run: func(p program) {
		s := p.Stream(nonBlocking)
		m := ready(p)
		p.TakeBack(p.HandOut(m, 0, 256))
		p.Launch(r, p.HandOut(m, 0, 256), 0, 256, s)
	}},
	{name: "the allocator's memset outlives a block", run: func(p program) {
		m := p.Malloc(kB)
		p.Memset(m, kB)
		p.TakeBack(p.HandOut(m, 0, 256))
		p.Launch(w, p.HandOut(m, 0, 256), 0, 256, p.Stream(nonBlocking))
	}, faults: []string{"data-race: the launch of write on stream 1 / Memset on the legacy default stream"}},
	{name: "a block handed out under a reader of the whole", run: func(p program) {
		s1, s2 := two(p)
		m := ready(p)
		p.Launch(r, m, 0, kB, s1)
		p.Launch(w, p.HandOut(m, 256, 256), 0, 256, s2)
	}, faults: []string{"data-race: the launch of write on stream 2 / the launch of read on stream 1"}},
	{name: "the whole written while a block is in use", run: func(p program) {
		s1, s2 := two(p)
		m := ready(p)
		p.Launch(r, p.HandOut(m, 256, 256), 0, 256, s1)
		p.Launch(w, m, 0, kB, s2)
	}, faults: []string{"data-race: the launch of write on stream 2 / the launch of read on stream 1"}},
	{name: "a block in memory that is in use at other addresses", run: func(p program) {
		s1, s2 := two(p)
		_, m := mapped(p)
		b := p.HandOut(m, 0, 256)
		p.Launch(w, b, 0, 256, s1)
		alias := p.Reserve(page)
		p.Map(alias, 0, m)
		p.SetAccess(alias, 0, page, readWrite)
		p.Launch(r, m, 0, 256, s2)
	}, faults: []string{"data-race: the launch of read on stream 2 / the launch of write on stream 1"}},
	{name: "a fresh block read by a stream that has read the one before", run: func(p program) {
		s := p.Stream(nonBlocking)
		m := p.Malloc(kB)
		b := p.HandOut(m, 0, 256)
		p.Launch(w, b, 0, 256, s)
		p.Launch(r, b, 0, 256, s)
		p.SyncStream(s)
		p.TakeBack(b)
		p.Launch(r, p.HandOut(m, 0, 256), 0, 256, s)
	}, faults: []string{"uninitialized-read: the launch of read on stream 1 / the allocator's Alloc"}},
	{name: "a fresh block read by a stream that has read the whole", run: func(p program) {
		s := p.Stream(nonBlocking)
		m := p.Malloc(kB)
		p.HandOut(m, 512, 256)
		p.Launch(r, m, 0, kB, s) // the allocator may look at what it likes
		p.Launch(r, p.HandOut(m, 0, 256), 0, 256, s)
	}, faults: []string{"uninitialized-read: the launch of read on stream 1 / the allocator's Alloc"}},
	{name: "a block copied onto itself, by way of the whole", run: func(p program) {
		m := ready(p)
		p.Copy(m, p.HandOut(m, 128, 256), 256)
	}, faults: []string{"overlapping-copy: MemcpyDtoD on the legacy default stream / Malloc"}},
	{name: "a block beyond the end of the memory", run: func(p program) {
		p.Launch(w, p.HandOut(p.Malloc(kB), kB-256, 512), 0, 512, p.Stream(nonBlocking))
	}, faults: []string{"out-of-bounds: the launch of write on stream 1 / Malloc"}},
}

// What is named after it has been destroyed.
var destroyedObjects = []scenario{
	{name: "work for a destroyed stream", run: func(p program) {
		m, s := ready(p), p.Stream(0)
		p.DestroyStream(s)
		p.MemsetAsync(m, kB, s)
	}, faults: []string{"use-after-destroy: MemsetAsync on stream 1 / StreamDestroy on stream 1"}},
	{name: "a wait for a destroyed event", run: func(p program) {
		s1, s2 := two(p)
		e := p.Event()
		p.Record(e, s1)
		p.DestroyEvent(e)
		p.Wait(s2, e)
	}, faults: []string{"use-after-destroy: StreamWaitEvent on stream 2 / EventDestroy"}},
	{name: "a pool destroyed twice", run: func(p program) {
		x := p.Pool()
		p.DestroyPool(x)
		p.DestroyPool(x)
	}, faults: []string{"use-after-destroy: MemPoolDestroy / MemPoolDestroy"}},
	{name: "mapped after the release", run: func(p program) {
		v, m := mapped(p)
		p.Release(m)
		alias := p.Reserve(page)
		p.Map(alias, 0, m)
		p.Unmap(v, 0, page)
	}, faults: []string{"use-after-destroy: MemMap / MemRelease"}},
}
