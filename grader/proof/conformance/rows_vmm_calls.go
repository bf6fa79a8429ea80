package conformance

import "cudalab/native/cuda"

// vmmCallRows ask what the calls that make addresses and memory, and give them back, say to their arguments.
var vmmCallRows = []row{
	{Name: "vmm-granularity/both", Note: "of the model that was recorded", Run: func(l *log) {
		least, err := cuda.MemGetAllocationGranularity(deviceProp, cuda.MemAllocGranularityMinimum)
		l.saw("minimum → %s, %s", codeName(err), amount(uint64(least)))
		best, err := cuda.MemGetAllocationGranularity(deviceProp, cuda.MemAllocGranularityRecommended)
		l.saw("recommended → %s, %s", codeName(err), amount(uint64(best)))
	}},
	{Name: "vmm-granularity/unknown-options", Run: func(l *log) {
		for _, option := range []cuda.MemAllocationGranularityFlags{-1, 2, 99} {
			_, err := cuda.MemGetAllocationGranularity(deviceProp, option)
			l.saw("option %d → %s", option, codeName(err))
		}
	}},
	{Name: "vmm-granularity/properties", Run: func(l *log) {
		for _, c := range badProps {
			_, err := cuda.MemGetAllocationGranularity(c.prop, cuda.MemAllocGranularityMinimum)
			l.answer(c.name, err)
		}
	}},
	{Name: "vmm-granularity/device-numbers", Note: binding, Run: func(l *log) {
		for _, c := range noDevices {
			_, err := cuda.MemGetAllocationGranularity(cuda.MemAllocationProp{Type: deviceProp.Type, Location: c.location}, 0)
			l.answer(c.name, err)
		}
	}},

	{Name: "vmm-reserve/sizes", Run: func(l *log) {
		g := l.granule()
		for _, c := range sizes(g) {
			_, err := cuda.MemAddressReserve(c.size, 0, 0, 0)
			l.answer("MemAddressReserve("+c.name+")", err)
		}
	}},
	{Name: "vmm-reserve/negative", Note: binding, Run: func(l *log) {
		_, err := cuda.MemAddressReserve(-l.granule(), 0, 0, 0)
		l.answer("MemAddressReserve(-1 granule)", err)
		_, err = cuda.MemAddressReserve(l.granule(), -1, 0, 0)
		l.answer("MemAddressReserve(1 granule, alignment -1)", err)
	}},
	{Name: "vmm-reserve/large", Run: func(l *log) {
		_, err := cuda.MemAddressReserve(1<<40, 0, 0, 0)
		l.answer("MemAddressReserve(1 TiB)", err)
		_, err = cuda.MemAddressReserve(tooMuch, 0, 0, 0)
		l.answer("MemAddressReserve(1 PiB)", err)
	}},
	{Name: "vmm-reserve/takes-no-memory", Run: func(l *log) {
		g, free := l.granule(), l.freeMemory()
		l.reserve(1024 * g)
		l.takenGranules("1024 granules of addresses", free, g)
	}},
	{Name: "vmm-reserve/alignment", Run: func(l *log) {
		g := l.granule()
		for _, c := range []struct {
			name  string
			align int64
		}{{"0", 0}, {"1", 1}, {"256", 256}, {"half a granule", g / 2}, {"1 granule", g}, {"16 granules", 16 * g},
			{"64 GiB", 1 << 36}} {
			p, err := cuda.MemAddressReserve(g, c.align, 0, 0)
			l.saw("alignment %s → %s, a multiple of it: %t, of a granule: %t", c.name, codeName(err),
				err == nil && (c.align == 0 || int64(p)%c.align == 0), err == nil && int64(p)%g == 0)
		}
	}},
	{Name: "vmm-reserve/alignment-is-no-power-of-two", Run: func(l *log) {
		g := l.granule()
		_, err := cuda.MemAddressReserve(g, 3, 0, 0)
		l.answer("alignment 3", err)
		_, err = cuda.MemAddressReserve(g, 3*g, 0, 0)
		l.answer("alignment 3 granules", err)
	}},
	{Name: "vmm-reserve/at-free-addresses", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(4 * g)
		l.must(cuda.MemAddressFree(p, 4*g))
		q, err := cuda.MemAddressReserve(2*g, 0, p+cuda.DevicePtr(g), 0)
		l.saw("MemAddressReserve at p+1 granule → %s, there: %t", codeName(err), q == p+cuda.DevicePtr(g))
	}},
	{Name: "vmm-reserve/at-taken-addresses", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(2 * g)
		q, err := cuda.MemAddressReserve(g, 0, p, 0)
		l.saw("MemAddressReserve at p → %s, there: %t", codeName(err), q == p)
	}},
	{Name: "vmm-reserve/at-unaligned-addresses", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(4 * g)
		l.must(cuda.MemAddressFree(p, 4*g))
		for _, c := range []struct {
			name   string
			offset int64
		}{{"1 byte", 1}, {"half a granule", g / 2}} {
			q, err := cuda.MemAddressReserve(g, 0, p+cuda.DevicePtr(c.offset), 0)
			l.saw("MemAddressReserve at p+%s → %s, there: %t, a multiple of a granule: %t", c.name, codeName(err),
				q == p+cuda.DevicePtr(c.offset), err == nil && int64(q)%g == 0)
		}
	}},
	{Name: "vmm-reserve/flags", Run: func(l *log) {
		for _, flags := range []uint64{1, 1 << 40} {
			_, err := cuda.MemAddressReserve(l.granule(), 0, 0, flags)
			l.saw("flags %#x → %s", flags, codeName(err))
		}
	}},
	{Name: "vmm-reserve/disjoint", Run: func(l *log) {
		g := l.granule()
		p, q := l.reserve(2*g), l.reserve(2*g)
		l.saw("they overlap: %t", p < q+cuda.DevicePtr(2*g) && q < p+cuda.DevicePtr(2*g))
	}},

	{Name: "vmm-address-free/twice", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(g)
		l.answer("MemAddressFree(p, 1 granule)", cuda.MemAddressFree(p, g))
		l.answer("MemAddressFree(p, 1 granule)", cuda.MemAddressFree(p, g))
	}},
	{Name: "vmm-address-free/other-than-reserved", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(4 * g)
		l.answer("MemAddressFree(p, 2 granules)", cuda.MemAddressFree(p, 2*g))
		l.answer("MemAddressFree(p+2 granules, 2 granules)", cuda.MemAddressFree(p+cuda.DevicePtr(2*g), 2*g))
		l.answer("MemAddressFree(p, 5 granules)", cuda.MemAddressFree(p, 5*g))
		l.answer("MemAddressFree(p, 0)", cuda.MemAddressFree(p, 0))
		l.answer("MemAddressFree(p+1 byte, 4 granules)", cuda.MemAddressFree(p+1, 4*g))
		l.answer("MemAddressFree(p, 4 granules)", cuda.MemAddressFree(p, 4*g))
	}},
	{Name: "vmm-address-free/two-at-once", Run: func(l *log) {
		g := l.granule()
		a, b, ok := l.neighbours(g)
		if ok {
			l.answer("MemAddressFree(both)", cuda.MemAddressFree(a, 2*g))
		}
		l.answer("MemAddressFree(the second)", cuda.MemAddressFree(b, g))
		l.answer("MemAddressFree(the first)", cuda.MemAddressFree(a, g))
	}},
	{Name: "vmm-address-free/mapped", Run: func(l *log) {
		g := l.granule()
		p := l.reserve(2 * g)
		l.place(p, g)
		l.answer("MemAddressFree, half of it mapped", cuda.MemAddressFree(p, 2*g))
		l.must(cuda.MemUnmap(p, g))
		l.answer("MemAddressFree, unmapped", cuda.MemAddressFree(p, 2*g))
	}},
	{Name: "vmm-address-free/negative", Note: binding, Run: func(l *log) {
		l.answer("MemAddressFree(p, -1)", cuda.MemAddressFree(l.reserve(l.granule()), -1))
	}},

	{Name: "vmm-create/sizes", Run: func(l *log) {
		g := l.granule()
		for _, c := range sizes(g) {
			_, err := cuda.MemCreate(c.size, deviceProp, 0)
			l.answer("MemCreate("+c.name+")", err)
		}
	}},
	{Name: "vmm-create/negative", Note: binding, Run: func(l *log) {
		_, err := cuda.MemCreate(-l.granule(), deviceProp, 0)
		l.answer("MemCreate(-1 granule)", err)
	}},
	{Name: "vmm-create/too-much", Run: func(l *log) {
		_, err := cuda.MemCreate(tooMuch, deviceProp, 0)
		l.answer("MemCreate(1 PiB)", err)
		g := l.granule()
		_, total, err := cuda.MemGetInfo()
		l.must(err)
		_, err = cuda.MemCreate((total+g-1)/g*g, deviceProp, 0)
		l.answer("MemCreate(total)", err)
		_, err = cuda.MemCreate(g, deviceProp, 0)
		l.answer("MemCreate(1 granule)", err)
	}},
	{Name: "vmm-create/properties", Run: func(l *log) {
		g := l.granule()
		for _, c := range badProps {
			_, err := cuda.MemCreate(g, c.prop, 0)
			l.answer(c.name, err)
		}
	}},
	{Name: "vmm-create/device-numbers", Note: binding, Run: func(l *log) {
		g := l.granule()
		for _, c := range noDevices {
			_, err := cuda.MemCreate(g, cuda.MemAllocationProp{Type: deviceProp.Type, Location: c.location}, 0)
			l.answer(c.name, err)
		}
	}},
	{Name: "vmm-create/flags", Run: func(l *log) {
		for _, flags := range []uint64{1, 1 << 40} {
			_, err := cuda.MemCreate(l.granule(), deviceProp, flags)
			l.saw("flags %#x → %s", flags, codeName(err))
		}
	}},
	{Name: "vmm-release/once", Run: func(l *log) {
		l.answer("MemRelease(h)", cuda.MemRelease(l.create(l.granule())))
	}},
	{Name: "vmm-release/twice", Note: binding, Run: func(l *log) {
		g := l.granule()
		p, h := l.mapping(g)
		l.answer("MemRelease(h)", cuda.MemRelease(h))
		l.answer("MemRelease(h), mapped", cuda.MemRelease(h))
		l.must(cuda.MemUnmap(p, g))
		l.answer("MemRelease(h), unmapped", cuda.MemRelease(h))
		l.answer("MemMap(h)", cuda.MemMap(p, g, 0, h, 0))
	}},
}

// badProps are properties that no memory has.
var badProps = []struct {
	name string
	prop cuda.MemAllocationProp
}{
	{"no properties", cuda.MemAllocationProp{}},
	{"type 0", cuda.MemAllocationProp{Location: theDevice}},
	{"type 99", cuda.MemAllocationProp{Type: 99, Location: theDevice}},
	{"location type 0", cuda.MemAllocationProp{Type: deviceProp.Type}},
	{"location type 99", cuda.MemAllocationProp{Type: deviceProp.Type, Location: cuda.MemLocation{Type: 99}}},
}

// noDevices are devices that there are not, whatever the machine has.
var noDevices = []struct {
	name     string
	location cuda.MemLocation
}{
	{"device 1", cuda.MemLocation{Type: theDevice.Type, ID: 1}},
	{"device -1", cuda.MemLocation{Type: theDevice.Type, ID: -1}},
	{"device 2^32", cuda.MemLocation{Type: theDevice.Type, ID: 1 << 32}},
}

type namedSize struct {
	name string
	size int64
}

// sizes are sizes around a granule.
func sizes(g int64) []namedSize {
	return []namedSize{{"0", 0}, {"1 byte", 1}, {"half a granule", g / 2}, {"1 granule", g}, {"1 granule + 1 byte", g + 1},
		{"1.5 granules", g + g/2}, {"3 granules", 3 * g}}
}
