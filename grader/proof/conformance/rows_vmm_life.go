package conformance

import (
	"cudalab/kernels"
	"cudalab/native/cuda"
)

// vmmLifeRows ask how long memory and its contents live, and whether mapped memory is like any other in use.
var vmmLifeRows = []row{
	{Name: "vmm-life/released-while-mapped", Run: func(l *log) {
		g := l.granule()
		p, h := l.mapping(g)
		l.must(cuda.Memset(p, 1, 64))
		l.answer("MemRelease(h), mapped", cuda.MemRelease(h))
		l.answer("Memset(p+8)", cuda.Memset(p+8, 2, 8))
		l.bytes("p", p, 64)
		l.answer("MemUnmap(p)", cuda.MemUnmap(p, g))
		l.memset("unmapped", p, g, 1)
	}},
	{Name: "vmm-life/released-before-access", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(g)
		l.must(cuda.MemRelease(l.place(p, g)))
		l.answer("MemSetAccess(p)", readWrite(p, g))
		l.memset("after", p, g, 1)
	}},
	{Name: "vmm-life/memory-info", Run: func(l *log) {
		g, free := l.granule(), l.freeMemory()
		size := 256 * g
		p := l.reserve(size)
		h := l.create(size)
		l.takenGranules("created", free, g)
		l.must(cuda.MemMap(p, size, 0, h, 0))
		l.must(readWrite(p, size))
		l.takenGranules("mapped", free, g)
		l.must(cuda.MemUnmap(p, size))
		l.takenGranules("unmapped", free, g)
		l.must(cuda.MemRelease(h))
		l.takenGranules("released", free, g)
		l.must(cuda.MemAddressFree(p, size))
		l.takenGranules("addresses given back", free, g)
	}},
	{Name: "vmm-life/memory-info-released-first", Run: func(l *log) {
		g, free := l.granule(), l.freeMemory()
		size := 256 * g
		p, h := l.mapping(size)
		l.must(cuda.MemRelease(h))
		l.takenGranules("released", free, g)
		l.must(cuda.MemUnmap(p, size))
		l.takenGranules("unmapped", free, g)
	}},
	{Name: "vmm-life/memory-info-never-mapped", Run: func(l *log) {
		g, free := l.granule(), l.freeMemory()
		h := l.create(256 * g)
		l.takenGranules("created", free, g)
		l.must(cuda.MemRelease(h))
		l.takenGranules("released", free, g)
	}},
	{Name: "vmm-life/memory-info-mapped-twice", Run: func(l *log) {
		g, free := l.granule(), l.freeMemory()
		size := 256 * g
		p, h := l.mapping(size)
		q := l.reserve(size)
		l.must(cuda.MemMap(q, size, 0, h, 0))
		l.must(cuda.MemRelease(h))
		l.takenGranules("mapped twice", free, g)
		l.must(cuda.MemUnmap(p, size))
		l.takenGranules("one unmapped", free, g)
		l.must(cuda.MemUnmap(q, size))
		l.takenGranules("both unmapped", free, g)
	}},
	{Name: "vmm-life/contents-stay-with-the-memory", Run: func(l *log) {
		g := l.granule()
		p, h := l.mapping(g)
		l.must(cuda.Memset(p, 9, 64))
		l.must(cuda.DeviceSynchronize())
		l.must(cuda.MemUnmap(p, g))
		q := l.reserve(g)
		l.answer("MemMap(q, h)", cuda.MemMap(q, g, 0, h, 0))
		l.must(readWrite(q, g))
		l.bytes("q", q, 64)
		l.must(cuda.MemUnmap(q, g))
		l.answer("MemMap(p, h), again", cuda.MemMap(p, g, 0, h, 0))
		l.must(readWrite(p, g))
		l.bytes("p", p, 64)
	}},
	{Name: "vmm-life/memory-changed-behind-addresses", Run: func(l *log) {
		g := l.granule()
		p, first := l.mapping(g)
		l.must(cuda.Memset(p, 1, 64))
		l.must(cuda.DeviceSynchronize())
		l.must(cuda.MemUnmap(p, g))
		second := l.place(p, g)
		l.must(readWrite(p, g))
		l.must(cuda.Memset(p, 2, 64))
		l.bytes("p, with the second", p, 64)
		l.must(cuda.MemUnmap(p, g))
		l.must(cuda.MemRelease(second))
		l.must(cuda.MemMap(p, g, 0, first, 0))
		l.must(readWrite(p, g))
		l.bytes("p, with the first again", p, 64)
	}},
	{Name: "vmm-life/growing-in-place", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(8 * g)
		size := int64(0)
		for _, more := range []int64{1, 1, 2, 4} {
			l.must(cuda.MemRelease(l.place(p+cuda.DevicePtr(size), more*g)))
			l.answer("MemSetAccess(what is new)", readWrite(p+cuda.DevicePtr(size), more*g))
			l.must(cuda.Memset(p+cuda.DevicePtr(size), byte(more), more*g))
			size += more * g
		}
		for _, i := range []int64{1, 2, 4} {
			l.bytes("around a border", p+cuda.DevicePtr(i*g-4), 8)
		}
		l.answer("MemUnmap(all)", cuda.MemUnmap(p, size))
		l.answer("MemAddressFree(all)", cuda.MemAddressFree(p, size))
	}},
	{Name: "vmm-life/given-back-in-another-order", Run: func(l *log) {
		p, g := l.mappings(4)
		for _, i := range []int64{2, 0, 3, 1} {
			l.saw("MemUnmap, granule %d → %s", i, codeName(cuda.MemUnmap(p+cuda.DevicePtr(i*g), g)))
		}
		l.answer("MemAddressFree(all)", cuda.MemAddressFree(p, 4*g))
	}},

	{Name: "vmm-use/copies-between-mappings", Run: func(l *log) {
		p, g := l.mappings(4)
		n := int(g + g/2)
		q := p + cuda.DevicePtr(2*g)
		l.must(cuda.Memset(p, 1, g))
		l.must(cuda.Memset(p+cuda.DevicePtr(g), 2, g))
		l.answer("MemcpyDtoD(1.5 granules)", cuda.MemcpyDtoD(q, p, int64(n)))
		l.bytes("the border", q+cuda.DevicePtr(g-8), 16)
		l.answer("MemcpyDtoD, in place by a granule", cuda.MemcpyDtoD(q+cuda.DevicePtr(g), q, g))
		l.bytes("the border", q+cuda.DevicePtr(g-8), 16)
	}},
	{Name: "vmm-use/copies-with-other-memory", Run: func(l *log) {
		g := l.granule()
		p, _ := l.mapping(g)
		m := l.filled(5, 64)
		l.answer("MemcpyDtoD(p, from Malloc)", cuda.MemcpyDtoD(p, m, 64))
		l.must(cuda.Memset(p, 6, 32))
		l.answer("MemcpyDtoD(from Malloc, p)", cuda.MemcpyDtoD(m, p, 64))
		l.bytes("m", m, 64)
	}},
	{Name: "vmm-use/kernels-across-two-mappings", Run: func(l *log) {
		p, g := l.mappings(2)
		s, at, result := l.stream(cuda.StreamNonBlocking), p+cuda.DevicePtr(g-4*32), p+cuda.DevicePtr(2*g-8)
		l.must(cuda.Memset(p, 0xff, 2*g))
		l.must(cuda.Memset(result, 0, 8))
		l.must(cuda.DeviceSynchronize())
		l.answer("Process(64 floats)", kernels.Process(2, 32, s, at, 64, 2, 0))
		l.answer("Reduce(64 floats)", kernels.Reduce(2, 32, s, at, 64, result))
		l.bytes("the sum", result, 8)
		l.bytes("before", at-8, 12)
		l.bytes("the border", p+cuda.DevicePtr(g-4), 8)
		l.bytes("behind", at+4*63, 12)
	}},
	{Name: "vmm-use/streams-and-events", Run: func(l *log) {
		p, g := l.mappings(2)
		a, b := l.stream(cuda.StreamNonBlocking), l.stream(cuda.StreamNonBlocking)
		h := l.host(64)
		l.delay(a)
		l.answer("MemsetAsync(p, a)", cuda.MemsetAsync(p, 8, 64, a))
		l.must(cuda.StreamWaitEvent(b, l.recorded(a)))
		l.answer("MemcpyDtoDAsync(q, p, b)", cuda.MemcpyDtoDAsync(p+cuda.DevicePtr(g), p, 64, b))
		l.answer("MemcpyDtoHAsync(h, q, b)", cuda.MemcpyDtoHAsync(h, p+cuda.DevicePtr(g), 64, b))
		l.pinned("h, pending,", h, 64)
		l.must(cuda.StreamSynchronize(b))
		l.pinned("h", h, 64)
	}},
	{Name: "vmm-use/released-while-in-use", Run: func(l *log) {
		g := l.granule()
		p, h := l.mapping(g)
		s := l.busy()
		l.must(cuda.MemsetAsync(p, 3, 64, s))
		l.answer("MemRelease(h), mapped and in use", cuda.MemRelease(h))
		l.must(cuda.MemsetAsync(p+8, 4, 8, s))
		l.bytes("p", p, 64)
	}},
}
