package calibrate

import (
	"math"

	"cudalab/native/device"
)

// warmPool allocates from a pool that has room and keeps it, in the ways that differ in how the memory is found. A
// block is all that the pool has, or half of it, so that it is known when one is divided.
func (m *meter) warmPool() {
	size := m.profile.PoolStep
	pool := m.newPool(math.MaxUint64)
	streams := []device.Stream{m.newStream(), m.newStream()}
	alloc := func(size uint64, s device.Stream) (p device.Ptr, took int64) {
		took = m.took("cuMemAllocFromPoolAsync", func() (code device.Code) {
			p, code = m.d.MemAllocFromPoolAsync(size, pool,
				s)
			return code
		})
		return p, took
	}
	free := func(p device.Ptr, s device.Stream) int64 {
		return m.took("cuMemFreeAsync", func() device.Code { return m.d.MemFreeAsync(p, s) })
	}

	var same, freed, divided []int64
	m.rounds(func() { // what the stream has just freed
		p, took := alloc(size, streams[0])
		same = append(same, took)
		freed = append(freed, free(p, streams[0]))
	})
	m.profile.MallocAsync, m.profile.FreeAsync = atLeastOne(median(same)), atLeastOne(median(freed))

	m.rounds(func() { // the halves of it
		p, took := alloc(size/2, streams[0])
		divided = append(divided, took)
		q, _ := alloc(size/2, streams[0])
		free(q, streams[0])
		free(p, streams[0])
	})
	m.profile.PoolSplit = atLeastOne(median(divided) - m.profile.MallocAsync)

	searched := func() int64 { // what another stream has just freed
		var all []int64
		turn := 0
		m.rounds(func() {
			p, took := alloc(size, streams[turn])
			all = append(all, took)
			free(p, streams[turn])
			turn = 1 - turn
		})
		return median(all)
	}
	m.profile.PoolSearch = atLeastOne(searched() - m.profile.MallocAsync)
	for _, s := range streams {
		m.ok("cuLaunchKernel", m.launchOn(s, process, 1, 32))
	}
	m.settle()
	m.profile.PoolSearchWork = atLeastOne(searched() - m.profile.MallocAsync - m.profile.PoolSearch)
}
