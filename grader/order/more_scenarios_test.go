package order

// More faults, and what is only worth a remark.
var moreFaults = []scenario{
	{name: "freed twice", run: func(p program) {
		s := p.Stream(nonBlocking)
		m := p.MallocAsync(kB, s)
		p.FreeAsync(m, s)
		p.FreeAsync(m, s)
	}, faults: []string{"double-free: FreeAsync on stream 1 / FreeAsync on stream 1"}},
	{name: "freed in the middle", run: func(p program) {
		p.FreeAt(p.Malloc(kB), 256)
	}, faults: []string{"invalid-free: Free / Malloc"}},
	{name: "read before anything is written", run: func(p program) {
		s := p.Stream(nonBlocking)
		m := p.MallocAsync(kB, s)
		p.Launch(w, m, 0, kB/2, s)
		p.Launch(r, m, 0, kB, s)
		p.Launch(r, m, 0, kB, s) // the same bytes: not reported twice
		p.FreeAsync(m, s)
	}, faults: []string{"uninitialized-read: the launch of read on stream 1 / MallocAsync on stream 1"}},
	{name: "added to what nothing has set", run: func(p program) {
		s := p.Stream(nonBlocking)
		m := p.MallocAsync(8, s)
		p.Launch(rw, m, 0, 8, s)
		p.FreeAsync(m, s)
	}, faults: []string{"uninitialized-read: the launch of count on stream 1 / MallocAsync on stream 1"}},
	{name: "a pinned buffer that nobody filled", run: func(p program) {
		s := p.Stream(nonBlocking)
		m, buffer := p.Malloc(kB), p.MallocHost(kB)
		p.CopyInAsync(m, buffer, kB, s)
	}, faults: []string{"uninitialized-read: MemcpyHtoDAsync on stream 1 / MallocHost"}},
	{name: "a copy beyond the end", run: func(p program) {
		m := ready(p)
		p.CopyOut(m, kB+4)
	}, faults: []string{"out-of-bounds: MemcpyDtoH on the legacy default stream / Malloc"}},
	{name: "a kernel beyond the end", run: func(p program) {
		s := p.Stream(nonBlocking)
		m := p.MallocAsync(kB-4, s)
		p.Launch(w, m, 0, kB, s)
		p.FreeAsync(m, s)
	}, faults: []string{"out-of-bounds: the launch of write on stream 1 / MallocAsync on stream 1"}},
	{name: "a quarter of the memory", run: func(p program) {
		s := p.Stream(nonBlocking)
		for _, n := range []int64{kB, 2 * kB} {
			m := p.MallocAsync(n/4, s)
			p.Launch(w, m, 0, n, s)
			p.FreeAsync(m, s)
		}
	}, faults: []string{"out-of-bounds: the launch of write on stream 1 / MallocAsync on stream 1"}},
	{name: "the other stream waits", run: func(p program) {
		m := ready(p)
		s1, s2 := two(p)
		e := p.Event()
		p.Launch(w, m, 0, kB, s1)
		p.Record(e, s1)
		p.Wait(s1, e)
		p.Launch(r, m, 0, kB, s2)
	}, faults: []string{"data-race: the launch of read on stream 2 / the launch of write on stream 1"}},
	{name: "recorded in the other stream", run: func(p program) {
		m := ready(p)
		s1, s2 := two(p)
		e := p.Event()
		p.Launch(w, m, 0, kB, s1)
		p.Record(e, s2)
		p.Wait(s2, e)
		p.Launch(r, m, 0, kB, s2)
	}, faults: []string{"data-race: the launch of read on stream 2 / the launch of write on stream 1"}},
	{name: "pinned memory freed under a copy", run: func(p program) {
		s := p.Stream(nonBlocking)
		m, buffer := ready(p), p.MallocHost(kB)
		p.CopyOutAsync(buffer, m, kB, s)
		p.FreeHost(buffer)
	}, faults: []string{"free-before-use: FreeHost / MemcpyDtoHAsync on stream 1"}},
	{name: "pool memory freed by the host under a kernel", run: func(p program) {
		s := p.Stream(nonBlocking)
		m := p.MallocAsync(kB, s)
		p.Launch(w, m, 0, kB, s)
		p.Free(m)
	}, faults: []string{"free-before-use: Free / the launch of write on stream 1"}},
	{name: "memory from Malloc freed under a kernel", run: func(p program) {
		s := p.Stream(nonBlocking)
		m := ready(p)
		p.Launch(w, m, 0, kB, s)
		p.Free(m)
	}, faults: []string{"remark free-while-pending: Free / the launch of write on stream 1"}},
	{name: "a staged copy", run: func(p program) {
		s := p.Stream(nonBlocking)
		m := p.Malloc(kB)
		p.CopyIn(m, kB)
		p.Launch(r, m, 0, kB, s)
	}, faults: []string{"staged-copy: the launch of read on stream 1 / MemcpyHtoD on the legacy default stream"}},
	{name: "a copy within the device does not wait", run: func(p program) {
		s := p.Stream(nonBlocking)
		m, n := ready(p), p.Malloc(kB)
		p.Copy(n, m, kB)
		p.Launch(r, n, 0, kB, s)
	}, faults: []string{"data-race: the launch of read on stream 1 / MemcpyDtoD on the legacy default stream"}},
	{name: "a wait that changes nothing", run: func(p program) {
		m := ready(p)
		s1, s2 := two(p)
		p.Launch(w, m, 0, kB, s1)
		after(p, s2, s1)
		e := p.Event()
		p.Record(e, s1)
		p.SyncDevice()
		p.Wait(s2, e)
		p.SyncEvent(e)
		p.Launch(r, m, 0, kB, s2)
	}, faults: []string{
		"remark needless-wait: StreamWaitEvent on stream 2",
		"remark needless-wait: EventSynchronize",
	}},
	{name: "a wait before the record", run: func(p program) {
		s1, s2 := two(p)
		e := p.Event()
		p.Wait(s2, e)
		p.Record(e, s1)
	}, faults: []string{"remark wait-unrecorded: StreamWaitEvent on stream 2 / EventRecord on stream 1"}},
	{name: "the stream forgotten", run: func(p program) {
		m, n := ready(p), ready(p)
		p.Launch(w, m, 0, kB, p.Stream(0))
		p.Launch(w, n, 0, kB, 0)
	}, faults: []string{"remark legacy-stream: the launch of write on the legacy default stream"}},
	{name: "use before an allocation from a pool", run: func(p program) {
		s1, s2 := two(p)
		m := p.MallocFromPool(kB, p.Pool(), s1)
		p.Launch(w, m, 0, kB, s2)
		after(p, s1, s2)
		p.FreeAsync(m, s1)
	}, faults: []string{"use-before-alloc: the launch of write on stream 2 / MallocFromPoolAsync on stream 1"}},
	{name: "an allocation from a pool freed on another stream", run: func(p program) {
		s1, s2 := two(p)
		m := p.MallocFromPool(kB, p.Pool(), s1)
		p.FreeAsync(m, s2)
	}, faults: []string{"free-before-use: FreeAsync on stream 2 / MallocFromPoolAsync on stream 1"}},
	{name: "a pool and memory of it left", keep: true, run: func(p program) {
		p.MallocFromPool(kB, p.Pool(), 0)
	}, faults: []string{"leak: MemPoolCreate", "leak: MallocFromPoolAsync on the legacy default stream"}},
	{name: "a stream and an event left", keep: true, run: func(p program) {
		p.Stream(0)
		p.Event()
	}, faults: []string{"leak: StreamCreate on stream 1", "leak: EventCreate"}},
	{name: "the same fault in a loop", run: func(p program) {
		m := ready(p)
		s1, s2 := two(p)
		for range 100 {
			p.Launch(w, m, 0, kB, s1)
			p.Launch(r, m, 0, kB, s2)
			p.SyncDevice()
		}
	}, faults: []string{"data-race: the launch of read on stream 2 / the launch of write on stream 1"}},
	{name: "two races that one wait mends", run: func(p program) {
		m, n := ready(p), ready(p)
		s1, s2 := two(p)
		p.Launch(w, m, 0, kB, s1)
		p.Launch(w, n, 0, kB, s1)
		p.Launch(r, n, 0, kB, s2)
		p.Launch(r, m, 0, kB, s2)
	}, faults: []string{"data-race: the launch of read on stream 2 / the launch of write on stream 1"}},
	{name: "a race and a free that one wait mends", run: func(p program) {
		m := ready(p)
		s1, s2 := two(p)
		n := p.MallocAsync(kB, s1)
		p.Launch(w, n, 0, kB, s1)
		p.Launch(w, m, 0, kB, s1)
		p.Launch(r, m, 0, kB, s2)
		p.FreeAsync(n, s2)
	}, faults: []string{
		"data-race: the launch of read on stream 2 / the launch of write on stream 1",
		"free-before-use: FreeAsync on stream 2 / the launch of write on stream 1",
	}},
	{name: "one memset for two streams", run: func(p program) {
		m := ready(p)
		s1, s2 := p.Stream(nonBlocking), p.Stream(nonBlocking)
		p.Memset(m, kB)
		p.Launch(r, m, 0, kB, s1)
		p.Launch(r, m, 0, kB, s2)
	}, faults: []string{
		"data-race: the launch of read on stream 1 / Memset on the legacy default stream",
		"data-race: the launch of read on stream 2 / Memset on the legacy default stream",
	}},
	{name: "a copy onto itself", run: func(p program) {
		m := ready(p)
		p.Copy(m, m, kB)
	}, faults: []string{"overlapping-copy: MemcpyDtoD on the legacy default stream / Malloc"}},
	{name: "two races that need two waits", run: func(p program) {
		m, n := ready(p), ready(p)
		s1, s2 := two(p)
		p.Launch(w, m, 0, kB, s1)
		p.Launch(r, m, 0, kB, s2)
		p.Launch(w, n, 0, kB, s1)
		p.Launch(r, n, 0, kB, s2)
	}, faults: []string{
		"data-race: the launch of read on stream 2 / the launch of write on stream 1",
		"data-race: the launch of read on stream 2 / the launch of write on stream 1",
	}},
	{name: "no third race from one missing wait", run: func(p program) {
		s1, s2 := two(p)
		m := p.MallocAsync(kB, s1)
		p.Launch(w, m, 0, kB, s1)
		p.Launch(r, m, 0, kB, s2)  // before the allocation; that it also races follows from it
		p.Launch(rw, m, 0, kB, s2) // as does this
		p.FreeAsync(m, s2)         // and this
	}, faults: []string{"use-before-alloc: the launch of read on stream 2 / MallocAsync on stream 1"}},
	{name: "a race behind a use before the allocation", run: func(p program) {
		s1, s2 := two(p)
		m := p.MallocAsync(kB, s1)
		p.Launch(w, m, 0, kB/2, s2)
		p.Launch(w, m, kB/2, kB/2, s1) // to wait for the allocation before the first launch is not to wait for this one
		p.Launch(r, m, kB/2, kB/2, s2)
		after(p, s1, s2)
		p.FreeAsync(m, s1)
	}, faults: []string{
		"use-before-alloc: the launch of write on stream 2 / MallocAsync on stream 1",
		"data-race: the launch of read on stream 2 / the launch of write on stream 1",
	}},
	{name: "freed by the host under a use, behind a use before the allocation", run: func(p program) {
		s1, s2 := two(p)
		m := p.MallocAsync(kB, s1)
		p.Launch(w, m, 0, kB, s2)
		p.SyncDevice()
		p.Launch(r, m, 0, kB, s1)
		p.Free(m)
	}, faults: []string{
		"use-before-alloc: the launch of write on stream 2 / MallocAsync on stream 1",
		"free-before-use: Free / the launch of read on stream 1",
	}},
	{name: "the host reads twice", run: func(p program) {
		s := p.Stream(nonBlocking)
		m, buffer := ready(p), p.MallocHost(kB)
		p.CopyOutAsync(buffer, m, kB, s)
		p.HostRead(buffer, kB)
		p.HostRead(buffer, kB/2)
		p.FreeHost(buffer)
	}, faults: []string{"host-race: HostBuffer.Read / MemcpyDtoHAsync on stream 1"}},
	{name: "an event recorded too early", run: func(p program) {
		m := ready(p)
		s1, s2 := two(p)
		e := p.Event()
		p.Record(e, s1)
		p.Launch(w, m, 0, kB, s1)
		p.Wait(s2, e)
		p.Launch(r, m, 0, kB, s2)
	}, faults: []string{"data-race: the launch of read on stream 2 / the launch of write on stream 1"}},
	{name: "many consumers, none waited for", run: func(p program) {
		source := p.Stream(nonBlocking)
		m := p.MallocAsync(kB, source)
		p.Launch(w, m, 0, kB, source)
		for range 4 {
			s := p.Stream(nonBlocking)
			after(p, s, source)
			p.Launch(r, m, 0, kB, s)
		}
		p.FreeAsync(m, source)
	}, faults: []string{"free-before-use: FreeAsync on stream 1 / the launch of read on stream 2"}},
}
