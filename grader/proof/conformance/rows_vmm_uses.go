package conformance

import "cudalab/native/cuda"

// vmmUseRows use, by every call, mapped memory up to its borders and beyond.
func vmmUseRows() []row {
	var rows []row
	for _, u := range uses {
		rows = append(rows, row{Name: "vmm-use/" + u.name, Run: func(l *log) {
			x := newPartners(l)
			p, g := l.mappings(2)
			end := p + cuda.DevicePtr(2*g)
			use := func(what string, at cuda.DevicePtr) {
				l.answer(what, u.use(x, at, 64))
				l.must(cuda.DeviceSynchronize())
			}
			use("at the start", p)
			use("across two mappings", p+cuda.DevicePtr(g-32))
			use("up to the end", end-64)
			use("beyond the end by one byte", end-63)
			use("behind the end", end)

			q := l.reserve(3 * g)
			use("reserved", q)
			h := l.place(q, g)
			use("mapped, without access", q)
			l.must(readWrite(q, g))
			use("with access", q)
			use("across the end of what is mapped", q+cuda.DevicePtr(g-32))
			l.place(q+cuda.DevicePtr(g), g)
			use("across the end of what has access", q+cuda.DevicePtr(g-32))
			l.must(cuda.MemUnmap(q, g))
			use("unmapped", q)
			l.must(cuda.MemMap(q, g, 0, h, 0))
			l.must(readWrite(q, g))
			use("mapped again", q)
			l.must(cuda.MemRelease(h))
			use("released", q)
			l.must(cuda.MemUnmap(q, 2*g))
			l.must(cuda.MemAddressFree(q, 3*g))
			use("given back", q)
		}})
	}
	return rows
}

// vmmLastRows hand the driver addresses that are not its virtual memory's, and null handles, or change access to what
// is in use.
var vmmLastRows = []row{
	{Name: "vmm-garbage/null-handle", Run: func(l *log) {
		g := l.granule()
		l.answer("MemRelease(null)", cuda.MemRelease(cuda.MemGenericAllocationHandle{}))
		l.answer("MemMap(p, null)", cuda.MemMap(l.reserve(g), g, 0, cuda.MemGenericAllocationHandle{}, 0))
	}},
	{Name: "vmm-garbage/null-address", Run: func(l *log) {
		g := l.granule()
		l.answer("MemAddressFree(null)", cuda.MemAddressFree(0, g))
		l.answer("MemMap(null)", cuda.MemMap(0, g, 0, l.create(g), 0))
		l.answer("MemUnmap(null)", cuda.MemUnmap(0, g))
		l.answer("MemSetAccess(null)", readWrite(0, g))
	}},
	{Name: "vmm-garbage/never-reserved", Run: func(l *log) {
		g := l.granule()
		at := 4096 * cuda.DevicePtr(g)
		l.answer("MemAddressFree", cuda.MemAddressFree(at, g))
		l.answer("MemMap", cuda.MemMap(at, g, 0, l.create(g), 0))
		l.answer("MemUnmap", cuda.MemUnmap(at, g))
		l.answer("MemSetAccess", readWrite(at, g))
	}},
	{Name: "vmm-garbage/memory-from-malloc", Run: func(l *log) {
		g := l.granule()
		p := l.malloc(4 * g)
		at := (p + cuda.DevicePtr(g-1)) / cuda.DevicePtr(g) * cuda.DevicePtr(g)
		l.answer("MemAddressFree", cuda.MemAddressFree(p, 4*g))
		l.answer("MemMap", cuda.MemMap(at, g, 0, l.create(g), 0))
		l.answer("MemUnmap", cuda.MemUnmap(p, 4*g))
		l.answer("MemSetAccess", readWrite(at, g))
		l.answer("Memset", cuda.Memset(p, 1, 4*g))
		l.answer("Free", cuda.Free(p))
	}},
	{Name: "vmm-garbage/free-of-mapped-memory", Run: func(l *log) {
		g := l.granule()
		p, _ := l.mapping(g)
		s := l.stream(cuda.StreamNonBlocking)
		l.answer("Free(p)", cuda.Free(p))
		l.answer("FreeAsync(p, s)", cuda.FreeAsync(p, s))
		l.answer("FreeAsync(p, legacy)", cuda.FreeAsync(p, cuda.Stream{}))
		l.must(cuda.DeviceSynchronize())
		l.memset("after", p, g, 1)
		l.answer("MemUnmap(p)", cuda.MemUnmap(p, g))
		l.answer("Free(p), unmapped", cuda.Free(p))
	}},
	{Name: "vmm-garbage/access-taken-away", Run: func(l *log) {
		g := l.granule()
		p, _ := l.mapping(g)
		l.must(cuda.Memset(p, 2, 64))
		l.must(cuda.DeviceSynchronize())
		l.answer("MemSetAccess(p, none)", setAccess(p, g, cuda.MemAccessFlagsProtNone))
		l.memset("after", p, g, 1)
		l.answer("MemcpyDtoH(p)", cuda.MemcpyDtoH(make(cuda.Pageable, 8), p, 8))
		l.answer("MemSetAccess(p, read and write)", readWrite(p, g))
		l.bytes("p", p, 64)
	}},
	{Name: "vmm-use/mapped-while-another-mapping-is-in-use", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(2 * g)
		l.place(p, g)
		l.must(readWrite(p, g))
		s := l.busy()
		l.must(cuda.MemsetAsync(p, 3, g, s))
		l.place(p+cuda.DevicePtr(g), g)
		l.answer("MemSetAccess(all), p in use", readWrite(p, 2*g))
		l.answer("MemsetAsync across both", cuda.MemsetAsync(p+cuda.DevicePtr(g-8), 4, 16, s))
		l.bytes("the border", p+cuda.DevicePtr(g-16), 24)
	}},
}
