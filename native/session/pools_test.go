package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
	"cudalab/native/session"
	"cudalab/native/trace"
)

func TestAPoolIsOneValueWhoeverAnswersIt(t *testing.T) {
	s := open(t)
	current := ok[*session.MemPool](t)(s.DeviceGetMemPool(0))
	standard := ok[*session.MemPool](t)(s.DeviceGetDefaultMemPool(0))
	require.Same(t, standard, current)
	pool := ok[*session.MemPool](t)(s.MemPoolCreate(0))
	require.NotSame(t, standard, pool)
	require.Equal(t, device.Success, s.DeviceSetMemPool(0, pool))
	require.Same(t, pool, ok[*session.MemPool](t)(s.DeviceGetMemPool(0)))
	require.Same(t, standard, ok[*session.MemPool](t)(s.DeviceGetDefaultMemPool(0)))
	require.Equal(t, device.Success, s.MemPoolDestroy(pool))
	require.Same(t, standard, ok[*session.MemPool](t)(s.DeviceGetMemPool(0)))
}

func TestAllocationsNameTheirPool(t *testing.T) {
	s := open(t)
	s.StartTrace()
	ok[device.Ptr](t)(s.MallocAsync(64, nil))
	pool := ok[*session.MemPool](t)(s.MemPoolCreate(0))
	ok[device.Ptr](t)(s.MallocFromPoolAsync(64, pool, nil))
	require.Equal(t, device.Success, s.DeviceSetMemPool(0, pool))
	ok[device.Ptr](t)(s.MallocAsync(64, nil))
	ok[*session.MemPool](t)(s.DeviceGetMemPool(0))
	require.Equal(t, device.Success, s.MemPoolDestroy(pool))
	ok[device.Ptr](t)(s.MallocAsync(64, nil))
	var pools []trace.ID
	for _, r := range s.StopTrace().Records {
		pools = append(pools, r.Pool)
	}
	require.Equal(t, []trace.ID{0, 1, 1, 1, 1, 1, 1, 0}, pools)
	require.NoError(t, s.Sweep())
}

func TestAPoolMadeBeforeTheTraceAppearsAtItsFirstUse(t *testing.T) {
	s := open(t)
	before := ok[*session.MemPool](t)(s.MemPoolCreate(0))
	require.Equal(t, device.Success, s.DeviceSetMemPool(0, before))
	s.StartTrace()
	ok[device.Ptr](t)(s.MallocAsync(64, nil))
	ok[device.Ptr](t)(s.MallocAsync(64, nil))
	tr := s.StopTrace()
	require.Equal(t, []trace.Op{trace.OpMemPoolCreate, trace.OpMallocAsync, trace.OpMallocAsync}, ops(tr))
	for i, r := range tr.Records {
		require.Equal(t, trace.ID(1), r.Pool)
		require.Equal(t, i == 0, r.Site == 0)
	}
	require.NoError(t, s.Sweep())
	require.NotSame(t, before, ok[*session.MemPool](t)(s.DeviceGetMemPool(0)), "the default pool is current again")
	require.Equal(t, device.Success, s.MemPoolDestroy(before), "what was made before the trace is not swept")
}

func TestSweepDestroysPoolsAndTheirMemory(t *testing.T) {
	s := open(t)
	free, _, _ := s.MemGetInfo()
	s.StartTrace()
	destroyed := ok[*session.MemPool](t)(s.MemPoolCreate(0))
	ok[device.Ptr](t)(s.MallocFromPoolAsync(1<<20, destroyed, nil))
	require.Equal(t, device.Success, s.MemPoolDestroy(destroyed))
	left := ok[*session.MemPool](t)(s.MemPoolCreate(0))
	ok[device.Ptr](t)(s.MallocFromPoolAsync(1<<20, left, nil))
	require.Equal(t, device.Success, s.DeviceSetMemPool(0, left))
	s.StopTrace()
	require.NoError(t, s.Sweep())
	require.True(t, left.Destroyed())
	require.Equal(t, device.ErrorInvalidValue, s.MemPoolTrimTo(left, 0))
	after, _, _ := s.MemGetInfo()
	require.Equal(t, free, after)
}

func TestPoolCallsKnowQuotaAndFaults(t *testing.T) {
	s := open(t)
	s.StartTrace()
	pool := ok[*session.MemPool](t)(s.MemPoolCreate(0))
	s.SetQuota(1000)
	ok[device.Ptr](t)(s.MallocFromPoolAsync(600, pool, nil))
	_, code := s.MallocFromPoolAsync(600, pool, nil)
	require.Equal(t, device.ErrorOutOfMemory, code)
	s.Fail(trace.OpMemPoolDestroy, 1, device.ErrorInvalidValue)
	require.Equal(t, device.ErrorInvalidValue, s.MemPoolDestroy(pool))
	require.Equal(t, device.Success, s.MemPoolDestroy(pool), "the fault left the pool alive")
	records := s.StopTrace().Records
	require.True(t, records[2].Faked)
	require.True(t, records[3].Faked)
	require.NoError(t, s.Sweep())
}
