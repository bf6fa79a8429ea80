package calibrate

import "cudalab/native/device"

// copySteps measure copies between host and device.
var copySteps = []step{
	{"how fast pinned memory is copied", []string{"htod_ns", "dtoh_ns", "htod_bytes_per_s", "dtoh_bytes_per_s",
		"link_bytes_per_s"},
		func(m *meter) { m.lend(m.pinnedCopies) }},
	{"how fast pageable memory is copied", []string{"pageable_bytes_per_s"}, func(m *meter) { m.lend(m.pageableCopies) }},
	{"how much pageable memory is staged", []string{"stage_limit_bytes"}, func(m *meter) { m.lend(m.staging) }},
}

// pinnedCopies copies few bytes and many.
func (m *meter) pinnedCopies() {
	const few, many = 8, 32 << 20
	data, host := m.newBuffer(m.affordable(many)[0]), m.newPinned(many)
	up := func(size uint64) func() {
		return func() { m.ok("cuMemcpyHtoDAsync", m.d.MemcpyHostToDAsync(data, host, 0, size, m.stream)) }
	}
	downOn := func(s device.Stream, size uint64) func() {
		return func() { m.ok("cuMemcpyDtoHAsync", m.d.MemcpyDToHostAsync(host, 0, data, size, s)) }
	}
	down := func(size uint64) func() { return downOn(m.stream, size) }
	m.profile.HtoD, m.profile.DtoH = m.inARow(up(few)), m.inARow(down(few))
	upwards, downwards := m.onDevice(up(many)), m.onDevice(down(many))
	m.profile.HtoDBandwidth = perSecond(many, upwards-m.profile.HtoD)
	m.profile.DtoHBandwidth = perSecond(many, downwards-m.profile.DtoH)
	// The copy that comes second has what the first leaves, and is alone at its end.
	behind := m.onDevice(func() { m.beside(up(many), downOn(m.other, many)) }) - upwards
	m.profile.LinkBandwidth = max(m.profile.DtoHBandwidth,
		m.profile.HtoDBandwidth+portion(m.profile.DtoHBandwidth, downwards-behind, upwards))
}

// pageableCopies measures how much longer the host waits for more bytes, there and back.
func (m *meter) pageableCopies() {
	const less, more = 8 << 20, 24 << 20
	data := m.newBuffer(m.affordable(more)[0])
	memory := make([]byte, more)
	for i := range memory {
		memory[i] = byte(i) // so that the system has given all of it
	}
	up := func(n int) int64 {
		return m.often(func() int64 {
			return m.took("cuMemcpyHtoD", func() device.Code { return m.d.MemcpyHtoD(data, memory[:n]) })
		})
	}
	down := func(n int) int64 {
		return m.often(func() int64 {
			return m.took("cuMemcpyDtoH", func() device.Code { return m.d.MemcpyDtoH(memory[:n], data) })
		})
	}
	m.profile.PageableBandwidth = perSecond(2*(more-less), up(more)-up(less)+down(more)-down(less))
}

// Bounds on the search for what is staged.
const (
	stageHold             = 10_000_000 // nanoseconds for which the kernel in front runs
	leastStage, mostStage = 1 << 10, 8 << 20
)

// staging copies more and more pageable memory behind a kernel, until the call waits for it.
func (m *meter) staging() {
	data := m.newBuffer(mostStage)
	memory := make([]byte, mostStage)
	limit := uint64(0)
	for size := uint64(leastStage); size <= mostStage; size *= 2 {
		wait := m.often(func() int64 {
			m.delay(stageHold)
			took := m.took("cuMemcpyHtoDAsync", func() device.Code { return m.d.MemcpyHtoDAsync(data, memory[:size], m.stream) })
			m.settle()
			return took
		})
		if wait > stageHold/2 {
			break
		}
		limit = size
	}
	m.unknown["stage_limit_bytes"] = limit == 0 || limit == mostStage
	m.profile.StageLimit = limit
}
