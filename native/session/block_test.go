package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
	"cudalab/native/trace"
)

func TestABlockHidesTheAllocationAroundIt(t *testing.T) {
	s := open(t)
	s.StartTrace()
	p := ok[device.Ptr](t)(s.Malloc(4096))
	s.BlockAlloc(p+1024, 512)
	require.Equal(t, []trace.Access{
		written(1, 1023, 1, false), written(2, 0, 1, false), written(2, 511, 1, false), written(1, 1536, 1, false),
	}, accesses(s, p+1023, p+1024, p+1535, p+1536))
	require.NoError(t, s.Sweep())
}

func TestBlocksAreRecorded(t *testing.T) {
	s := open(t)
	s.StartTrace()
	p := ok[device.Ptr](t)(s.Malloc(4096))
	s.BlockAlloc(p+256, 100)
	s.BlockFree(p + 256)
	s.BlockFree(p + 256)
	s.BlockAlloc(0x1234500, 256)
	tr := s.StopTrace()
	for i := range tr.Records {
		r := &tr.Records[i]
		require.Equal(t, "cudalab/native/session_test.TestBlocksAreRecorded", tr.SiteOf(r)[0].Func)
		r.Site, r.Time, r.Took = 0, 0, 0
	}
	require.Equal(t, []trace.Record{
		{Op: trace.OpBlockAlloc, Addr: uint64(p) + 256, Size: 100, Alloc: 2, Value: 1},
		{Op: trace.OpBlockFree, Addr: uint64(p) + 256, Alloc: 2},
		{Op: trace.OpBlockFree, Addr: uint64(p) + 256, Alloc: 2, Freed: true},
		{Op: trace.OpBlockAlloc, Addr: 0x1234500, Size: 256, Alloc: 3},
	}, tr.Records[1:])
	require.NoError(t, s.Sweep())

	s.BlockAlloc(p, 1)
	s.BlockFree(p)
	require.Empty(t, s.StopTrace().Records, "nothing is noted with tracing off")
}

func TestAFreedBlockIsKnownUntilItsMemoryIsAnothers(t *testing.T) {
	s := open(t)
	s.StartTrace()
	p := ok[device.Ptr](t)(s.Malloc(4096))
	s.BlockAlloc(p, 256)
	s.BlockAlloc(p+256, 256)
	s.BlockFree(p)
	s.Memset(p+8, 1, 1)
	s.BlockAlloc(p, 1024) // over the second, as a faulty allocator may
	s.BlockFree(p + 256)  // names the block around it, and frees none
	s.Memset(p+256, 1, 1)
	require.Equal(t, device.Success, s.Free(p))
	s.Memset(p, 1, 1)
	q := ok[device.Ptr](t)(s.Malloc(4096))
	require.Equal(t, p, q)
	require.Equal(t, []trace.Access{
		written(2, 8, 1, true), written(4, 256, 1, false), written(1, 0, 1, true), written(5, 0, 1, false),
	}, accesses(s, q))
	require.NoError(t, s.Sweep())
}

// An allocator that clears or moves all of its memory may begin in a block that was taken back.
func TestWhatGoesBeyondAFreedBlockIsTheAllocators(t *testing.T) {
	s := openGranular(t)
	s.StartTrace()
	p := ok[device.Ptr](t)(s.MemAddressReserve(2*granule, 0, 0, 0))
	place(t, s, p)
	place(t, s, p+granule)
	s.BlockAlloc(p, 512)
	s.BlockFree(p)
	require.Equal(t, device.Success, s.Memset(p+256, 1, 256))
	require.Equal(t, device.Success, s.Memset(p, 1, 2*granule))
	require.Equal(t, []trace.Access{
		written(3, 256, 256, true), at(p, written(1, 0, granule, false)), at(p+granule, written(2, 0, granule, false)),
	}, accesses(s))
	require.NoError(t, s.Sweep())
}

func TestWhatOverlappingBlocksDoNotShareStaysTheirs(t *testing.T) {
	s := open(t)
	s.StartTrace()
	p := ok[device.Ptr](t)(s.Malloc(4096))
	s.BlockAlloc(p, 512)
	s.BlockAlloc(p+256, 512)
	s.BlockFree(p)
	require.Equal(t, []trace.Access{written(2, 0, 1, true), written(3, 0, 1, false), written(3, 511, 1, false)},
		accesses(s, p, p+256, p+767))
	require.NoError(t, s.Sweep())
}

func TestABlockMayLieAcrossMappings(t *testing.T) {
	s := openGranular(t)
	s.StartTrace()
	p := ok[device.Ptr](t)(s.MemAddressReserve(2*granule, 0, 0, 0))
	place(t, s, p)
	place(t, s, p+granule)
	s.BlockAlloc(p+granule-256, 512)
	require.Equal(t, device.Success, s.Memset(p+granule-256, 1, 512))
	require.Equal(t, device.Success, s.DeviceSynchronize())
	require.Equal(t, device.Success, s.MemUnmap(p, 2*granule))
	require.Equal(t, []trace.Access{
		written(3, 0, 512, false), at(p+granule-256, written(1, granule-256, 1, true)), at(p+granule, written(2, 0, 1, true)),
	}, accesses(s, p+granule-256, p+granule))
	require.NoError(t, s.Sweep())
}

// BenchmarkBlocks is what it costs to note that a block is handed out, used and taken back, among a hundred thousand.
func BenchmarkBlocks(b *testing.B) {
	const blocks = 100_000
	s := open(b)
	fill := func() (p device.Ptr) {
		s.StartTrace()
		p = ok[device.Ptr](b)(s.Malloc(blocks * 256))
		for i := range device.Ptr(blocks) {
			s.BlockAlloc(p+i*256, 256)
		}
		return p
	}
	p := fill()
	for i := 0; b.Loop(); i++ {
		if i%blocks == 0 && i > 0 {
			b.StopTimer()
			require.NoError(b, s.Sweep())
			p = fill()
			b.StartTimer()
		}
		at := p + device.Ptr(i*7919%blocks)*256
		s.BlockFree(at)
		s.BlockAlloc(at, 256)
		s.Memset(at, 1, 256)
	}
	b.StopTimer()
	s.StopTrace()
	require.NoError(b, s.Sweep())
}
