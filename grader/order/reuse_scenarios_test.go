package order

import "cudalab/native/trace"

// used is a block that a stream was handed, has written, and has given back.
func used(p program, m trace.ID, offset int64, s trace.ID) {
	b := p.HandOutIn(m, offset, 256, s)
	p.Launch(w, b, 0, 256, s)
	p.TakeBackIn(b, s)
}

const launchOn1 = " / the launch of write on stream 1"

// What an allocator that knows streams does with its blocks.
var blocksInStreams = []scenario{
	{name: "a block in one stream, again and again", run: func(p program) {
		s, m := p.Stream(nonBlocking), p.Malloc(kB)
		for range 3 {
			used(p, m, 256, s)
		}
		p.SyncStream(s)
		p.Free(m)
	}},
	{name: "a block handed on behind an event", run: func(p program) {
		s1, s2 := two(p)
		m := p.Malloc(kB)
		used(p, m, 0, s1)
		after(p, s2, s1)
		used(p, m, 0, s2)
	}},
	{name: "a block handed on with nothing in between", run: func(p program) {
		s1, s2 := two(p)
		m := p.Malloc(kB)
		used(p, m, 0, s1)
		used(p, m, 0, s2)
	}, faults: []string{"early-reuse: the allocator's Alloc on stream 2" + launchOn1}},
	{name: "a block handed on that was only read", run: func(p program) {
		s1, s2 := two(p)
		m := ready(p)
		b := p.HandOutIn(m, 0, 256, s1)
		p.Launch(r, b, 0, 256, s1)
		p.TakeBackIn(b, s1)
		used(p, m, 128, s2) // some of the same bytes
	}, faults: []string{"early-reuse: the allocator's Alloc on stream 2 / the launch of read on stream 1"}},
	{name: "an event that was recorded before the last use", run: func(p program) {
		s1, s2 := two(p)
		m, e := p.Malloc(kB), p.Event()
		b := p.HandOutIn(m, 0, 256, s1)
		p.Record(e, s1)
		p.Launch(w, b, 0, 256, s1)
		p.TakeBackIn(b, s1)
		p.Wait(s2, e)
		used(p, m, 0, s2)
	}, faults: []string{"early-reuse: the allocator's Alloc on stream 2" + launchOn1}},
	{name: "one event for all, recorded again by another stream", run: func(p program) {
		s1, s2 := two(p)
		m, e := p.Malloc(kB), p.Event()
		used(p, m, 0, s1)
		p.Record(e, s1)
		used(p, m, 512, s2)
		p.Record(e, s2)
		s3 := p.Stream(nonBlocking)
		p.Wait(s3, e)
		used(p, m, 0, s3)
	}, faults: []string{"early-reuse: the allocator's Alloc on stream 3" + launchOn1}},
	{name: "the stream that gave it back waits for the one that gets it", run: func(p program) {
		s1, s2 := two(p)
		m := p.Malloc(kB)
		used(p, m, 0, s1)
		after(p, s1, s2)
		used(p, m, 0, s2)
	}, faults: []string{"early-reuse: the allocator's Alloc on stream 2" + launchOn1}},
	{name: "pieces merged behind an event, which is not recorded again", run: func(p program) {
		s1, s2 := two(p)
		s3 := p.Stream(nonBlocking)
		m, e1, e2 := p.Malloc(kB), p.Event(), p.Event()
		used(p, m, 0, s1)
		p.Record(e1, s1)
		used(p, m, 256, s2)
		p.Record(e2, s2)
		p.Wait(s1, e2) // now both pieces are stream 1's
		p.Wait(s3, e1) // whose event knows nothing of that
		b := p.HandOutIn(m, 0, 512, s3)
		p.Launch(w, b, 0, 512, s3)
		p.TakeBackIn(b, s3)
	}, faults: []string{"early-reuse: the allocator's Alloc on stream 3 / the launch of write on stream 2"}},
	{name: "pieces merged behind an event, which is recorded again", run: func(p program) {
		s1, s2 := two(p)
		s3 := p.Stream(nonBlocking)
		m, e1, e2 := p.Malloc(kB), p.Event(), p.Event()
		used(p, m, 0, s1)
		used(p, m, 256, s2)
		p.Record(e2, s2)
		p.Wait(s1, e2)
		p.Record(e1, s1)
		p.Wait(s3, e1)
		b := p.HandOutIn(m, 0, 512, s3)
		p.Launch(w, b, 0, 512, s3)
		p.TakeBackIn(b, s3)
	}},
	{name: "what a forgotten stream gave back", run: func(p program) {
		s1, s2 := two(p)
		m := p.Malloc(kB)
		used(p, m, 0, s1)
		p.DestroyStream(s1) // its work goes on
		used(p, m, 0, s2)
	}, faults: []string{"early-reuse: the allocator's Alloc on stream 2" + launchOn1}},
	{name: "what a forgotten stream gave back, behind its event", run: func(p program) {
		s1, s2 := two(p)
		m, e := p.Malloc(kB), p.Event()
		used(p, m, 0, s1)
		p.Record(e, s1)
		p.DestroyStream(s1)
		p.Wait(s2, e)
		used(p, m, 0, s2)
	}},
	{name: "a new stream taken for an old one that had its handle", run: func(p program) {
		m, s1 := p.Malloc(kB), p.Stream(nonBlocking)
		used(p, m, 0, s1)
		p.DestroyStream(s1)
		used(p, m, 0, p.Stream(nonBlocking)) // as if that were its own
	}, faults: []string{"early-reuse: the allocator's Alloc on stream 2" + launchOn1}},
	{name: "the host has waited", run: func(p program) {
		s1, s2 := two(p)
		m := p.Malloc(kB)
		used(p, m, 0, s1)
		p.SyncStream(s1)
		used(p, m, 0, s2)
	}},
	{name: "a query has answered that it is done", run: func(p program) {
		s1, s2 := two(p)
		m, e := p.Malloc(kB), p.Event()
		used(p, m, 0, s1)
		p.Record(e, s1)
		p.PollEvent(e)
		used(p, m, 0, s2)
	}},
	{name: "an owner that touched nothing", run: func(p program) {
		s1, s2 := two(p)
		m := p.Malloc(kB)
		p.TakeBackIn(p.HandOutIn(m, 0, 256, s1), s1)
		used(p, m, 0, s2)
	}},
	{name: "the owner before the last", run: func(p program) {
		s1, s2 := two(p)
		m := p.Malloc(kB)
		used(p, m, 0, s1)
		after(p, s2, s1)
		p.TakeBackIn(p.HandOutIn(m, 0, 256, s2), s2)
		used(p, m, 0, p.Stream(nonBlocking))
	}, faults: []string{"early-reuse: the allocator's Alloc on stream 3" + launchOn1}},
	{name: "a blocking stream's block on the legacy default stream", run: func(p program) {
		s, m := p.Stream(0), p.Malloc(kB)
		for _, s := range []trace.ID{s, legacyID, s} {
			used(p, m, 0, s)
		}
	}},
	{name: "a non-blocking stream's block on the legacy default stream", run: func(p program) {
		s, m := p.Stream(nonBlocking), p.Malloc(kB)
		used(p, m, 0, s)
		p.Launch(w, p.HandOutIn(m, 0, 256, legacyID), 0, 256, legacyID)
	}, faults: []string{"early-reuse: the allocator's Alloc on the legacy default stream" + launchOn1,
		"remark legacy-stream: the launch of write on the legacy default stream"}},
	{name: "the legacy default stream's blocks hold back no other stream", run: func(p program) {
		s1, s2 := p.Stream(0), p.Stream(0)
		m := p.Malloc(kB)
		used(p, m, 0, s1)
		p.TakeBackIn(p.HandOutIn(m, 512, 256, legacyID), legacyID)
		used(p, m, 0, s2)
	}, faults: []string{"early-reuse: the allocator's Alloc on stream 2" + launchOn1}},
	{name: "handed out to the host that has not waited", run: func(p program) {
		s1, s2 := two(p)
		m := p.Malloc(kB)
		used(p, m, 0, s1)
		b := p.HandOut(m, 0, 256)
		p.SyncDevice()
		p.Launch(w, b, 0, 256, s2)
		p.SyncDevice()
		p.TakeBack(b)
	}, faults: []string{"early-reuse: the allocator's Alloc" + launchOn1}},
	{name: "used where it was not handed out", run: func(p program) {
		s1, s2 := two(p)
		p.Launch(w, p.HandOutIn(p.Malloc(kB), 0, 256, s1), 0, 256, s2)
	}, faults: []string{"use-before-alloc: the launch of write on stream 2 / the allocator's Alloc on stream 1"}},
	{name: "given back where it may still be in use", run: func(p program) {
		s1, s2 := two(p)
		b := p.HandOutIn(p.Malloc(kB), 0, 256, s1)
		p.Launch(w, b, 0, 256, s1)
		p.TakeBackIn(b, s2)
		p.SyncDevice()
	}, faults: []string{"free-before-use: the allocator's Free on stream 2" + launchOn1}},
	{name: "given back where it may not be there yet", run: func(p program) {
		s1, s2 := two(p)
		p.TakeBackIn(p.HandOutIn(p.Malloc(kB), 0, 256, s1), s2)
	}, faults: []string{"free-before-use: the allocator's Free on stream 2 / the allocator's Alloc on stream 1"}},
	{name: "the owner before's bytes", run: func(p program) {
		s, m := p.Stream(nonBlocking), p.Malloc(kB)
		used(p, m, 0, s)
		p.Launch(r, p.HandOutIn(m, 0, 256, s), 0, 256, s)
	}, faults: []string{"uninitialized-read: the launch of read on stream 1 / the allocator's Alloc on stream 1"}},
	{name: "of memory that may not exist yet", run: func(p program) {
		s1, s2 := two(p)
		used(p, p.MallocAsync(kB, s1), 0, s2)
	}, faults: []string{"use-before-alloc: the allocator's Alloc on stream 2 / MallocAsync on stream 1"}},
	{name: "memory freed under a former owner's kernel", run: func(p program) {
		s, m := p.Stream(nonBlocking), p.Malloc(kB)
		used(p, m, 0, s)
		p.Free(m)
	}, faults: []string{"remark free-while-pending: Free" + launchOn1}},
	{name: "the whole set under a former owner's kernel", run: func(p program) {
		s1, s2 := two(p)
		m := p.Malloc(kB)
		used(p, m, 256, s1)
		p.MemsetAsync(m, kB, s2)
	}, faults: []string{"data-race: MemsetAsync on stream 2" + launchOn1}},
}
