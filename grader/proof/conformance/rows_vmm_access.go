package conformance

import "cudalab/native/cuda"

// vmmAccessRows ask what MemSetAccess accepts, and what it then allows.
var vmmAccessRows = []row{
	{Name: "vmm-access/none-at-first", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(g)
		l.place(p, g)
		l.memset("mapped", p, g, 1)
		l.answer("MemSetAccess(p, read and write)", readWrite(p, g))
		l.memset("with access", p, g, 1)
	}},
	{Name: "vmm-access/read", Run: func(l *log) {
		g := l.granule()
		p, _ := l.mapping(g)
		l.must(cuda.Memset(p, 3, 64))
		l.must(cuda.DeviceSynchronize())
		l.answer("MemSetAccess(p, read)", setAccess(p, g, cuda.MemAccessFlagsProtRead))
		l.bytes("p", p, 64)
		l.answer("MemSetAccess(p, read and write)", readWrite(p, g))
		l.answer("Memset(p)", cuda.Memset(p, 4, 8))
		l.bytes("p", p, 64)
	}},
	{Name: "vmm-access/unknown-kinds", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(g)
		l.place(p, g)
		for _, flags := range []cuda.MemAccessFlags{-1, 2, 4, 99} {
			l.saw("flags %d → %s", flags, codeName(setAccess(p, g, flags)))
		}
	}},
	{Name: "vmm-access/descriptions", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(g)
		l.place(p, g)
		rw := cuda.MemAccessDesc{Location: theDevice, Flags: cuda.MemAccessFlagsProtReadWrite}
		l.answer("none", cuda.MemSetAccess(p, g, nil))
		l.answer("location type 0", cuda.MemSetAccess(p, g, []cuda.MemAccessDesc{{Flags: rw.Flags}}))
		l.answer("location type 99", cuda.MemSetAccess(p, g, []cuda.MemAccessDesc{
			{Location: cuda.MemLocation{Type: 99}, Flags: rw.Flags}}))
		l.answer("one right, one wrong", cuda.MemSetAccess(p, g, []cuda.MemAccessDesc{rw,
			{Location: cuda.MemLocation{Type: 99}, Flags: rw.Flags}}))
		l.memset("after", p, g, 1)
		l.answer("two for one device", cuda.MemSetAccess(p, g, []cuda.MemAccessDesc{rw, rw}))
	}},
	{Name: "vmm-access/device-numbers", Note: binding, Run: func(l *log) {
		g := l.granule()
		p := l.reserve(g)
		l.place(p, g)
		for _, c := range noDevices {
			l.answer(c.name, cuda.MemSetAccess(p, g, []cuda.MemAccessDesc{
				{Location: c.location, Flags: cuda.MemAccessFlagsProtReadWrite}}))
		}
		l.memset("after", p, g, 1)
	}},
	{Name: "vmm-access/sizes", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(g)
		l.place(p, g)
		for _, c := range []namedSize{{"0", 0}, {"1 byte", 1}, {"half a granule", g / 2}, {"2 granules", 2 * g}} {
			l.answer("MemSetAccess(p, "+c.name+")", readWrite(p, c.size))
		}
		l.answer("MemSetAccess(p+1 byte, 1 granule)", readWrite(p+1, g))
		l.memset("after", p, g, 1)
	}},
	{Name: "vmm-access/negative", Note: binding, Run: func(l *log) {
		g := l.granule()
		p := l.reserve(g)
		l.place(p, g)
		l.answer("MemSetAccess(p, -1 granule)", readWrite(p, -g))
	}},
	{Name: "vmm-access/half-a-mapping", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(2 * g)
		l.place(p, 2*g)
		l.answer("MemSetAccess, second half", readWrite(p+cuda.DevicePtr(g), g))
		l.memset("after", p, g, 2)
		l.answer("MemSetAccess, whole", readWrite(p, 2*g))
		l.memset("after", p, g, 2)
	}},
	{Name: "vmm-access/two-mappings", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(2 * g)
		l.place(p, g)
		l.place(p+cuda.DevicePtr(g), g)
		l.answer("MemSetAccess(both)", readWrite(p, 2*g))
		l.memset("after", p, g, 2)
	}},
	{Name: "vmm-access/one-of-two-mappings", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(2 * g)
		l.place(p, g)
		l.place(p+cuda.DevicePtr(g), g)
		l.answer("MemSetAccess, granule 1", readWrite(p+cuda.DevicePtr(g), g))
		l.memset("after", p, g, 2)
		l.answer("Memset across both", cuda.Memset(p+cuda.DevicePtr(g-32), 1, 64))
	}},
	{Name: "vmm-access/with-a-hole", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(3 * g)
		l.place(p, g)
		l.place(p+cuda.DevicePtr(2*g), g)
		l.answer("MemSetAccess, granule 1 of 3 not mapped", readWrite(p, 3*g))
		l.memset("after", p, g, 3)
	}},
	{Name: "vmm-access/unmapped-tail", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(3 * g)
		l.place(p, g)
		l.answer("MemSetAccess, granules 1 and 2 of 3 not mapped", readWrite(p, 3*g))
		l.memset("after", p, g, 3)
	}},
	{Name: "vmm-access/unmapped-head", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(2 * g)
		l.place(p+cuda.DevicePtr(g), g)
		l.answer("MemSetAccess, granule 0 of 2 not mapped", readWrite(p, 2*g))
		l.memset("after", p, g, 2)
	}},
	{Name: "vmm-access/not-mapped", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(g)
		l.answer("MemSetAccess(reserved)", readWrite(p, g))
		l.must(cuda.MemAddressFree(p, g))
		l.answer("MemSetAccess(given back)", readWrite(p, g))
	}},
	{Name: "vmm-access/twice", Run: func(l *log) {
		g := l.granule()
		p, _ := l.mapping(g)
		l.must(cuda.Memset(p, 2, 8))
		l.answer("MemSetAccess(p, read and write), again", readWrite(p, g))
		l.bytes("p", p, 8)
	}},
	{Name: "vmm-access/not-kept-over-a-new-mapping", Run: func(l *log) {
		g := l.granule()
		p, h := l.mapping(g)
		l.must(cuda.MemUnmap(p, g))
		l.must(cuda.MemMap(p, g, 0, h, 0))
		l.memset("mapped again", p, g, 1)
		l.answer("MemSetAccess(p)", readWrite(p, g))
		l.memset("with access", p, g, 1)
	}},
	{Name: "vmm-access/of-each-mapping-its-own", Run: func(l *log) {
		g := l.granule()
		p, h := l.mapping(g)
		q := l.reserve(g)
		l.must(cuda.MemMap(q, g, 0, h, 0))
		l.memset("the handle's second mapping", q, g, 1)
		l.memset("its first", p, g, 1)
	}},
}
