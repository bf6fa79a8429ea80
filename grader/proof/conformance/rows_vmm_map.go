package conformance

import (
	"fmt"

	"cudalab/native/cuda"
)

// vmmMapRows ask where memory can be mapped, and what can be unmapped.
var vmmMapRows = []row{
	{Name: "vmm-map/whole-reservation", Run: func(l *log) {
		g := l.granule()
		p, h := l.reserve(2*g), l.create(2*g)
		l.answer("MemMap(p, 2 granules)", cuda.MemMap(p, 2*g, 0, h, 0))
		l.answer("MemSetAccess(p, 2 granules)", readWrite(p, 2*g))
		l.answer("Memset(p, 2 granules)", cuda.Memset(p, 5, 2*g))
		l.bytes("the end of p", p+cuda.DevicePtr(2*g-8), 8)
	}},
	{Name: "vmm-map/parts-of-a-reservation", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(4 * g)
		for _, i := range []int64{3, 0, 2} {
			l.saw("MemMap in granule %d → %s", i, codeName(cuda.MemMap(p+cuda.DevicePtr(i*g), g, 0, l.create(g), 0)))
		}
	}},
	{Name: "vmm-map/over-a-mapping", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(4 * g)
		l.place(p+cuda.DevicePtr(g), g)
		l.answer("over it", cuda.MemMap(p+cuda.DevicePtr(g), g, 0, l.create(g), 0))
		l.answer("into it from below", cuda.MemMap(p, 2*g, 0, l.create(2*g), 0))
		l.answer("from it upwards", cuda.MemMap(p+cuda.DevicePtr(g), 2*g, 0, l.create(2*g), 0))
		l.answer("around it", cuda.MemMap(p, 4*g, 0, l.create(4*g), 0))
		l.answer("below it", cuda.MemMap(p, g, 0, l.create(g), 0))
		l.answer("above it", cuda.MemMap(p+cuda.DevicePtr(2*g), 2*g, 0, l.create(2*g), 0))
	}},
	{Name: "vmm-map/beyond-the-end", Note: "what lies behind a reservation may be the driver's own", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(2 * g)
		last := p + cuda.DevicePtr(g)
		l.answer("MemMap, half of it behind the end", cuda.MemMap(last, 2*g, 0, l.create(2*g), 0))
		l.answer("MemUnmap of it", cuda.MemUnmap(last, 2*g))
		l.answer("MemAddressFree", cuda.MemAddressFree(p, 2*g))
	}},
	{Name: "vmm-map/given-back", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(2 * g)
		l.must(cuda.MemAddressFree(p, 2*g))
		l.answer("MemMap(p)", cuda.MemMap(p, g, 0, l.create(g), 0))
	}},
	{Name: "vmm-map/unaligned-address", Run: func(l *log) {
		g := l.granule()
		p, h := l.reserve(4*g), l.create(g)
		l.answer("MemMap(p+1 byte)", cuda.MemMap(p+1, g, 0, h, 0))
		l.answer("MemMap(p+4 KiB)", cuda.MemMap(p+4096, g, 0, h, 0))
		l.answer("MemMap(p+half a granule)", cuda.MemMap(p+cuda.DevicePtr(g/2), g, 0, h, 0))
		l.answer("MemMap(p)", cuda.MemMap(p, g, 0, h, 0))
	}},
	{Name: "vmm-map/size-is-not-the-handle's", Run: func(l *log) {
		g := l.granule()
		p, h := l.reserve(8*g), l.create(2*g)
		for _, c := range []namedSize{{"0", 0}, {"1 byte", 1}, {"half a granule", g / 2}, {"1.5 granules", g + g/2},
			{"3 granules", 3 * g}, {"4 granules", 4 * g}} {
			l.answer("MemMap(p, "+c.name+")", cuda.MemMap(p, c.size, 0, h, 0))
		}
	}},
	{Name: "vmm-map/part-of-the-memory", Run: func(l *log) {
		g := l.granule()
		p, h := l.reserve(4*g), l.create(2*g)
		l.answer("MemMap(p, 1 granule of 2)", cuda.MemMap(p, g, 0, h, 0))
		l.answer("MemMap(p+2 granules, 1 granule at offset 1 granule)", cuda.MemMap(p+cuda.DevicePtr(2*g), g, g, h, 0))
	}},
	{Name: "vmm-map/offset", Run: func(l *log) {
		g := l.granule()
		p, h := l.reserve(4*g), l.create(2*g)
		l.answer("MemMap(p, 2 granules at offset 1 byte)", cuda.MemMap(p, 2*g, 1, h, 0))
		l.answer("MemMap(p, 2 granules at offset 1 granule)", cuda.MemMap(p, 2*g, g, h, 0))
		l.answer("MemMap(p, 1 granule at offset 2 granules)", cuda.MemMap(p, g, 2*g, h, 0))
	}},
	{Name: "vmm-map/negative", Note: binding, Run: func(l *log) {
		g := l.granule()
		p, h := l.reserve(g), l.create(g)
		l.answer("MemMap(p, -1 granule)", cuda.MemMap(p, -g, 0, h, 0))
		l.answer("MemMap(p, 1 granule at offset -1)", cuda.MemMap(p, g, -1, h, 0))
	}},
	{Name: "vmm-map/flags", Run: func(l *log) {
		g := l.granule()
		p, h := l.reserve(g), l.create(g)
		for _, flags := range []uint64{1, 1 << 40} {
			l.saw("flags %#x → %s", flags, codeName(cuda.MemMap(p, g, 0, h, flags)))
		}
	}},
	{Name: "vmm-map/across-two-reservations", Run: func(l *log) {
		g := l.granule()
		a, _, ok := l.neighbours(g)
		if ok {
			l.answer("MemMap(both)", cuda.MemMap(a, 2*g, 0, l.create(2*g), 0))
		}
	}},
	{Name: "vmm-map/twice-at-once", Run: func(l *log) {
		g := l.granule()
		p, h := l.mapping(g)
		q := l.reserve(g)
		l.answer("MemMap(q, the same handle)", cuda.MemMap(q, g, 0, h, 0))
		l.answer("MemSetAccess(q)", readWrite(q, g))
		l.must(cuda.Memset(p, 4, 64))
		l.bytes("q", q, 64)
		l.must(cuda.Memset(q+8, 6, 8))
		l.bytes("p", p, 64)
		l.must(cuda.MemUnmap(p, g))
		l.bytes("q, p unmapped,", q, 64)
	}},
	{Name: "vmm-map/released", Note: binding, Run: func(l *log) {
		g := l.granule()
		p, h := l.reserve(g), l.create(g)
		l.must(cuda.MemRelease(h))
		l.answer("MemMap(p, released)", cuda.MemMap(p, g, 0, h, 0))
	}},

	{Name: "vmm-unmap/twice", Run: func(l *log) {
		g := l.granule()
		p, _ := l.mapping(g)
		l.answer("MemUnmap(p)", cuda.MemUnmap(p, g))
		l.answer("MemUnmap(p)", cuda.MemUnmap(p, g))
	}},
	{Name: "vmm-unmap/without-access", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(g)
		l.place(p, g)
		l.answer("MemUnmap(p)", cuda.MemUnmap(p, g))
	}},
	{Name: "vmm-unmap/half-a-mapping", Run: func(l *log) {
		g := l.granule()
		p, _ := l.mapping(2 * g)
		l.answer("MemUnmap, first half", cuda.MemUnmap(p, g))
		l.answer("MemUnmap, second half", cuda.MemUnmap(p+cuda.DevicePtr(g), g))
		l.memset("after", p, g, 2)
		l.answer("MemUnmap, whole", cuda.MemUnmap(p, 2*g))
	}},
	{Name: "vmm-unmap/sizes", Run: func(l *log) {
		g := l.granule()
		p, _ := l.mapping(g)
		for _, c := range []namedSize{{"0", 0}, {"1 byte", 1}, {"half a granule", g / 2}, {"2 granules", 2 * g}} {
			l.answer("MemUnmap(p, "+c.name+")", cuda.MemUnmap(p, c.size))
		}
		l.answer("MemUnmap(p+1 byte, 1 granule)", cuda.MemUnmap(p+1, g))
		l.memset("after", p, g, 1)
	}},
	{Name: "vmm-unmap/at-an-unaligned-address", Run: func(l *log) {
		g := l.granule()
		p, _ := l.mapping(g)
		l.answer("MemUnmap(p+1 byte, 1 granule)", cuda.MemUnmap(p+1, g))
		l.memset("after", p, g, 1)
	}},
	{Name: "vmm-unmap/negative", Note: binding, Run: func(l *log) {
		g := l.granule()
		p, _ := l.mapping(g)
		l.answer("MemUnmap(p, -1 granule)", cuda.MemUnmap(p, -g))
		l.memset("after", p, g, 1)
	}},
	{Name: "vmm-unmap/several", Run: func(l *log) {
		p, g := l.mappings(4)
		l.answer("MemUnmap, granules 1 and 2", cuda.MemUnmap(p+cuda.DevicePtr(g), 2*g))
		l.memset("after", p, g, 4)
	}},
	{Name: "vmm-unmap/more-than-a-mapping", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(4 * g)
		l.place(p, 2*g)
		l.place(p+cuda.DevicePtr(2*g), 2*g)
		l.must(readWrite(p, 4*g))
		l.answer("MemUnmap, granules 0 to 2", cuda.MemUnmap(p, 3*g))
		l.memset("after", p, g, 4)
	}},
	{Name: "vmm-unmap/with-holes", Run: func(l *log) {
		for _, hole := range []int64{0, 1, 2} {
			p, g := l.mappings(3)
			l.must(cuda.MemUnmap(p+cuda.DevicePtr(hole*g), g))
			l.saw("MemUnmap, granule %d of 3 not mapped → %s", hole, codeName(cuda.MemUnmap(p, 3*g)))
			l.memset(fmt.Sprintf("hole at %d", hole), p, g, 3)
		}
	}},
	{Name: "vmm-unmap/never-mapped", Run: func(l *log) {
		g := l.granule()
		l.answer("MemUnmap(reserved)", cuda.MemUnmap(l.reserve(g), g))
	}},
	{Name: "vmm-unmap/two-reservations", Run: func(l *log) {
		g := l.granule()
		a, b, ok := l.neighbours(g)
		l.place(a, g)
		l.place(b, g)
		l.must(readWrite(a, g))
		l.must(readWrite(b, g))
		if ok {
			l.answer("Memset across both", cuda.Memset(b-32, 3, 64))
			l.must(cuda.DeviceSynchronize())
			l.answer("MemSetAccess(both)", readWrite(a, 2*g))
			l.answer("MemUnmap(both)", cuda.MemUnmap(a, 2*g))
		}
	}},
}
