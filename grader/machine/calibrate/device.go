package calibrate

import "cudalab/native/device"

// deviceSteps ask the device what it has and how it hands out memory.
var deviceSteps = []step{
	{
		"what the device has",
		[]string{"memory_bytes", "multiprocessors", "compute_capability", "threads_per_block", "threads_per_multiprocessor",
			"blocks_per_multiprocessor"},
		func(m *meter) {
			info := m.d.Info()
			m.profile.Memory = info.TotalMemory
			m.profile.Multiprocessors = info.Multiprocessors
			m.profile.ComputeCapability = info.ComputeCapability
			m.profile.MaxThreads = info.MaxThreads
			m.profile.ThreadsPerMultiprocessor = int64(info.ThreadsPerMultiprocessor)
			m.profile.BlocksPerMultiprocessor = int64(info.BlocksPerMultiprocessor)
		},
	},
	{"in what steps memory is taken from the system", []string{"granule_bytes", "pool_step_bytes", "granularity_bytes"},
		(*meter).units},
	{"how many kernels a stream's queue holds", []string{"queue_depth"}, (*meter).queueDepth},
}

// units looks at what is taken from the system for allocations much smaller than a step.
func (m *meter) units() {
	m.lend(func() {
		before, _, code := m.d.MemGetInfo()
		m.ok("cuMemGetInfo", code)
		taken := uint64(0)
		for range 1024 {
			m.newBuffer(64 << 10)
			free, _, code := m.d.MemGetInfo()
			m.ok("cuMemGetInfo", code)
			if free < before {
				taken = before - free
				break
			}
		}
		m.profile.Granule = taken
	})
	m.lend(func() {
		pool := m.newPool(0)
		p, code := m.d.MemAllocFromPoolAsync(1, pool, m.stream)
		m.ok("cuMemAllocFromPoolAsync", code)
		m.later(func() device.Code { return m.d.MemFreeAsync(p, m.stream) })
		m.profile.PoolStep, code = m.d.MemPoolGetAttribute(pool, device.PoolReservedMemCurrent)
		m.ok("cuMemPoolGetAttribute", code)
	})
	if !m.d.Info().VirtualMemory {
		m.unknown["granularity_bytes"] = true
		return
	}
	granularity, code := m.d.MemGetAllocationGranularity(physical, device.MemGranularityMinimum)
	m.ok("cuMemGetAllocationGranularity", code)
	m.profile.Granularity = granularity
}

// Bounds on the search for the end of a queue.
const (
	queueHold = 50_000_000 // nanoseconds for which the kernel in front runs
	mostQueue = 1 << 14    // launches
)

// queueDepth launches kernels behind one that runs for long, until a launch has to wait for it.
func (m *meter) queueDepth() {
	waited := false
	m.profile.QueueDepth = int(m.often(func() int64 {
		began := m.d.Now()
		m.delay(queueHold)
		depth := int64(1)
		for waited = false; depth < mostQueue && m.d.Now()-began < queueHold/2; depth++ {
			if waited = m.took("cuLaunchKernel", m.empty) > queueHold/4; waited {
				break
			}
		}
		m.settle()
		return depth
	}))
	m.unknown["queue_depth"] = !waited
}
