package calibrate

import "math"

// workSteps measure how long kernels and memsets take on the device.
var workSteps = []step{
	{"how long an empty kernel takes", []string{"operation_ns"}, func(m *meter) {
		m.profile.Operation = m.inARow(func() { m.ok("cuLaunchKernel", m.empty()) })
	}},
	{"how long until a kernel begins", []string{"launch_latency_ns"}, (*meter).launchLatency},
	{"what an allocation in front of a kernel costs the device", []string{"pool_gap_ns"},
		func(m *meter) { m.lend(m.poolGap) }},
	{"how long a kernel's steps take", []string{"step_ps", "step_warps"}, func(m *meter) { m.lend(m.kernelSteps) }},
	{"how fast kernels use memory", []string{"kernel_bytes_per_s", "thread_bytes_per_s"},
		func(m *meter) { m.lend(m.kernelBandwidth) }},
	{"how fast memsets use memory", []string{"move_ns", "memory_bytes_per_s", "shared_bytes_per_s"},
		func(m *meter) { m.lend(m.memsets) }},
}

// inARow is how long one of many operations takes on the device, one behind the other. They are fewer than fill the
// stream's queue.
func (m *meter) inARow(enqueue func()) int64 {
	n := min(200, m.profile.QueueDepth/4)
	return atLeastOne(m.onDevice(func() {
		for range n {
			enqueue()
		}
	}) / int64(n))
}

// leastLatency is the part of a launch and a synchronise that is at least between the two: less is not believed.
const leastLatency = 0.02

// launchLatency is what of a launch and a synchronise nothing else accounts for.
func (m *meter) launchLatency() {
	p := &m.profile
	total := m.often(func() int64 {
		start := m.d.Now()
		m.ok("cuLaunchKernel", m.empty())
		m.ok("cuStreamSynchronize", m.d.StreamSynchronize(m.stream))
		return m.d.Now() - start - m.clock
	})
	parts := p.Launch + p.Operation + p.Wake
	p.LaunchLatency = total - parts
	if float64(p.LaunchLatency) < leastLatency*float64(total) {
		m.contradict("a launch and a synchronise take %d ns together, of which the launch, an empty kernel and waking up "+
			"take %d by themselves.", total, parts)
	}
}

// poolGap puts each kernel between an allocation and a free.
func (m *meter) poolGap() {
	const size = 4 << 10
	pool := m.newPool(math.MaxUint64)
	each := m.inARow(func() {
		p, code := m.d.MemAllocFromPoolAsync(size, pool, m.stream)
		m.ok("cuMemAllocFromPoolAsync", code)
		launched := m.empty()
		m.ok("cuMemFreeAsync", m.d.MemFreeAsync(p, m.stream)) // whatever became of the launch
		m.ok("cuLaunchKernel", launched)
	})
	m.profile.PoolGap = atLeastOne(each - m.profile.Operation)
}

// block is how many threads a block of the measured kernels has, as in the lessons.
const block = 256

// kernelSteps measures how much longer kernel process takes with more rounds: in few blocks, then in as many as the
// device holds.
func (m *meter) kernelSteps() {
	p := &m.profile
	fitting := max(p.ThreadsPerMultiprocessor/block, 1)
	full := uint32(fitting * int64(p.Multiprocessors))
	const few = 16
	data := m.newBuffer(4 * block * uint64(max(full, few)))
	perRound := func(grid uint32, rounds int64) float64 { // nanoseconds
		run := func(rounds int64) int64 {
			n := uint64(grid) * block
			return m.onDevice(func() {
				m.ok("cuLaunchKernel", m.launch(process, grid, block, uint64(data), n, uint64(math.Float32bits(1)), uint64(rounds)))
			})
		}
		return float64(run(2*rounds)-run(rounds)) / float64(rounds)
	}
	alone := perRound(few, 200_000)
	crowded := perRound(full, 10_000)
	if alone <= 0 || crowded <= 0 {
		m.fail("a kernel with more work takes no longer than one with less.")
	}
	p.StepPicos = atLeastOne(int64(math.Round(1000 * alone)))
	const warp = 32
	warps := fitting * block / warp
	p.StepWarps = min(warps, atLeastOne(int64(math.Round(float64(warps)*alone/crowded))))
}

// kernelBandwidth has kernel process fill much memory with as many threads as the device holds, and kernel touch fill
// some with few.
func (m *meter) kernelBandwidth() {
	const (
		n      = 16 << 20 // elements of 4 bytes
		blocks = 8
		some   = 1 << 20 // bytes
	)
	data := m.newBuffer(m.affordable(4 * n)[0])
	all := m.onDevice(func() {
		m.ok("cuLaunchKernel", m.launch(process, n/block, block, uint64(data), n, uint64(math.Float32bits(1))))
	})
	m.profile.KernelBandwidth = perSecond(4*n, all-m.profile.Operation)
	few := func(size uint64) int64 {
		return m.onDevice(func() { m.ok("cuLaunchKernel", m.launch(touch, blocks, block, uint64(data), size)) })
	}
	m.profile.ThreadBandwidth = perSecond(2*some, few(3*some)-few(some)) / (blocks * block)
}

// memsets fills few bytes and many.
func (m *meter) memsets() {
	const few, many = 8, 64 << 20
	data := m.newBuffer(m.affordable(many)[0])
	set := func(size uint64) func() {
		return func() { m.ok("cuMemsetD8Async", m.d.MemsetD8Async(data, 0, size, m.stream)) }
	}
	m.profile.Move = m.inARow(set(few))
	alone := m.onDevice(set(many)) - m.profile.Move
	m.profile.MemoryBandwidth = perSecond(many, alone)
	other := func() { m.ok("cuMemsetD8Async", m.d.MemsetD8Async(data, 0, many, m.other)) }
	// The memset that comes second has what the first leaves, and is alone at its end.
	behind := m.onDevice(func() { m.beside(set(many), other) }) - m.profile.Move - alone
	m.profile.SharedBandwidth = m.profile.MemoryBandwidth + portion(m.profile.MemoryBandwidth, alone-behind, alone)
}

// portion is as much of a bandwidth as one time is of another: none of it at least, and all of it at most.
func portion(bandwidth, time, of int64) int64 {
	return int64(float64(bandwidth) * min(max(float64(time)/float64(atLeastOne(of)), 0), 1))
}

// perSecond is a bandwidth; no more than what would be without time is believed.
func perSecond(bytes uint64, nanos int64) int64 {
	return int64(float64(bytes) * 1e9 / float64(atLeastOne(nanos)))
}
