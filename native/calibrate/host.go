package calibrate

import (
	"math"
	"slices"

	"cudalab/native/device"
)

// hostSteps measure what calls cost the calling thread that only enqueue or look something up.
var hostSteps = []step{
	{"what a launch costs the host", []string{"launch_ns"}, func(m *meter) {
		m.profile.Launch = m.call("cuLaunchKernel", m.empty)
	}},
	{"what copies and memsets cost the host", []string{"memset_ns", "copy_ns"}, func(m *meter) { m.lend(m.transferCalls) }},
	{"what streams and events cost the host", []string{"event_create_ns", "event_destroy_ns", "event_record_ns", "stream_create_ns",
		"stream_destroy_ns", "stream_wait_event_ns"}, func(m *meter) { m.lend(m.streamCalls) }},
	{"what queries cost the host", []string{"mem_get_info_ns", "query_ns"}, (*meter).queryCalls},
	{"what allocating from a warm pool and waiting for it cost", []string{"malloc_async_ns", "free_async_ns", "synchronize_ns", "wake_ns"},
		func(m *meter) { m.lend(m.warmPool) }},
}

// transferCalls measures the calls, on so few bytes that the queue never fills. The three kinds of copy cost about the
// same and have one constant.
func (m *meter) transferCalls() {
	const size = 256
	a, b, host := m.newBuffer(size), m.newBuffer(size), m.newPinned(size)
	m.profile.Memset = m.call("cuMemsetD8Async", func() device.Code { return m.d.MemsetD8Async(a, 0, size, m.stream) })
	up := m.call("cuMemcpyHtoDAsync", func() device.Code { return m.d.MemcpyHostToDAsync(a, host, 0, size, m.stream) })
	down := m.call("cuMemcpyDtoHAsync", func() device.Code { return m.d.MemcpyDToHostAsync(host, 0, a, size, m.stream) })
	within := m.call("cuMemcpyDtoDAsync", func() device.Code { return m.d.MemcpyDtoDAsync(b, a, size, m.stream) })
	m.profile.Copy = (up + down + within) / 3
}

func (m *meter) streamCalls() {
	var e device.Event
	m.profile.EventCreate, m.profile.EventDestroy = m.pair(
		"cuEventCreate", func() (code device.Code) { e, code = m.d.EventCreate(0); return code },
		"cuEventDestroy", func() device.Code { return m.d.EventDestroy(e) })
	var s device.Stream
	m.profile.StreamCreate, m.profile.StreamDestroy = m.pair(
		"cuStreamCreate", func() (code device.Code) { s, code = m.d.StreamCreate(device.StreamNonBlocking); return code },
		"cuStreamDestroy", func() device.Code { return m.d.StreamDestroy(s) })
	m.profile.EventRecord = m.call("cuEventRecord", func() device.Code { return m.d.EventRecord(m.start, m.stream) })
	other := m.newStream()
	m.profile.StreamWaitEvent = m.call("cuStreamWaitEvent", func() device.Code { return m.d.StreamWaitEvent(other, m.start) })
}

// queryCalls takes of the queries, which have one constant, the one that costs neither most nor least.
func (m *meter) queryCalls() {
	m.profile.MemGetInfo = m.call("cuMemGetInfo", func() device.Code {
		_, _, code := m.d.MemGetInfo()
		return code
	})
	pool, code := m.d.DeviceGetDefaultMemPool()
	m.ok("cuDeviceGetDefaultMemPool", code)
	m.profile.Query = median([]int64{
		m.call("cuStreamQuery", func() device.Code { return m.d.StreamQuery(m.stream) }),
		m.call("cuEventQuery", func() device.Code { return m.d.EventQuery(m.start) }),
		m.call("cuMemPoolGetAttribute", func() device.Code {
			_, code := m.d.MemPoolGetAttribute(pool, device.PoolReservedMemCurrent)
			return code
		}),
	})
}

// warmPool allocates and frees in a pool that has room and keeps it. A synchronise that finds work, though it be over,
// costs Wake more than one that finds none.
func (m *meter) warmPool() {
	const size = 1 << 20
	pool := m.newPool(math.MaxUint64)
	var p device.Ptr
	malloc := func() (code device.Code) { p, code = m.d.MemAllocFromPoolAsync(size, pool, m.stream); return code }
	free := func() device.Code { return m.d.MemFreeAsync(p, m.stream) }
	synchronize := func() device.Code { return m.d.StreamSynchronize(m.stream) }
	m.ok("cuMemAllocFromPoolAsync", malloc())
	m.ok("cuMemFreeAsync", free())
	m.settle()
	m.profile.MallocAsync, m.profile.FreeAsync = m.pair("cuMemAllocFromPoolAsync", malloc, "cuMemFreeAsync", free)
	m.profile.Synchronize = m.call("cuStreamSynchronize", synchronize)
	var after []int64
	m.rounds(func() {
		m.ok("cuMemAllocFromPoolAsync", malloc())
		m.ok("cuMemFreeAsync", free())
		after = append(after, m.took("cuStreamSynchronize", synchronize))
	})
	m.profile.Wake = atLeastOne(median(slices.Clone(after)) - m.profile.Synchronize)
}
