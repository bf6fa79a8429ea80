package session_test

import (
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

func open(t testing.TB) *session.Session {
	d := sim.New(sim.Options{})
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return session.New(d)
}

// ok takes a call's result and fails the test if its code is not Success.
func ok[T any](t testing.TB) func(T, device.Code) T {
	return func(v T, code device.Code) T {
		t.Helper()
		require.Equal(t, device.Success, code)
		return v
	}
}

func ops(tr *trace.Trace) []trace.Op {
	var list []trace.Op
	for _, r := range tr.Records {
		list = append(list, r.Op)
	}
	return list
}

func TestNothingIsRecordedWithTracingOff(t *testing.T) {
	s := open(t)
	p := ok[device.Ptr](t)(s.Malloc(64))
	require.Empty(t, s.StopTrace().Records)
	require.Equal(t, device.Success, s.Free(p))
	s.StartTrace()
	s.StopTrace()
	require.Equal(t, device.Success, s.DeviceSynchronize())
	require.Empty(t, s.StopTrace().Records)
}

func TestIdentitiesCountFromOneInEachTrace(t *testing.T) {
	s := open(t)
	for range 2 {
		s.StartTrace()
		ok[*session.Stream](t)(s.StreamCreate(0))
		ok[*session.Event](t)(s.EventCreate(0))
		ok[device.Ptr](t)(s.Malloc(64))
		ok[*session.HostBuffer](t)(s.MallocHost(64))
		tr := s.StopTrace()
		require.Equal(t, trace.ID(1), tr.Records[0].Stream)
		require.Equal(t, trace.ID(1), tr.Records[1].Event)
		require.Equal(t, trace.ID(1), tr.Records[2].Alloc)
		require.Equal(t, trace.Enter, tr.Records[3].Phase)
		require.Equal(t, trace.ID(2), tr.Records[4].Alloc)
		require.NoError(t, s.Sweep())
	}
}

func TestThingsMadeBeforeTheTraceAppearAtTheirFirstUse(t *testing.T) {
	s := open(t)
	stream := ok[*session.Stream](t)(s.StreamCreate(device.StreamNonBlocking))
	event := ok[*session.Event](t)(s.EventCreate(device.EventDisableTiming))
	buffer := ok[*session.HostBuffer](t)(s.MallocHost(16))

	s.StartTrace()
	for range 2 {
		require.Equal(t, device.Success, s.EventRecord(event, stream))
	}
	require.Equal(t, device.Success, s.HostWrite(buffer, 0, []byte{1}))
	tr := s.StopTrace()

	require.Equal(t, []trace.Op{trace.OpStreamCreate, trace.OpEventCreate, trace.OpEventRecord, trace.OpEventRecord,
		trace.OpMallocHost, trace.OpHostWrite}, ops(tr))
	require.Equal(t, device.StreamNonBlocking, tr.Records[0].Flags)
	require.Equal(t, device.EventDisableTiming, tr.Records[1].Flags)
	require.Equal(t, int64(16), tr.Records[4].Size)
	for i, r := range tr.Records {
		made := r.Op == trace.OpStreamCreate || r.Op == trace.OpEventCreate || r.Op == trace.OpMallocHost
		require.Equal(t, made, r.Site == 0, "record %d", i)
	}
	require.Equal(t, trace.ID(1), tr.Records[3].Stream)
	require.Equal(t, trace.ID(1), tr.Records[3].Event)
	require.Equal(t, []trace.Access{{Alloc: 1, Size: 1, Kind: trace.Write}}, tr.Records[5].Accesses)

	require.NoError(t, s.Sweep(), "what was made before the trace is not swept")
	require.Equal(t, device.Success, s.EventDestroy(event))
	require.Equal(t, device.Success, s.StreamDestroy(stream))
	require.Equal(t, device.Success, s.FreeHost(buffer))
}

func TestAStreamOfAnotherSessionIsRefused(t *testing.T) {
	a, b := open(t), open(t)
	stream := ok[*session.Stream](t)(a.StreamCreate(0))
	b.StartTrace()
	require.Equal(t, device.ErrorInvalidHandle, b.StreamSynchronize(stream))
	require.True(t, b.StopTrace().Records[0].Stale)
}

func TestACallThatWaitsIsEnteredAndLeft(t *testing.T) {
	s := open(t)
	s.StartTrace()
	p := ok[device.Ptr](t)(s.Malloc(64))
	require.Equal(t, device.Success, s.MemcpyHtoD(p, session.Host{Slice: make([]byte, 64)}, 64))
	require.Equal(t, device.ErrorInvalidValue, s.Free(p+1))
	tr := s.StopTrace()

	require.Len(t, tr.Records, 5)
	enter, leave := tr.Records[1], tr.Records[2]
	require.Equal(t, trace.Enter, enter.Phase)
	require.Zero(t, enter.Took)
	require.Equal(t, trace.Leave, leave.Phase)
	require.Equal(t, int32(1), leave.Pair)
	require.Equal(t, enter.Time, leave.Time)
	require.Positive(t, leave.Took)
	require.Equal(t, []trace.Access{{Alloc: 1, Size: 64, Kind: trace.Write}}, leave.Accesses)
	require.Equal(t, enter.Accesses, leave.Accesses)
	require.Equal(t, enter.Site, leave.Site)

	require.Zero(t, tr.Records[3].Code, "an Enter has no answer yet")
	require.Equal(t, int32(device.ErrorInvalidValue), tr.Records[4].Code)
	require.Equal(t, trace.ID(1), tr.Records[4].Alloc, "the address lies in allocation 1")
	require.False(t, tr.Records[4].Freed)
	require.Equal(t, uint64(p)+1, tr.Records[4].Addr)
}

func TestAFaultAnswersInPlaceOfTheDevice(t *testing.T) {
	s := open(t)
	s.StartTrace()
	s.Fail(trace.OpMallocAsync, 2, device.ErrorOutOfMemory)
	s.Fail(trace.OpStreamSynchronize, 1, device.ErrorLaunchFailed)
	ok[device.Ptr](t)(s.MallocAsync(64, nil))
	p, code := s.MallocAsync(64, nil)
	require.Equal(t, device.ErrorOutOfMemory, code)
	require.Zero(t, p)
	ok[device.Ptr](t)(s.MallocAsync(64, nil))
	require.Equal(t, device.ErrorLaunchFailed, s.StreamSynchronize(nil))
	require.Equal(t, device.Success, s.StreamSynchronize(nil))
	tr := s.StopTrace()
	var faked []bool
	for _, r := range tr.Records {
		faked = append(faked, r.Faked)
	}
	require.Equal(t, []bool{false, true, false, true, true, false, false}, faked)
	require.Equal(t, int32(device.ErrorOutOfMemory), tr.Records[1].Code)
	require.Equal(t, int32(device.ErrorLaunchFailed), tr.Records[4].Code)
	require.NoError(t, s.Sweep())

	s.Fail(trace.OpEventCreate, 1, device.ErrorOutOfMemory)
	_, code = s.EventCreate(0)
	require.Equal(t, device.ErrorOutOfMemory, code, "faults do not need a trace")
	s.Fail(trace.OpEventCreate, 1, device.ErrorOutOfMemory)
	s.ClearFaults()
	e := ok[*session.Event](t)(s.EventCreate(0))
	require.Equal(t, device.Success, s.EventDestroy(e))
}

func TestAFaultedFreeLeavesTheMemoryAllocated(t *testing.T) {
	s := open(t)
	s.StartTrace()
	p := ok[device.Ptr](t)(s.Malloc(64))
	s.Fail(trace.OpFree, 1, device.ErrorUnknown)
	require.Equal(t, device.ErrorUnknown, s.Free(p))
	require.Equal(t, device.Success, s.Memset(p, 0, 64))
	require.Equal(t, device.Success, s.Free(p))
	tr := s.StopTrace()
	require.False(t, tr.Records[3].Accesses[0].Freed)
	require.Equal(t, trace.ID(1), tr.Records[5].Alloc)
}

func TestTheQuotaCountsWhatIsLive(t *testing.T) {
	s := open(t)
	s.SetQuota(1000)
	_, code := s.MallocAsync(2000, nil)
	require.Equal(t, device.Success, code, "untraced memory is the grader's")

	s.StartTrace()
	p := ok[device.Ptr](t)(s.MallocAsync(600, nil))
	_, code = s.Malloc(500)
	require.Equal(t, device.ErrorOutOfMemory, code)
	h := ok[*session.HostBuffer](t)(s.MallocHost(400))
	_, code = s.MallocHost(1)
	require.Equal(t, device.ErrorOutOfMemory, code)
	free, _, _ := s.MemGetInfo()
	require.Zero(t, free)
	require.Equal(t, device.Success, s.FreeHost(h))
	require.Equal(t, device.Success, s.FreeAsync(p, nil))
	free, _, _ = s.MemGetInfo()
	require.Equal(t, uint64(1000), free)
	ok[device.Ptr](t)(s.Malloc(1000))
	tr := s.StopTrace()
	require.True(t, tr.Records[1].Faked)
	require.Equal(t, session.Excess{Asked: 500, Held: 600, Quota: 1000, Record: 1}, s.SetQuota(0), "the first")
	require.NoError(t, s.Sweep())
}

func TestWhatIsTooLargeByItselfIsNoExcess(t *testing.T) {
	s := open(t)
	s.StartTrace()
	require.Zero(t, s.SetQuota(1000))
	ok[device.Ptr](t)(s.Malloc(600))
	_, code := s.Malloc(1001)
	require.Equal(t, device.ErrorOutOfMemory, code)
	require.Zero(t, s.SetQuota(1000))
	_, code = s.Malloc(1000)
	require.Equal(t, device.ErrorOutOfMemory, code)
	require.Equal(t, session.Excess{Asked: 1000, Held: 600, Quota: 1000, Record: 2}, s.SetQuota(0))
	s.StopTrace()
	require.NoError(t, s.Sweep())
}

func TestTheLimitPanicsBeforeTheDeviceIsReached(t *testing.T) {
	s := open(t)
	s.StartTrace()
	s.Limit(3)
	e := ok[*session.Event](t)(s.EventCreate(0))
	require.Equal(t, device.Success, s.EventRecord(e, nil))
	require.Equal(t, device.Success, s.EventRecord(e, nil))
	s.Mark("a mark never panics")
	require.PanicsWithError(t, "the program made more than 3 CUDA calls, far more than its task needs: "+
		"look for a loop that never ends", func() { s.EventDestroy(e) })
	require.Panics(t, func() { s.DeviceSynchronize() })
	require.Len(t, s.StopTrace().Records, 4)
	require.Equal(t, device.Success, s.EventDestroy(e), "the panic let go of the lock, and the event is alive")
}

func TestSweepRemovesWhatTheTraceLeft(t *testing.T) {
	s := open(t)
	before, _, _ := s.MemGetInfo()
	s.StartTrace()
	stream := ok[*session.Stream](t)(s.StreamCreate(0))
	event := ok[*session.Event](t)(s.EventCreate(0))
	buffer := ok[*session.HostBuffer](t)(s.MallocHost(1 << 20))
	ok[device.Ptr](t)(s.Malloc(1 << 30))
	ok[device.Ptr](t)(s.MallocAsync(1<<30, stream))
	kept := ok[device.Ptr](t)(s.Malloc(1 << 20))
	s.StopTrace()

	require.Equal(t, device.Success, s.Free(kept), "freed by the grader after the trace")
	reused := ok[device.Ptr](t)(s.Malloc(1 << 20))
	require.NoError(t, s.Sweep())
	require.Equal(t, device.ErrorInvalidHandle, s.StreamSynchronize(stream))
	require.Equal(t, device.ErrorInvalidHandle, s.EventQuery(event))
	require.Equal(t, device.ErrorInvalidValue, s.FreeHost(buffer))
	require.Equal(t, device.Success, s.Free(reused), "memory made after the trace is not swept")
	require.NoError(t, s.Sweep())
	after, _, _ := s.MemGetInfo()
	require.Equal(t, before, after)
}

func TestRestoreBringsBackTheDefaultPoolsAttributes(t *testing.T) {
	s := open(t)
	pool := ok[device.Pool](t)(s.Device().DeviceGetDefaultMemPool())
	s.Device().MemPoolSetAttribute(pool, device.PoolReleaseThreshold, 1<<30)
	s.Device().MemPoolSetAttribute(pool, device.PoolReuseAllowOpportunistic, 0)
	s.Restore()
	require.Zero(t, ok[uint64](t)(s.Device().MemPoolGetAttribute(pool, device.PoolReleaseThreshold)))
	require.Equal(t, uint64(1), ok[uint64](t)(s.Device().MemPoolGetAttribute(pool, device.PoolReuseAllowOpportunistic)))
}

func TestLastErrorIsForgottenOnceRead(t *testing.T) {
	s := open(t)
	require.Equal(t, device.Success, s.LastError())
	require.Equal(t, device.ErrorInvalidValue, s.Free(12345))
	require.Equal(t, device.Success, s.DeviceSynchronize())
	require.Equal(t, device.ErrorInvalidValue, s.LastError())
	require.Equal(t, device.Success, s.LastError())
	s.Fail(trace.OpDeviceSynchronize, 1, device.ErrorIllegalAddress)
	s.DeviceSynchronize()
	require.Equal(t, device.ErrorIllegalAddress, s.LastError())
	require.Equal(t, device.ErrorIllegalAddress, s.LastError(), "a lost context stays lost")
}

func TestMarksAreRecorded(t *testing.T) {
	s := open(t)
	s.Mark("before")
	s.StartTrace()
	s.Mark("within")
	s.MarkHere("here")
	tr := s.StopTrace()
	require.Len(t, tr.Records, 2)
	require.Equal(t, "within", tr.Records[0].Label)
	require.Empty(t, tr.SiteOf(&tr.Records[0]), "it is nobody's line")
	require.Equal(t, "here", tr.Records[1].Label)
	require.Equal(t, "cudalab/native/session_test.TestMarksAreRecorded", tr.SiteOf(&tr.Records[1])[0].Func)
}

func TestCallsFromManyGoroutinesAreRecordedWhole(t *testing.T) {
	s := open(t)
	s.StartTrace()
	const workers, rounds = 8, 200
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			stream, _ := s.StreamCreate(device.StreamNonBlocking)
			for range rounds {
				p, _ := s.MallocAsync(4096, stream)
				s.MemsetAsync(p, 1, 4096, stream)
				s.FreeAsync(p, stream)
				s.StreamSynchronize(stream)
			}
		})
	}
	wg.Wait()
	tr := s.StopTrace()
	require.Len(t, tr.Records, workers*(1+rounds*5))
	for i, r := range tr.Records {
		require.Zero(t, r.Code, "record %d, %v", i, r.Op)
		if r.Phase == trace.Leave {
			require.Equal(t, trace.Enter, tr.Records[r.Pair].Phase)
			require.Equal(t, r.Stream, tr.Records[r.Pair].Stream)
		}
		for _, a := range r.Accesses {
			require.NotZero(t, a.Alloc)
			require.False(t, a.Freed)
		}
	}
	require.NoError(t, s.Sweep())
}

// What the layers above the device may cost with tracing off is an atomic load.
func TestTheUntracedPathAllocatesNothingOfItsOwn(t *testing.T) {
	s := open(t)
	stream := ok[*session.Stream](t)(s.StreamCreate(device.StreamNonBlocking))
	d := s.Device()
	raw := ok[device.Stream](t)(d.StreamCreate(device.StreamNonBlocking))
	const runs = 1000
	bare := testing.AllocsPerRun(runs, func() {
		p, _ := d.MemAllocAsync(4096, raw)
		d.MemFreeAsync(p, raw)
		d.StreamSynchronize(raw)
	})
	through := testing.AllocsPerRun(runs, func() {
		p, _ := s.MallocAsync(4096, stream)
		s.FreeAsync(p, stream)
		s.StreamSynchronize(stream)
	})
	require.LessOrEqual(t, through, bare)
}

func BenchmarkMallocFreeAsync(b *testing.B) {
	s := open(b)
	stream := ok[*session.Stream](b)(s.StreamCreate(device.StreamNonBlocking))
	pair := func() {
		p, _ := s.MallocAsync(4096, stream)
		s.FreeAsync(p, stream)
	}
	b.Run("traced", func(b *testing.B) {
		const fresh = 100_000 // so that memory stays bounded
		for i := 0; b.Loop(); i++ {
			if i%fresh == 0 {
				s.StartTrace()
			}
			pair()
		}
		s.StopTrace()
	})
	b.Run("untraced", func(b *testing.B) {
		for b.Loop() {
			pair()
		}
	})
	b.Run("bare device", func(b *testing.B) {
		d := s.Device()
		raw := ok[device.Stream](b)(d.StreamCreate(device.StreamNonBlocking))
		for b.Loop() {
			p, _ := d.MemAllocAsync(4096, raw)
			d.MemFreeAsync(p, raw)
		}
	})
}

func TestWhatTwoEventsAnswerIsRecorded(t *testing.T) {
	s := open(t)
	s.StartTrace()
	stream := ok[*session.Stream](t)(s.StreamCreate(device.StreamNonBlocking))
	start, end := ok[*session.Event](t)(s.EventCreate(0)), ok[*session.Event](t)(s.EventCreate(0))
	p := ok[device.Ptr](t)(s.Malloc(1 << 20))
	require.Equal(t, device.Success, s.EventRecord(start, stream))
	require.Equal(t, device.Success, s.MemsetAsync(p, 1, 1<<20, stream))
	require.Equal(t, device.Success, s.EventRecord(end, stream))
	_, early := s.EventElapsedTime(start, end)
	require.Equal(t, device.ErrorNotReady, early)
	require.Equal(t, device.Success, s.StreamSynchronize(stream))
	milliseconds := ok[float32](t)(s.EventElapsedTime(start, end))

	var answers []uint64
	for _, r := range s.StopTrace().Records {
		if r.Op == trace.OpEventElapsedTime {
			answers = append(answers, r.Value)
		}
	}
	require.Positive(t, milliseconds)
	require.Equal(t, []uint64{0, uint64(math.Float32bits(milliseconds))}, answers)
}
