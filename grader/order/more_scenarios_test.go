package order

import "cudalab/native/trace"

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
	}, faults: []string{"remark staged-copy: the launch of read on stream 1 / MemcpyHtoD on the legacy default stream"}},
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
	{name: "a second race at another place", run: func(p program) {
		m, n := ready(p), ready(p)
		s1, s2 := two(p)
		p.Launch(w, m, 0, kB, s1)
		p.Launch(w, n, 0, kB, s1)
		p.Launch(r, n, 0, kB, s2)
		p.Launch(r, m, 0, kB, s2)
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

// Programs that are right, in which nothing may be found.
var right = []scenario{
	{name: "double buffering", run: func(p program) {
		copies, kernels := two(p)
		var data, host, filled, used [2]trace.ID
		for i := range 2 {
			data[i], host[i] = p.Malloc(kB), p.MallocHost(kB)
			filled[i], used[i] = p.Event(), p.Event()
		}
		for i := range 6 {
			k := i % 2
			if i >= 2 {
				p.SyncEvent(filled[k]) // before the source is written again
				p.Wait(copies, used[k])
			}
			p.HostWrite(host[k], kB)
			p.CopyInAsync(data[k], host[k], kB, copies)
			p.Record(filled[k], copies)
			p.Wait(kernels, filled[k])
			p.Launch(r, data[k], 0, kB, kernels)
			p.Record(used[k], kernels)
		}
	}},
	{name: "a ring of events, whose first lap waits for nothing", run: func(p program) {
		s1, s2 := two(p)
		var data, free, full [3]trace.ID
		for i := range data {
			data[i], free[i], full[i] = ready(p), p.Event(), p.Event()
		}
		for i := range 12 {
			k := i % len(data)
			p.Wait(s1, free[k])
			p.Launch(w, data[k], 0, kB, s1)
			p.Record(full[k], s1)
			p.Wait(s2, full[k])
			p.Launch(r, data[k], 0, kB, s2)
			p.Record(free[k], s2)
		}
	}},
	{name: "fork and join", run: func(p program) {
		main := p.Stream(nonBlocking)
		m, sum := p.MallocAsync(kB, main), p.MallocAsync(8, main)
		p.Launch(w, m, 0, kB, main)
		p.MemsetAsync(sum, 8, main)
		var workers [4]trace.ID
		for i := range workers {
			workers[i] = p.Stream(nonBlocking)
			after(p, workers[i], main)
			p.Launch(r, m, int64(i)*kB/4, kB/4, workers[i])
			p.Launch(rw, sum, 0, 8, workers[i])
		}
		for _, s := range workers {
			after(p, main, s)
		}
		p.Launch(r, sum, 0, 8, main)
		p.Launch(w, m, 0, kB, main)
		p.FreeAsync(m, main)
		p.FreeAsync(sum, main)
	}},
	{name: "the legacy stream alone", run: func(p program) {
		m := p.Malloc(kB)
		p.Memset(m, kB)
		p.Launch(rw, m, 0, kB, 0)
		p.CopyOut(m, kB)
		p.Free(m)
	}},
	{name: "the legacy stream's copies around blocking streams", run: func(p program) {
		m := p.Malloc(kB)
		s1, s2 := p.Stream(0), p.Stream(0)
		p.CopyIn(m, kB)
		p.Launch(w, m, 0, kB/2, s1)
		p.Launch(w, m, kB/2, kB/2, s2)
		p.CopyOut(m, kB)
		p.Free(m)
	}},
	{name: "waiting for the legacy stream waits for blocking ones", run: func(p program) {
		m, s := ready(p), p.Stream(0)
		p.Launch(w, m, 0, kB, s)
		p.SyncStream(0)
		p.Launch(w, m, 0, kB, p.Stream(nonBlocking))
	}},
	{name: "the host polls", run: func(p program) {
		s1, s2 := two(p)
		m, e := ready(p), p.Event()
		for range 5 {
			p.Launch(w, m, 0, kB, s1)
			p.Record(e, s1)
			p.PollEvent(e)
			p.Launch(r, m, 0, kB, s2)
			p.PollStream(s2)
		}
	}},
	{name: "a copy to pageable memory waits", run: func(p program) {
		s1, s2 := two(p)
		m := ready(p)
		p.Launch(w, m, 0, kB, s1)
		p.CopyOutPageableAsync(m, kB, s1)
		p.Launch(w, m, 0, kB, s2)
	}},
	{name: "a stream and an event destroyed while in use", run: func(p program) {
		s1, s2 := two(p)
		m := p.MallocAsync(kB, s1)
		p.Launch(w, m, 0, kB, s1)
		after(p, s2, s1)
		p.DestroyStream(s1)
		p.Launch(r, m, 0, kB, s2)
		p.FreeAsync(m, s2)
	}},
	{name: "a pool destroyed before its memory is freed", run: func(p program) {
		s, x := p.Stream(nonBlocking), p.Pool()
		m := p.MallocFromPool(kB, x, s)
		p.DestroyPool(x)
		p.Launch(w, m, 0, kB, s)
		p.FreeAsync(m, s)
	}},
	{name: "memory from Malloc freed in stream order", run: func(p program) {
		s, m := p.Stream(nonBlocking), ready(p)
		p.Launch(w, m, 0, kB, s)
		p.FreeAsync(m, s)
	}},
	{name: "pool memory freed by the host after it has waited", run: func(p program) {
		s := p.Stream(nonBlocking)
		m := p.MallocAsync(kB, s)
		p.Launch(w, m, 0, kB, s)
		p.SyncStream(s)
		p.Free(m)
	}},
}
