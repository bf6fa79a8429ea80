package calibrate

import (
	"cudalab/native/device"
	"cudalab/native/sim"
)

// memorySteps measure the calls that take memory from the system or give it back.
var memorySteps = []step{
	{"what cudaMalloc and cudaFree cost", []string{"malloc_ns", "free_ns"}, (*meter).mallocBySize},
	{"what cudaMalloc and cudaFree cost within mapped memory", []string{"malloc_mapped_ns", "free_mapped_ns"},
		func(m *meter) { m.lend(m.mallocMapped) }},
	{"what allocating from a warm pool costs", []string{"malloc_async_ns", "free_async_ns", "pool_split_ns",
		"pool_search_ns",
		"pool_search_work_ns"}, func(m *meter) { m.lend(m.warmPool) }},
	{"what pools cost", []string{"pool_create_ns", "pool_destroy_ns"}, func(m *meter) {
		var pool device.Pool
		m.profile.PoolCreate, m.profile.PoolDestroy = m.pair(
			"cuMemPoolCreate", func() (code device.Code) { pool, code = m.d.MemPoolCreate(); return code },
			"cuMemPoolDestroy", func() device.Code { return m.d.MemPoolDestroy(pool) })
	}},
	{"what it costs a pool to grow and to give back", []string{"pool_grow_ns", "pool_release_ns"},
		func(m *meter) { m.lend(m.poolBySize) }},
	{"what pinned memory costs", []string{"host_malloc_ns", "host_free_ns"}, (*meter).pinnedBySize},
}

// affordable are the sizes of which the device has four times as much free.
func (m *meter) affordable(sizes ...uint64) []uint64 {
	free, _, code := m.d.MemGetInfo()
	m.ok("cuMemGetInfo", code)
	var fit []uint64
	for _, size := range sizes {
		if size <= free/4 {
			fit = append(fit, size)
		}
	}
	if len(fit) == 0 {
		m.fail("only %d bytes of the device's memory are free: end the programs that use it.", free)
	}
	return fit
}

// timing is what a measurement adds to: one list of times for each curve that it is to give.
type timing [][]int64

// curves measures by size: round adds one time to each of n lists, whose medians are the points of n curves.
func (m *meter) curves(n int, sizes []uint64, round func(size uint64, times timing)) []sim.Curve {
	all := make([]sim.Curve, n)
	for _, size := range sizes {
		times := make(timing, n)
		for range m.times {
			round(size, times)
			m.settle()
		}
		for i := range all {
			all[i] = append(all[i], sim.Point{Bytes: size, Nanos: atLeastOne(median(times[i]))})
		}
	}
	for _, curve := range all {
		rising(curve)
	}
	return all
}

// rising sees to it that the last point costs no less than the one before, as a Curve demands.
func rising(c sim.Curve) {
	if n := len(c); n > 1 {
		c[n-1].Nanos = max(c[n-1].Nanos, c[n-2].Nanos)
	}
}

// mallocBySize must find nothing allocated: only then does an allocation take new memory from the system.
func (m *meter) mallocBySize() {
	var p device.Ptr
	found := m.curves(2, m.affordable(4<<10, 1<<20, 16<<20, 64<<20, 256<<20, 1<<30), func(size uint64, times timing) {
		times[0] = append(times[0], m.took("cuMemAlloc", func() (code device.Code) {
			p,
				code = m.d.MemAlloc(size)
			return code
		}))
		times[1] = append(times[1], m.took("cuMemFree", func() device.Code { return m.d.MemFree(p) }))
	})
	m.profile.Malloc, m.profile.Free = found[0], found[1]
}

// mallocMapped allocates beside a block that keeps the granule mapped.
func (m *meter) mallocMapped() {
	const size = 4 << 10
	m.newBuffer(size)
	var p device.Ptr
	m.profile.MallocMapped, m.profile.FreeMapped = m.pair(
		"cuMemAlloc", func() (code device.Code) { p, code = m.d.MemAlloc(size); return code },
		"cuMemFree", func() device.Code { return m.d.MemFree(p) })
}

// poolBySize fills an empty pool whose threshold is 0 and empties it again, which a synchronise does. No work has run
// in its stream, so that there is none to wait for.
func (m *meter) poolBySize() {
	pool, stream := m.newPool(0), m.newStream()
	step := m.profile.PoolStep
	var p device.Ptr
	found := m.curves(2, m.affordable(step, 2*step, 8*step, 32*step), func(size uint64, times timing) {
		grow := m.took("cuMemAllocFromPoolAsync", func() (code device.Code) {
			p, code = m.d.MemAllocFromPoolAsync(size, pool, stream)
			return code
		})
		m.ok("cuMemFreeAsync", m.d.MemFreeAsync(p, stream))
		release := m.took("cuStreamSynchronize", func() device.Code { return m.d.StreamSynchronize(stream) })
		times[0] = append(times[0], grow-m.profile.MallocAsync-m.profile.PoolSearch)
		times[1] = append(times[1], release-m.profile.Synchronize)
	})
	m.profile.PoolGrow, m.profile.PoolRelease = found[0], found[1]
}

func (m *meter) pinnedBySize() {
	var h device.Host
	found := m.curves(2, []uint64{64 << 10, 1 << 20, 16 << 20}, func(size uint64, times timing) {
		times[0] = append(times[0], m.took("cuMemAllocHost", func() (code device.Code) {
			h,
				code = m.d.MemAllocHost(size)
			return code
		}))
		times[1] = append(times[1], m.took("cuMemFreeHost", func() device.Code { return m.d.MemFreeHost(h) }))
	})
	m.profile.HostMalloc, m.profile.HostFree = found[0], found[1]
}
