package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

const granule = 64 << 10

var (
	onDevice  = device.MemLocation{Type: device.MemLocationDevice}
	memProp   = device.MemProp{Type: device.MemAllocationPinned, Location: onDevice}
	readWrite = []device.MemAccessDesc{{Location: onDevice, Access: device.MemAccessReadWrite}}
)

// openGranular is open with a granularity of its own.
func openGranular(t testing.TB) *session.Session {
	d := sim.New(sim.Options{Granularity: granule})
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return session.New(d)
}

// place makes a granule of memory, maps it at p and allows its use.
func place(t testing.TB, s *session.Session, p device.Ptr) *session.MemHandle {
	t.Helper()
	h := ok[*session.MemHandle](t)(s.MemCreate(granule, memProp, 0))
	require.Equal(t, device.Success, s.MemMap(p, granule, 0, h, 0))
	require.Equal(t, device.Success, s.MemSetAccess(p, granule, readWrite))
	return h
}

// accesses traces a Memset of one byte at each address and answers what they touched.
func accesses(s *session.Session, at ...device.Ptr) (list []trace.Access) {
	for _, p := range at {
		s.Memset(p, 1, 1)
	}
	for _, r := range s.StopTrace().Records {
		list = append(list, r.Accesses...)
	}
	return list
}

func written(alloc trace.ID, offset, size int64, freed bool) trace.Access {
	return trace.Access{Alloc: alloc, Offset: offset, Size: size, Kind: trace.Write, Freed: freed}
}

// at is an access that goes through a mapping.
func at(p device.Ptr, a trace.Access) trace.Access {
	a.Addr = uint64(p)
	return a
}

func TestTheGranularityIsTheDevices(t *testing.T) {
	s := openGranular(t)
	for _, option := range []device.MemGranularity{device.MemGranularityMinimum, device.MemGranularityRecommended} {
		require.Equal(t, int64(granule), ok[int64](t)(s.MemGetAllocationGranularity(memProp, option)))
	}
}

func TestAnAddressBelongsToTheMemoryBehindIt(t *testing.T) {
	s := openGranular(t)
	s.StartTrace()
	p := ok[device.Ptr](t)(s.MemAddressReserve(4*granule, 0, 0, 0))
	first := place(t, s, p)
	place(t, s, p+granule)
	require.Equal(t, device.Success, s.MemMap(p+3*granule, granule, 0, first, 0))
	require.Equal(t, device.Success, s.MemRelease(first))
	require.Equal(t, []trace.Access{
		at(p+5, written(1, 5, 1, false)), at(p+granule, written(2, 0, 1, false)), {Offset: int64(p + 2*granule), Size: 1,
			Kind: trace.Write},
		at(p+4*granule-1, written(1, granule-1, 1, false)),
	}, accesses(s, p+5, p+granule, p+2*granule, p+4*granule-1))
	require.NoError(t, s.Sweep())
}

func TestUnmappedMemoryIsFreedAndKeepsItsIdentity(t *testing.T) {
	s := openGranular(t)
	s.StartTrace()
	p := ok[device.Ptr](t)(s.MemAddressReserve(2*granule, 0, 0, 0))
	first := place(t, s, p)
	place(t, s, p+granule)
	require.Equal(t, device.ErrorInvalidValue, s.MemUnmap(p, granule/2))
	require.Equal(t, device.Success, s.Memset(p, 1, 1))
	require.Equal(t, device.Success, s.DeviceSynchronize())
	require.Equal(t, device.Success, s.MemUnmap(p, 2*granule))
	s.Memset(p+8, 1, 1)
	s.Memset(p+granule, 1, 1)
	place(t, s, p)
	require.Equal(t, device.Success, s.MemMap(p+granule, granule, 0, first, 0))
	require.Equal(t, []trace.Access{
		at(p, written(1, 0, 1, false)), at(p+8, written(1, 8, 1, true)), at(p+granule, written(2, 0, 1, true)),
		at(p, written(3, 0, 1, false)), at(p+granule, written(1, 0, 1, false)),
	}, accesses(s, p, p+granule))
	require.NoError(t, s.Sweep())
}

func TestAnAccessIsSplitWhereMappingsMeet(t *testing.T) {
	s := openGranular(t)
	s.StartTrace()
	p := ok[device.Ptr](t)(s.MemAddressReserve(4*granule, 0, 0, 0))
	for i := range device.Ptr(3) {
		place(t, s, p+i*granule)
	}
	require.Equal(t, device.Success, s.Memset(p+granule-8, 1, granule+16))
	require.Equal(t, device.ErrorInvalidValue, s.Memset(p+3*granule-8, 1, 16))
	require.Equal(t, device.Success, s.DeviceSynchronize()) // unmapping waits for nothing
	require.Equal(t, device.Success, s.MemUnmap(p+granule, granule))
	require.Equal(t, device.ErrorInvalidValue, s.Memset(p+granule-8, 1, granule+16))
	require.Equal(t, []trace.Access{
		at(p+granule-8, written(1, granule-8, 8, false)), at(p+granule, written(2, 0, granule, false)),
		at(p+2*granule, written(3, 0, 8, false)),
		at(p+3*granule-8, written(3, granule-8, 16, false)), // what lies beyond the end counts as the last mapping's
		at(p+granule-8, written(1, granule-8, 8, false)), at(p+granule, written(2, 0, granule, true)),
		at(p+2*granule, written(3, 0, 8, false)),
	}, accesses(s))
	require.NoError(t, s.Sweep())
}

func TestPhysicalMemoryCountsUntilItIsReleasedAndUnmapped(t *testing.T) {
	for _, unmapFirst := range []bool{true, false} {
		s := openGranular(t)
		s.SetQuota(2 * granule)
		s.StartTrace()
		p := ok[device.Ptr](t)(s.MemAddressReserve(4*granule, 0, 0, 0))
		h := place(t, s, p)
		require.Equal(t, device.Success, s.MemMap(p+granule, granule, 0, h, 0))
		full := func() bool {
			free, _, _ := s.MemGetInfo()
			return free < 2*granule
		}
		_, code := s.MemCreate(2*granule, memProp, 0)
		require.Equal(t, device.ErrorOutOfMemory, code)
		require.True(t, full())
		steps := []func() device.Code{
			func() device.Code { return s.MemUnmap(p, 2*granule) },
			func() device.Code { return s.MemRelease(h) },
		}
		if !unmapFirst {
			steps[0], steps[1] = steps[1], steps[0]
		}
		require.Equal(t, device.Success, steps[0]())
		require.True(t, full())
		require.Equal(t, device.Success, steps[1]())
		require.False(t, full())
		ok[*session.MemHandle](t)(s.MemCreate(2*granule, memProp, 0))
		for _, r := range s.StopTrace().Records {
			require.Equal(t, r.Code == int32(device.ErrorOutOfMemory), r.Faked)
		}
		require.NoError(t, s.Sweep())
	}
}

func TestSweepTakesVirtualMemoryApart(t *testing.T) {
	s := openGranular(t)
	free, _, _ := s.MemGetInfo()
	s.StartTrace()
	p := ok[device.Ptr](t)(s.MemAddressReserve(8*granule, 0, 0, 0))
	place(t, s, p)
	require.Equal(t, device.Success, s.MemRelease(place(t, s, p+granule)))
	left := ok[*session.MemHandle](t)(s.MemCreate(granule, memProp, 0))
	gone := ok[device.Ptr](t)(s.MemAddressReserve(granule, 0, 0, 0))
	require.Equal(t, device.Success, s.MemAddressFree(gone, granule))
	s.StopTrace()
	place(t, s, p+2*granule) // behind the trace, but in its addresses
	after := ok[*session.MemHandle](t)(s.MemCreate(granule, memProp, 0))
	require.NoError(t, s.Sweep())

	require.True(t, left.Released())
	require.Equal(t, device.ErrorInvalidValue, s.MemMap(p, granule, 0, left, 0))
	require.Equal(t, device.ErrorInvalidValue, s.MemAddressFree(p, 8*granule), "the addresses were given back")
	require.Equal(t, device.Success, s.MemRelease(after), "what was made behind the trace is not swept")
	now, _, _ := s.MemGetInfo()
	require.Equal(t, free-granule, now, "but the memory that was mapped behind it lives by its handle")
	require.NoError(t, s.Sweep())
}

func TestVirtualMemoryMadeBeforeTheTrace(t *testing.T) {
	s := openGranular(t)
	p := ok[device.Ptr](t)(s.MemAddressReserve(granule, 0, 0, 0))
	h := ok[*session.MemHandle](t)(s.MemCreate(granule, memProp, 0))
	s.StartTrace()
	require.Equal(t, device.Success, s.MemMap(p, granule, 0, h, 0))
	require.Equal(t, device.Success, s.MemSetAccess(p, granule, readWrite))
	s.Memset(p, 1, 1)
	tr := s.StopTrace()
	require.Equal(t, []trace.Op{trace.OpMemCreate, trace.OpMemMap, trace.OpMemSetAccess, trace.OpMemset}, ops(tr))
	require.Zero(t, tr.Records[0].Site)
	require.Equal(t, int64(granule), tr.Records[0].Size)
	require.Equal(t, trace.ID(1), tr.Records[1].Alloc)
	require.Equal(t, []trace.Access{at(p, written(1, 0, 1, false))}, tr.Records[3].Accesses)

	require.NoError(t, s.Sweep(), "the mapping goes; the memory and the addresses were there before")
	require.Equal(t, device.ErrorInvalidValue, s.Memset(p, 1, 1))
	require.Equal(t, device.Success, s.MemRelease(h))
	require.Equal(t, device.Success, s.MemAddressFree(p, granule))
}

func TestAHandleIsUsedOnceReleasedNoMore(t *testing.T) {
	a, b := openGranular(t), openGranular(t)
	p := ok[device.Ptr](t)(a.MemAddressReserve(granule, 0, 0, 0))
	h := ok[*session.MemHandle](t)(a.MemCreate(granule, memProp, 0))
	require.Equal(t, device.ErrorInvalidValue, b.MemRelease(h), "another session's")
	require.False(t, h.Released())
	require.Equal(t, device.Success, a.MemRelease(h))
	for _, traced := range []bool{false, true} {
		if traced {
			a.StartTrace()
		}
		require.Equal(t, device.ErrorInvalidValue, a.MemMap(p, granule, 0, h, 0))
		require.Equal(t, device.ErrorInvalidValue, a.MemRelease(h))
	}
	records := a.StopTrace().Records
	require.Len(t, records, 3)
	require.True(t, records[1].Stale)
	require.True(t, records[2].Stale)
	require.Equal(t, trace.ID(1), records[2].Alloc)
}

func TestVirtualMemoryCallsKnowFaults(t *testing.T) {
	s := openGranular(t)
	s.StartTrace()
	p := ok[device.Ptr](t)(s.MemAddressReserve(2*granule, 0, 0, 0))
	h := place(t, s, p)
	for op, call := range map[trace.Op]func() device.Code{
		trace.OpMemGetAllocationGranularity: func() device.Code {
			_, code := s.MemGetAllocationGranularity(memProp,
				0)
			return code
		},
		trace.OpMemAddressReserve: func() device.Code { _, code := s.MemAddressReserve(granule, 0, 0, 0); return code },
		trace.OpMemCreate:         func() device.Code { _, code := s.MemCreate(granule, memProp, 0); return code },
		trace.OpMemMap:            func() device.Code { return s.MemMap(p+granule, granule, 0, h, 0) },
		trace.OpMemSetAccess:      func() device.Code { return s.MemSetAccess(p, granule, readWrite) },
	} {
		s.Fail(op, 1, device.ErrorUnknown)
		require.Equal(t, device.ErrorUnknown, call(), op)
		require.Equal(t, device.Success, call(), op)
	}
	for op, call := range map[trace.Op]func() device.Code{
		trace.OpMemUnmap:       func() device.Code { return s.MemUnmap(p, 2*granule) },
		trace.OpMemRelease:     func() device.Code { return s.MemRelease(h) },
		trace.OpMemAddressFree: func() device.Code { return s.MemAddressFree(p, 2*granule) },
	} {
		s.Fail(op, 1, device.ErrorUnknown)
		require.Equal(t, device.ErrorUnknown, call(), op)
		require.Equal(t, device.Success, s.Memset(p, 1, 1), "the fault changed nothing")
	}
	for _, r := range s.StopTrace().Records {
		require.True(t, r.Phase == trace.Enter || r.Faked == (r.Code == int32(device.ErrorUnknown)), r.Op)
		for _, a := range r.Accesses {
			require.False(t, a.Freed)
		}
	}
	require.NoError(t, s.Sweep())
}

func TestUnmappingIsEnteredAndLeft(t *testing.T) {
	s := openGranular(t)
	s.StartTrace()
	p := ok[device.Ptr](t)(s.MemAddressReserve(granule, 0, 0, 0))
	place(t, s, p)
	require.Equal(t, device.Success, s.MemUnmap(p, granule))
	records := s.StopTrace().Records
	enter, leave := records[len(records)-2], records[len(records)-1]
	require.Equal(t, trace.Enter, enter.Phase)
	require.Equal(t, trace.Leave, leave.Phase)
	require.Equal(t, uint64(p), leave.Addr)
	require.Equal(t, int64(granule), leave.Size)
	require.NoError(t, s.Sweep())
}
