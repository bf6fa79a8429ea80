package calibrate

import (
	"cudalab/native/device"
	"cudalab/native/sim"
)

// hostSteps measure what calls cost the calling thread that only enqueue or look something up.
var hostSteps = []step{
	{"what a launch costs the host", []string{"launch_ns"}, func(m *meter) {
		m.profile.Launch = m.call("cuLaunchKernel", m.empty)
	}},
	{"what a launch in one of many streams costs the host", []string{"launch_connect_ns"},
		func(m *meter) { m.lend(m.launchesInTurns) }},
	{"what copies and memsets cost the host", []string{"memset_ns", "copy_ns", "copy_within_ns"},
		func(m *meter) { m.lend(m.transferCalls) }},
	{"what events cost", []string{"event_create_ns", "event_destroy_ns", "event_record_ns", "event_timing_ns",
		"event_stamp_ns",
		"stream_wait_event_ns"}, func(m *meter) { m.lend(m.eventCalls) }},
	{"what streams cost the host", []string{"stream_create_ns", "stream_destroy_ns"}, (*meter).streamCalls},
	{"what queries cost the host", []string{"mem_get_info_ns", "query_ns", "lookup_ns"}, (*meter).queryCalls},
	{"what waiting costs the host", []string{"synchronize_ns", "wake_ns"}, (*meter).waiting},
}

// launchesInTurns measures launches in more streams than the driver keeps ways to the device open for.
func (m *meter) launchesInTurns() {
	streams := make([]device.Stream, row)
	for i := range streams {
		streams[i] = m.newStream()
	}
	turn := 0
	m.profile.LaunchConnect = atLeastOne(m.call("cuLaunchKernel", func() device.Code {
		turn = (turn + 1) % len(streams)
		return m.launchOn(streams[turn], process, 1, 32)
	}) - m.profile.Launch)
}

// transferCalls measures the calls, on so few bytes that the queue never fills; of memsets, on many bytes as well. The
// two kinds of copy between host and device cost about the same and have one constant.
func (m *meter) transferCalls() {
	const size, many = 256, 8 << 20
	a, b, host := m.newBuffer(many), m.newBuffer(size), m.newPinned(size)
	m.profile.Memset = nil
	for _, size := range []uint64{size, 64 << 10, 1 << 20, many} {
		m.profile.Memset = append(m.profile.Memset, sim.Point{Bytes: size, Nanos: m.call("cuMemsetD8Async",
			func() device.Code { return m.d.MemsetD8Async(a, 0, size, m.stream) })})
	}
	rising(m.profile.Memset)
	up := m.call("cuMemcpyHtoDAsync", func() device.Code { return m.d.MemcpyHostToDAsync(a, host, 0, size, m.stream) })
	down := m.call("cuMemcpyDtoHAsync", func() device.Code { return m.d.MemcpyDToHostAsync(host, 0, a, size, m.stream) })
	m.profile.Copy = (up + down) / 2
	m.profile.CopyWithin = m.call("cuMemcpyDtoDAsync", func() device.Code {
		return m.d.MemcpyDtoDAsync(b, a, size,
			m.stream)
	})
}

// eventCalls measures events with timing and without. How long a record with timing takes the device shows between two
// of them with nothing in between.
func (m *meter) eventCalls() {
	var e device.Event
	m.profile.EventCreate, m.profile.EventDestroy = m.pair(
		"cuEventCreate", func() (code device.Code) { e, code = m.d.EventCreate(0); return code },
		"cuEventDestroy", func() device.Code { return m.d.EventDestroy(e) })
	record := func(e device.Event) int64 {
		return m.call("cuEventRecord", func() device.Code { return m.d.EventRecord(e, m.stream) })
	}
	m.profile.EventRecord = record(m.newEvent(device.EventDisableTiming))
	m.profile.EventTiming = atLeastOne(record(m.start) - m.profile.EventRecord)
	m.profile.EventStamp = 0
	m.profile.EventStamp = m.onDevice(func() {})
	other := m.newStream()
	m.profile.StreamWaitEvent = m.call("cuStreamWaitEvent", func() device.Code {
		return m.d.StreamWaitEvent(other,
			m.start)
	})
}

// streamCalls measures streams that work has run in: one that was never used is sooner destroyed.
func (m *meter) streamCalls() {
	var created, destroyed []int64
	m.rounds(func() {
		var s device.Stream
		created = append(created, m.took("cuStreamCreate", func() (code device.Code) {
			s,
				code = m.d.StreamCreate(device.StreamNonBlocking)
			return code
		}))
		launched := m.launchOn(s, process, 1, 32)
		waited := m.d.StreamSynchronize(s)
		destroyed = append(destroyed, m.took("cuStreamDestroy", func() device.Code { return m.d.StreamDestroy(s) }))
		m.ok("cuLaunchKernel", launched) // whatever became of the launch, the stream is gone
		m.ok("cuStreamSynchronize", waited)
	})
	m.profile.StreamCreate, m.profile.StreamDestroy = atLeastOne(median(created)), atLeastOne(median(destroyed))
}

// queryCalls takes the mean of the queries that ask the device, which have one constant. An attribute stands for what
// does not ask it.
func (m *meter) queryCalls() {
	m.profile.MemGetInfo = m.call("cuMemGetInfo", func() device.Code {
		_, _, code := m.d.MemGetInfo()
		return code
	})
	pool, code := m.d.DeviceGetDefaultMemPool()
	m.ok("cuDeviceGetDefaultMemPool", code)
	m.profile.Query = (m.call("cuStreamQuery", func() device.Code { return m.d.StreamQuery(m.stream) }) +
		m.call("cuEventQuery", func() device.Code { return m.d.EventQuery(m.start) })) / 2
	m.profile.Lookup = m.call("cuMemPoolGetAttribute", func() device.Code {
		_, code := m.d.MemPoolGetAttribute(pool, device.PoolReservedMemCurrent)
		return code
	})
}

// finished is how long a kernel that does nothing is given until it has surely ended, in nanoseconds.
const finished = 50_000

// waiting measures a synchronise. One that finds a kernel, though it be over, costs Wake more than one that finds none.
func (m *meter) waiting() {
	synchronize := func() device.Code { return m.d.StreamSynchronize(m.stream) }
	m.profile.Synchronize = m.call("cuStreamSynchronize", synchronize)
	m.profile.Wake = atLeastOne(m.often(func() int64 {
		m.ok("cuLaunchKernel", m.empty())
		for began := m.d.Now(); m.d.Now()-began < finished; {
			_, _, code := m.d.MemGetInfo() // which lets time pass on a simulated device too
			m.ok("cuMemGetInfo", code)
		}
		return m.took("cuStreamSynchronize", synchronize)
	}) - m.profile.Synchronize)
}
