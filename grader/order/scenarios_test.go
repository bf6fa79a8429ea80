package order

import "cudalab/native/trace"

const (
	kB = 4096
	r  = trace.Read
	w  = trace.Write
	rw = trace.Atomic
)

// scenario is a short program with what the checker has to say about it: for each finding its rule, the call at fault
// and the first related call, and "remark" in front of it if that is all it is.
type scenario struct {
	name   string
	run    func(p program)
	faults []string
	keep   bool // leave what the program made: by default it is all freed and destroyed in the end, in good order
}

// ready is memory that has been written and is ordered before everything that follows.
func ready(p program) trace.ID {
	m := p.Malloc(kB)
	p.Memset(m, kB)
	p.SyncDevice()
	return m
}

func two(p program) (s1, s2 trace.ID) { return p.Stream(nonBlocking), p.Stream(nonBlocking) }

// after makes s wait for what is in from now.
func after(p program, s, from trace.ID) {
	e := p.Event()
	p.Record(e, from)
	p.Wait(s, e)
	p.DestroyEvent(e)
}

// The rows of the table of ordering scenarios in the course's semantics.
var orderings = []scenario{
	{name: "two reads", run: func(p program) {
		m := ready(p)
		s1, s2 := two(p)
		p.Launch(r, m, 0, kB, s1)
		p.Launch(r, m, 0, kB, s2)
	}},
	{name: "read, write", run: func(p program) {
		m := ready(p)
		s1, s2 := two(p)
		p.Launch(r, m, 0, kB, s1)
		p.Launch(w, m, 0, kB, s2)
	}, faults: []string{"data-race: the launch of write on stream 2 / the launch of read on stream 1"}},
	{name: "read, event, write", run: func(p program) {
		m := ready(p)
		s1, s2 := two(p)
		p.Launch(r, m, 0, kB, s1)
		after(p, s2, s1)
		p.Launch(w, m, 0, kB, s2)
	}},
	{name: "one reader waits, one does not", run: func(p program) {
		m := ready(p)
		s1, s2 := two(p)
		s3 := p.Stream(nonBlocking)
		p.Launch(w, m, 0, kB, s1)
		after(p, s2, s1)
		p.Launch(r, m, 0, kB, s2)
		p.Launch(r, m, 0, kB, s3)
	}, faults: []string{"data-race: the launch of read on stream 3 / the launch of write on stream 1"}},
	{name: "chain of ten streams", run: func(p program) {
		m := ready(p)
		before := p.Stream(nonBlocking)
		p.Launch(w, m, 0, kB, before)
		for range 10 {
			s := p.Stream(nonBlocking)
			after(p, s, before)
			before = s
		}
		p.Launch(r, m, 0, kB, before)
	}},
	{name: "ten readers, nine waited for", run: func(p program) {
		m := ready(p)
		s := p.Stream(nonBlocking)
		for i := range 10 {
			reader := p.Stream(nonBlocking)
			p.Launch(r, m, 0, kB, reader)
			if i < 9 {
				after(p, s, reader)
			}
		}
		p.Launch(w, m, 0, kB, s)
	}, faults: []string{"data-race: the launch of write on stream 1 / the launch of read on stream 11"}},
	{name: "read again after the record", run: func(p program) {
		m := ready(p)
		s1, s2 := two(p)
		e := p.Event()
		p.Launch(r, m, 0, kB, s1)
		p.Record(e, s1)
		p.Launch(r, m, 0, kB, s1)
		p.Wait(s2, e)
		p.Launch(w, m, 0, kB, s2)
	}, faults: []string{"data-race: the launch of write on stream 2 / the launch of read on stream 1"}},
	{name: "the earlier of two events", run: func(p program) {
		m := ready(p)
		s1, s2 := two(p)
		first, second := p.Event(), p.Event()
		p.Record(first, s1)
		p.Launch(r, m, 0, kB, s1)
		p.Record(second, s1)
		p.Wait(s2, first)
		p.Launch(w, m, 0, kB, s2)
	}, faults: []string{"data-race: the launch of write on stream 2 / the launch of read on stream 1"}},
	{name: "recorded again between record and wait", run: func(p program) {
		m := ready(p)
		s1, s2 := two(p)
		s3 := p.Stream(nonBlocking)
		e := p.Event()
		p.Launch(w, m, 0, kB, s1)
		p.Record(e, s1)
		p.Record(e, s3)
		p.Wait(s2, e)
		p.Launch(r, m, 0, kB, s2)
	}, faults: []string{"data-race: the launch of read on stream 2 / the launch of write on stream 1"}},
	{name: "device synchronise", run: func(p program) {
		m := ready(p)
		s1, s2 := two(p)
		p.Launch(w, m, 0, kB, s1)
		p.SyncDevice()
		p.Launch(w, m, 0, kB, s2)
	}},
	{name: "the wrong stream synchronised", run: func(p program) {
		m := ready(p)
		s1, s2 := two(p)
		p.Launch(w, m, 0, kB, s1)
		p.SyncStream(s2)
		p.Launch(r, m, 0, kB, s2)
	}, faults: []string{"data-race: the launch of read on stream 2 / the launch of write on stream 1"}},
	{name: "two halves", run: func(p program) {
		m := ready(p)
		s1, s2 := two(p)
		p.Launch(w, m, 0, kB/2, s1)
		p.Launch(w, m, kB/2, kB/2, s2)
	}},
	{name: "use before the allocation", run: func(p program) {
		s1, s2 := two(p)
		m := p.MallocAsync(kB, s1)
		p.Launch(w, m, 0, kB, s2)
		after(p, s1, s2)
		p.FreeAsync(m, s1)
	}, faults: []string{"use-before-alloc: the launch of write on stream 2 / MallocAsync on stream 1"}},
	{name: "freed with no wait back", run: func(p program) {
		s1, s2 := two(p)
		m := p.MallocAsync(kB, s1)
		after(p, s2, s1)
		p.Launch(w, m, 0, kB, s2)
		p.FreeAsync(m, s1)
	}, faults: []string{"free-before-use: FreeAsync on stream 1 / the launch of write on stream 2"}},
	{name: "use after the free, on another stream", run: func(p program) {
		s1, s2 := two(p)
		m := p.MallocAsync(kB, s1)
		after(p, s2, s1)
		p.FreeAsync(m, s1)
		p.MemsetAsync(m, kB, s2)
	}, faults: []string{"use-after-free: MemsetAsync on stream 2 / FreeAsync on stream 1"}},
	{name: "use after the free, on the same stream", run: func(p program) {
		s := p.Stream(nonBlocking)
		m := p.MallocAsync(kB, s)
		p.FreeAsync(m, s)
		p.MemsetAsync(m, kB, s)
	}, faults: []string{"use-after-free: MemsetAsync on stream 1 / FreeAsync on stream 1"}},
	{name: "freed on another stream", run: func(p program) {
		s1, s2 := two(p)
		m := p.MallocAsync(kB, s1)
		p.FreeAsync(m, s2)
	}, faults: []string{"free-before-use: FreeAsync on stream 2 / MallocAsync on stream 1"}},
	{name: "the address used again", run: func(p program) {
		s := p.Stream(nonBlocking)
		for range 3 {
			m := p.MallocAsync(kB, s)
			p.Launch(w, m, 0, kB, s)
			p.Launch(r, m, 0, kB, s)
			p.FreeAsync(m, s)
		}
	}},
	{name: "the host reads at once", run: func(p program) {
		s := p.Stream(nonBlocking)
		m, buffer := ready(p), p.MallocHost(kB)
		p.Launch(w, m, 0, kB, s)
		p.CopyOutAsync(buffer, m, kB, s)
		p.HostRead(buffer, kB)
	}, faults: []string{"host-race: HostBuffer.Read / MemcpyDtoHAsync on stream 1"}},
	{name: "the host reads after a stream synchronise", run: func(p program) {
		s := p.Stream(nonBlocking)
		m, buffer := ready(p), p.MallocHost(kB)
		p.CopyOutAsync(buffer, m, kB, s)
		p.SyncStream(s)
		p.HostRead(buffer, kB)
	}},
	{name: "the host reads after an event synchronise", run: func(p program) {
		s := p.Stream(nonBlocking)
		m, buffer, e := ready(p), p.MallocHost(kB), p.Event()
		p.CopyOutAsync(buffer, m, kB, s)
		p.Record(e, s)
		p.SyncEvent(e)
		p.HostRead(buffer, kB)
	}},
	{name: "the host reads after a finished query", run: func(p program) {
		s := p.Stream(nonBlocking)
		m, buffer, e := ready(p), p.MallocHost(kB), p.Event()
		p.CopyOutAsync(buffer, m, kB, s)
		p.Record(e, s)
		p.PollEvent(e)
		p.HostRead(buffer, kB)
		p.CopyOutAsync(buffer, m, kB, s)
		p.PollStream(s)
		p.HostRead(buffer, kB)
	}},
	{name: "the host changes a source", run: func(p program) {
		s := p.Stream(nonBlocking)
		m, buffer := p.Malloc(kB), p.MallocHost(kB)
		p.HostWrite(buffer, kB)
		p.CopyInAsync(m, buffer, kB, s)
		p.HostWrite(buffer, kB)
	}, faults: []string{"host-race: HostBuffer.Write / MemcpyHtoDAsync on stream 1"}},
	{name: "the legacy stream between blocking streams", run: func(p program) {
		m := ready(p)
		s1, s2 := p.Stream(0), p.Stream(0)
		p.Launch(w, m, 0, kB, s1)
		p.Memset(m, kB)
		p.Launch(r, m, 0, kB, s2)
	}},
	{name: "the legacy stream between non-blocking streams", run: func(p program) {
		m := ready(p)
		s1, s2 := two(p)
		p.Launch(w, m, 0, kB, s1)
		p.Memset(m, kB)
		p.Launch(r, m, 0, kB, s2)
	}, faults: []string{
		"data-race: Memset on the legacy default stream / the launch of write on stream 1",
		"data-race: the launch of read on stream 2 / Memset on the legacy default stream",
	}},
	{name: "a launch on the legacy stream that belongs to another", run: func(p program) {
		s := p.Stream(nonBlocking)
		m := p.MallocAsync(kB, s)
		p.Launch(w, m, 0, kB, s)
		p.Launch(r, m, 0, kB, legacyID)
		p.SyncDevice()
		p.FreeAsync(m, s)
	}, faults: []string{
		"use-before-alloc: the launch of read on the legacy default stream / MallocAsync on stream 1",
		"remark legacy-stream: the launch of read on the legacy default stream",
	}},
	{name: "a copy to the host behind another stream's work", run: func(p program) {
		s := p.Stream(nonBlocking)
		m := p.Malloc(kB)
		p.Launch(w, m, 0, kB, s)
		p.CopyOut(m, kB)
	}, faults: []string{"data-race: MemcpyDtoH on the legacy default stream / the launch of write on stream 1"}},
	{name: "a free in the legacy stream behind another stream's work", run: func(p program) {
		s := p.Stream(nonBlocking)
		m := p.MallocAsync(kB, s)
		p.SyncDevice()
		p.Launch(w, m, 0, kB, s)
		p.FreeAsync(m, legacyID)
	}, faults: []string{"free-before-use: FreeAsync on the legacy default stream / the launch of write on stream 1"}},
	{name: "never freed", keep: true, run: func(p program) {
		p.MallocAsync(kB, 0)
	}, faults: []string{"leak: MallocAsync on the legacy default stream"}},
	{name: "an event that nobody recorded", run: func(p program) {
		m := ready(p)
		s1, s2 := two(p)
		e := p.Event()
		p.Launch(w, m, 0, kB, s1)
		p.Wait(s2, e)
		p.Launch(r, m, 0, kB, s2)
	}, faults: []string{
		"wait-unrecorded: StreamWaitEvent on stream 2",
		"data-race: the launch of read on stream 2 / the launch of write on stream 1",
	}},
	{name: "a wait that the legacy default stream never sees", run: func(p program) {
		s1, s2 := p.Stream(0), p.Stream(0)
		m := p.Malloc(kB)
		p.Launch(w, m, 0, kB, s1)
		p.Wait(legacyID, p.Event())
		p.Launch(r, m, 0, kB, s2)
	}, faults: []string{
		"wait-unrecorded: StreamWaitEvent on the legacy default stream",
		"data-race: the launch of read on stream 2 / the launch of write on stream 1",
	}},
}
