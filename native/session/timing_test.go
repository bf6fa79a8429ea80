package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
	"cudalab/native/session"
	"cudalab/native/trace"
)

// twoStreams allocates, sets and frees a block on each of two streams, and waits.
func twoStreams(t *testing.T, s *session.Session) *trace.Trace {
	t.Helper()
	s.StartTrace()
	for range 2 {
		x := ok[*session.Stream](t)(s.StreamCreate(device.StreamNonBlocking))
		p := ok[device.Ptr](t)(s.MallocAsync(1<<20, x))
		require.Equal(t, device.Success, s.MemsetAsync(p, 1, 1<<20, x))
		require.Equal(t, device.Success, s.FreeAsync(p, x))
	}
	require.Equal(t, device.Success, s.DeviceSynchronize())
	tr := s.StopTrace()
	require.NoError(t, s.Sweep())
	return tr
}

// program is the records that calls have made: those of the pools' sizes left out.
func program(tr *trace.Trace) []trace.Record {
	var list []trace.Record
	for _, r := range tr.Records {
		if r.Site != 0 {
			list = append(list, r)
		}
	}
	return list
}

func TestTimesAreTakenWhereAskedFor(t *testing.T) {
	s := open(t)
	plain := twoStreams(t, s)
	s.TimeOperations(true)
	timed := twoStreams(t, s)
	s.TimeOperations(false)
	again := twoStreams(t, s)

	for _, tr := range []*trace.Trace{plain, again} {
		for _, r := range tr.Records {
			require.Zero(t, r.Start)
			require.Zero(t, r.End)
			require.NotZero(t, r.Site, "%v is no call of the program's", r.Op)
		}
	}
	require.Equal(t, ops(plain), ops(&trace.Trace{Records: program(timed)}), "the events must not be in the trace")

	last := map[trace.ID]int64{}
	var done int64
	for _, r := range program(timed) {
		switch r.Op {
		case trace.OpMallocAsync, trace.OpMemsetAsync, trace.OpFreeAsync:
			require.GreaterOrEqual(t, r.End, r.Time, "%v ended before it was asked for", r.Op)
			require.Greater(t, r.End, r.Start)
			require.GreaterOrEqual(t, r.Start, last[r.Stream], "%v began before its stream got there", r.Op)
			last[r.Stream] = r.End
			done = max(done, r.End)
		default:
			require.Zerof(t, r.End, "%v is no work for a stream", r.Op)
		}
	}
	waited := timed.Records[len(timed.Records)-1]
	for i := len(timed.Records) - 1; waited.Op != trace.OpDeviceSynchronize; i-- {
		waited = timed.Records[i]
	}
	require.LessOrEqual(t, done, waited.Time+waited.Took, "the device's clock runs ahead of the host's")
}

func TestPoolsAreFollowed(t *testing.T) {
	s := open(t)
	s.TimeOperations(true)
	var used, reserved []uint64
	for _, r := range twoStreams(t, s).Records {
		if r.Site != 0 {
			continue
		}
		require.Equal(t, trace.OpMemPoolGetAttribute, r.Op)
		switch device.PoolAttr(r.Attr) {
		case device.PoolUsedMemCurrent:
			used = append(used, r.Value)
		case device.PoolReservedMemCurrent:
			reserved = append(reserved, r.Value)
		}
	}
	require.Contains(t, used, uint64(1<<20))
	require.Zero(t, used[len(used)-1], "nothing is left in use")
	require.Positive(t, reserved[0])
	require.Zero(t, reserved[len(reserved)-1], "the pool gives back what it held when the device is at rest")
}

func TestAWaitingCopyHasTimes(t *testing.T) {
	s := open(t)
	s.TimeOperations(true)
	s.StartTrace()
	p := ok[device.Ptr](t)(s.Malloc(64))
	require.Equal(t, device.Success, s.MemcpyHtoD(p, session.Host{Slice: make([]byte, 64)}, 64))
	tr := s.StopTrace()
	enter, leave := tr.Records[1], tr.Records[2]
	require.Equal(t, trace.Enter, enter.Phase)
	require.Zero(t, enter.End)
	require.Equal(t, trace.Leave, leave.Phase)
	require.GreaterOrEqual(t, leave.Start, leave.Time)
	require.Greater(t, leave.End, leave.Start)
	require.NoError(t, s.Sweep())
}

func TestRefusedAndInjectedCallsHaveNoTimes(t *testing.T) {
	s := open(t)
	s.TimeOperations(true)
	s.StartTrace()
	s.Fail(trace.OpMallocAsync, 1, device.ErrorOutOfMemory)
	_, code := s.MallocAsync(64, nil)
	require.Equal(t, device.ErrorOutOfMemory, code)
	require.Equal(t, device.ErrorInvalidValue, s.FreeAsync(12345, nil))
	p := ok[device.Ptr](t)(s.MallocAsync(64, nil))
	require.Equal(t, device.Success, s.FreeAsync(p, nil))
	var ends []bool
	for _, r := range program(s.StopTrace()) {
		ends = append(ends, r.End != 0)
	}
	require.Equal(t, []bool{false, false, true, true}, ends)
	require.NoError(t, s.Sweep())
}

func TestTimesStopWhereATraceHasTooManyOperations(t *testing.T) {
	s := open(t)
	s.TimeOperations(true)
	s.StartTrace()
	p := ok[device.Ptr](t)(s.Malloc(64))
	const operations = 5000
	for range operations {
		require.Equal(t, device.Success, s.MemsetAsync(p, 0, 64, nil))
	}
	timed := 0
	for _, r := range program(s.StopTrace())[1:] {
		if r.End != 0 {
			timed++
		}
	}
	require.Positive(t, timed)
	require.Less(t, timed, operations)
	require.NoError(t, s.Sweep())
}
