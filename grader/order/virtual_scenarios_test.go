package order

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Who only reads does not mind that the right to write is taken away. On the simulator the kernel would find it gone.
func TestTheRightToWriteIsTakenAway(t *testing.T) {
	p := newHandmade()
	reads, writes := two(p)
	v, m := mapped(p)
	p.Memset(m, page)
	p.SyncStream(legacyID)
	p.Launch(r, m, 0, kB, reads)
	p.Launch(w, m, page/2, kB, writes)
	p.SetAccess(v, 0, page, readOnly)
	p.finish()
	findings := Check(&p.t)
	require.Len(t, findings, 1)
	require.Equal(t, RevokeBeforeUse, findings[0].Rule)
	require.Contains(t, findings[0].Message, "MemSetAccess takes away the right to write the 2,097,152 bytes from "+
		"MemCreate, which the launch of write on stream 2 writes.")
}

// What a use needs is taken away from it once, in whatever steps. On the simulator the first step is the end of it.
func TestAccessIsTakenAwayOnce(t *testing.T) {
	p := newHandmade()
	s := p.Stream(nonBlocking)
	v, m := mapped(p)
	p.Launch(w, m, 0, page, s)
	p.SetAccess(v, 0, page, readOnly)
	p.SetAccess(v, 0, page, 0)
	giveBack(p, v, m)
	p.finish()
	findings := Check(&p.t)
	require.Len(t, findings, 1)
	require.Equal(t, RevokeBeforeUse, findings[0].Rule)
	require.Contains(t, findings[0].Message, "the right to write")
}

// What virtual memory management can be got wrong.
var virtualMemory = []scenario{
	{name: "mapped, used, unmapped", run: func(p program) {
		s := p.Stream(nonBlocking)
		v, m := mapped(p)
		p.Launch(w, m, 0, page, s)
		p.Launch(r, m, 0, page, s)
		p.SyncStream(s)
		giveBack(p, v, m)
	}},
	{name: "a handle released while its memory is mapped", run: func(p program) {
		s := p.Stream(nonBlocking)
		v, m := mapped(p)
		p.Release(m)
		p.Launch(w, m, 0, page, s)
		p.SyncStream(s)
		p.Unmap(v, 0, page)
		p.FreeRange(v, page)
	}},
	{name: "mapped again elsewhere, with its bytes", run: func(p program) {
		s := p.Stream(nonBlocking)
		v, m := mapped(p)
		p.Launch(w, m, 0, page, s)
		p.SyncStream(s)
		p.Unmap(v, 0, page)
		wider := p.Reserve(2 * page)
		p.Map(wider, 0, m)
		p.SetAccess(wider, 0, page, readWrite)
		p.Launch(r, m, 0, page, s)
		p.SyncStream(s)
		p.Unmap(wider, 0, page)
	}},
	{name: "several mappings: access and unmap in one call", run: func(p program) {
		s := p.Stream(nonBlocking)
		v := p.Reserve(3 * page)
		for i := range int64(3) {
			m := p.Create(page)
			p.Map(v, i*page, m)
			p.Release(m)
			p.SetAccess(v, 0, (i+1)*page, readWrite)
			p.Launch(w, m, 0, page, s)
		}
		p.SyncStream(s)
		p.Unmap(v, 0, 3*page)
		p.FreeRange(v, 3*page)
	}},
	{name: "memory mapped twice, in use where it is not unmapped", run: func(p program) {
		s := p.Stream(nonBlocking)
		v, m := mapped(p)
		alias := p.Reserve(page)
		p.Map(alias, 0, m)
		p.SetAccess(alias, 0, page, readWrite)
		p.Launch(w, m, 0, page, s)
		p.Unmap(v, 0, page)
	}},
	{name: "memory mapped twice, unmapped where it is in use", run: func(p program) {
		s := p.Stream(nonBlocking)
		v, m := mapped(p)
		p.Launch(w, m, 0, page, s)
		alias := p.Reserve(page)
		p.Map(alias, 0, m)
		p.SetAccess(alias, 0, page, readWrite)
		p.Unmap(v, 0, page)
	}, faults: []string{"free-before-use: MemUnmap / the launch of write on stream 1"}},
	{name: "memory mapped twice, in use at the other addresses", run: func(p program) {
		s := p.Stream(nonBlocking)
		v, m := mapped(p)
		p.Launch(w, m, 0, page, s)
		alias := p.Reserve(page)
		p.Map(alias, 0, m)
		p.SetAccess(alias, 0, page, readWrite)
		p.Unmap(alias, 0, page)
		p.SyncStream(s)
		p.Unmap(v, 0, page)
	}},
	{name: "access taken away under a kernel", run: func(p program) {
		s := p.Stream(nonBlocking)
		v, m := mapped(p)
		p.Launch(w, m, 0, page, s)
		p.SetAccess(v, 0, page, 0)
		p.SetAccess(v, 0, page, readWrite) // before the kernel runs, if it is in luck
	}, faults: []string{"revoke-before-use: MemSetAccess / the launch of write on stream 1"}},
	{name: "access taken away from other addresses of the memory", run: func(p program) {
		s := p.Stream(nonBlocking)
		v, m := mapped(p)
		alias := p.Reserve(page)
		p.Map(alias, 0, m)
		p.SetAccess(alias, 0, page, readWrite)
		p.Launch(w, m, 0, page, s)
		p.SetAccess(v, 0, page, 0)
	}},
	{name: "read only", run: func(p program) {
		s := p.Stream(nonBlocking)
		v, m := mapped(p)
		p.Launch(w, m, 0, page, s)
		p.SyncStream(s)
		p.SetAccess(v, 0, page, readOnly)
		p.CopyOut(m, page)
	}},
	{name: "used after the unmap", run: func(p program) {
		v, m := mapped(p)
		p.Unmap(v, 0, page)
		p.Memset(m, kB)
	}, faults: []string{"use-after-free: Memset on the legacy default stream / MemUnmap"}},
	{name: "used after unmap and release", run: func(p program) {
		s := p.Stream(nonBlocking)
		v, m := mapped(p)
		giveBack(p, v, m)
		p.MemsetAsync(m, kB, s)
	}, faults: []string{"use-after-free: MemsetAsync on stream 1 / MemUnmap"}},
	{name: "used before anything is mapped", run: func(p program) {
		p.MemsetAt(p.Reserve(page), 0, kB)
	}, faults: []string{"out-of-bounds: Memset on the legacy default stream / MemAddressReserve"}},
	{name: "used without access", run: func(p program) {
		v, m := p.Reserve(page), p.Create(page)
		p.Map(v, 0, m)
		p.Memset(m, kB)
	}, faults: []string{"out-of-bounds: Memset on the legacy default stream / MemMap"}},
	{name: "written with access to read", run: func(p program) {
		v, m := p.Reserve(page), p.Create(page)
		p.Map(v, 0, m)
		p.SetAccess(v, 0, page, readOnly)
		p.Memset(m, kB)
	}, faults: []string{"out-of-bounds: Memset on the legacy default stream / MemMap"}},
	{name: "access set before the memory is mapped again", run: func(p program) {
		v, m := mapped(p)
		p.Unmap(v, 0, page)
		p.Map(v, 0, m)
		p.Memset(m, kB)
	}, faults: []string{"out-of-bounds: Memset on the legacy default stream / MemMap"}},
	{name: "beyond what is mapped", run: func(p program) {
		_, m := mapped(p)
		p.Memset(m, page+kB)
	}, faults: []string{"out-of-bounds: Memset on the legacy default stream / MemCreate"}},
	{name: "unmapped under a kernel", run: func(p program) {
		s := p.Stream(nonBlocking)
		v, m := mapped(p)
		p.Launch(w, m, 0, page, s)
		giveBack(p, v, m)
	}, faults: []string{"free-before-use: MemUnmap / the launch of write on stream 1"}},
	{name: "fresh memory read", run: func(p program) {
		s := p.Stream(nonBlocking)
		_, m := mapped(p)
		p.Launch(r, m, 0, kB, s)
	}, faults: []string{"uninitialized-read: the launch of read on stream 1 / MemCreate"}},
	{name: "two mappings of one memory", run: func(p program) {
		s1, s2 := two(p)
		_, m := mapped(p)
		p.Launch(w, m, 0, kB, s1)
		alias := p.Reserve(page)
		p.Map(alias, 0, m)
		p.SetAccess(alias, 0, page, readWrite)
		p.Launch(r, m, 0, kB, s2)
	}, faults: []string{"data-race: the launch of read on stream 2 / the launch of write on stream 1"}},
	{name: "a race over two mappings", run: func(p program) {
		s1, s2 := two(p)
		v, a := p.Reserve(2*page), p.Create(page)
		b := p.Create(page)
		p.Map(v, 0, a)
		p.Map(v, page, b)
		p.SetAccess(v, 0, 2*page, readWrite)
		p.Launch(w, a, 0, 2*page, s1)
		p.Launch(r, a, 0, 2*page, s2)
	}, faults: []string{"data-race: the launch of read on stream 2 / the launch of write on stream 1"}},
	{name: "nothing given back", keep: true, run: func(p program) {
		mapped(p)
	}, faults: []string{"leak: MemAddressReserve", "leak: MemCreate", "leak: MemMap"}},
	{name: "never unmapped", keep: true, run: func(p program) {
		v, m := mapped(p)
		p.Release(m)
		p.FreeRange(v, page)
	}, faults: []string{"invalid-free: MemAddressFree / MemMap"}},
	{name: "never released", keep: true, run: func(p program) {
		v, _ := mapped(p)
		p.Unmap(v, 0, page)
		p.FreeRange(v, page)
	}, faults: []string{"leak: MemCreate"}},
	{name: "addresses never given back", keep: true, run: func(p program) {
		v, m := mapped(p)
		p.Unmap(v, 0, page)
		p.Release(m)
	}, faults: []string{"leak: MemAddressReserve"}},
	{name: "neither unmapped nor given back", keep: true, run: func(p program) {
		_, m := mapped(p)
		p.Release(m)
	}, faults: []string{"leak: MemAddressReserve", "leak: MemMap"}},
	{name: "a handle released twice", run: func(p program) {
		v, m := mapped(p)
		giveBack(p, v, m)
		p.Release(m)
	}, faults: []string{"double-free: MemRelease / MemRelease"}},
	{name: "unmapped twice", run: func(p program) {
		v, _ := mapped(p)
		p.Unmap(v, 0, page)
		p.Unmap(v, 0, page)
	}, faults: []string{"remark double-free: MemUnmap / MemUnmap"}},
	{name: "addresses given back twice", run: func(p program) {
		v := p.Reserve(page)
		p.FreeRange(v, page)
		p.FreeRange(v, page)
	}, faults: []string{"double-free: MemAddressFree / MemAddressFree"}},
	{name: "half of a mapping unmapped", run: func(p program) {
		v, m := p.Reserve(2*page), p.Create(2*page)
		p.Map(v, 0, m)
		p.Unmap(v, 0, page)
	}, faults: []string{"invalid-free: MemUnmap / MemMap"}},
	{name: "unmapped where nothing is mapped", run: func(p program) {
		p.Unmap(p.Reserve(page), 0, page)
	}, faults: []string{"remark invalid-free: MemUnmap"}},
	{name: "unmapped where nothing is reserved", run: func(p program) {
		v := p.Reserve(page)
		p.FreeRange(v, page)
		p.Unmap(v, 0, page)
	}, faults: []string{"invalid-free: MemUnmap"}},
	{name: "unmapped with a hole", run: func(p program) {
		v, m := p.Reserve(2*page), p.Create(page)
		p.Map(v, page, m)
		p.Unmap(v, 0, 2*page)
	}, faults: []string{"remark invalid-free: MemUnmap / MemMap"}},
	{name: "access set across a hole", run: func(p program) {
		v, a, b := p.Reserve(3*page), p.Create(page), p.Create(page)
		p.Map(v, 0, a)
		p.Map(v, 2*page, b)
		p.SetAccess(v, 0, 3*page, readWrite)
		p.Memset(a, kB)
		p.Memset(b, kB)
	}, faults: []string{"out-of-bounds: Memset on the legacy default stream / MemMap"}},
	{name: "half of the addresses given back", run: func(p program) {
		p.FreeRange(p.Reserve(2*page), page)
	}, faults: []string{"invalid-free: MemAddressFree / MemAddressReserve"}},
	{name: "no bytes unmapped", run: func(p program) {
		v, _ := mapped(p)
		p.Unmap(v, 0, 0)
		p.FreeRange(v, 0)
	}, faults: []string{"invalid-free: MemUnmap / MemMap"}},
	{name: "addresses given back, then unmapped", keep: true, run: func(p program) {
		v, m := mapped(p)
		p.FreeRange(v, page)
		p.Unmap(v, 0, page)
		p.Release(m)
	}, faults: []string{"invalid-free: MemAddressFree / MemMap"}},
}
