package order

import "cudalab/native/trace"

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
