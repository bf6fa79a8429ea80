package conformance

import "cudalab/native/cuda"

// vmmWaitRows ask which calls wait for a busy device. Nothing that is pending uses what they take away.
func vmmWaitRows() []row {
	calls := []struct {
		name string
		call func(x *vmmThing) error
	}{
		{"granularity", (*vmmThing).askGranularity},
		{"reserve", func(x *vmmThing) error { _, err := cuda.MemAddressReserve(x.g, 0, 0, 0); return err }},
		{"address-free", func(x *vmmThing) error { return cuda.MemAddressFree(x.free, x.g) }},
		{"create", func(x *vmmThing) error { _, err := cuda.MemCreate(x.g, deviceProp, 0); return err }},
		{"create-large", func(x *vmmThing) error { _, err := cuda.MemCreate(256*x.g, deviceProp, 0); return err }},
		{"release", func(x *vmmThing) error { return cuda.MemRelease(x.h) }},
		{"release-while-mapped", func(x *vmmThing) error { return cuda.MemRelease(x.mapped) }},
		{"map", func(x *vmmThing) error { return cuda.MemMap(x.free, x.g, 0, x.h, 0) }},
		{"set-access", func(x *vmmThing) error { return readWrite(x.bare, x.g) }},
		{"set-access-again", func(x *vmmThing) error { return readWrite(x.p, x.g) }},
		{"set-access-to-less", func(x *vmmThing) error { return setAccess(x.p, x.g, cuda.MemAccessFlagsProtRead) }},
		{"set-access-to-none", func(x *vmmThing) error { return setAccess(x.p, x.g, cuda.MemAccessFlagsProtNone) }},
		{"unmap", func(x *vmmThing) error { return cuda.MemUnmap(x.p, x.g) }},
		{"unmap-without-access", func(x *vmmThing) error { return cuda.MemUnmap(x.bare, x.g) }},
		{"unmap-what-is-not-mapped", func(x *vmmThing) error { return cuda.MemUnmap(x.free, x.g) }},
	}
	var rows []row
	for _, c := range calls {
		rows = append(rows, row{Name: "vmm-waits/" + c.name, Run: func(l *log) {
			for _, s := range []struct {
				name   string
				stream cuda.Stream
			}{{"non-blocking", l.stream(cuda.StreamNonBlocking)}, {"legacy", cuda.Stream{}}} {
				x := newVMMThing(l)
				l.delay(s.stream)
				l.timed(s.name+" stream busy", func() error { return c.call(x) })
				l.must(cuda.DeviceSynchronize())
			}
		}})
	}
	return append(rows, row{Name: "vmm-waits/unmap-last-of-released", Run: func(l *log) {
		x := newVMMThing(l)
		l.must(cuda.MemRelease(x.mapped))
		l.busy()
		l.timed("MemUnmap(p), its memory goes", func() error { return cuda.MemUnmap(x.p, x.g) })
	}})
}

// vmmThreadRows make every call from a thread that has never called CUDA.
func vmmThreadRows() []row {
	calls := []struct {
		name string
		call func(x *vmmThing) error
	}{
		{"granularity", (*vmmThing).askGranularity},
		{"reserve", func(x *vmmThing) error { _, err := cuda.MemAddressReserve(x.g, 0, 0, 0); return err }},
		{"address-free", func(x *vmmThing) error { return cuda.MemAddressFree(x.free, x.g) }},
		{"create", func(x *vmmThing) error { _, err := cuda.MemCreate(x.g, deviceProp, 0); return err }},
		{"release", func(x *vmmThing) error { return cuda.MemRelease(x.h) }},
		{"map", func(x *vmmThing) error { return cuda.MemMap(x.free, x.g, 0, x.h, 0) }},
		{"set-access", func(x *vmmThing) error { return readWrite(x.bare, x.g) }},
		{"unmap", func(x *vmmThing) error { return cuda.MemUnmap(x.p, x.g) }},
		{"memset", func(x *vmmThing) error { return cuda.Memset(x.p, 0, 64) }},
	}
	var rows []row
	for _, c := range calls {
		rows = append(rows, row{Name: "vmm-threads/" + c.name, Run: func(l *log) {
			l.answer("on this thread", c.call(newVMMThing(l)))
			x := newVMMThing(l)
			onFreshThread(func() { l.answer("on a fresh thread", c.call(x)) })
			l.answer("DeviceSynchronize()", cuda.DeviceSynchronize())
		}})
	}
	return append(rows, row{Name: "vmm-threads/whole-life", Run: func(l *log) {
		onFreshThread(func() {
			g := l.granule()
			p, h := l.mapping(g)
			l.must(cuda.Memset(p, 7, 64))
			l.bytes("p", p, 64)
			l.answer("MemUnmap(p)", cuda.MemUnmap(p, g))
			l.answer("MemRelease(h)", cuda.MemRelease(h))
			l.answer("MemAddressFree(p)", cuda.MemAddressFree(p, g))
		})
	}})
}

// vmmThing is one of everything that a call can name, each of one granule.
type vmmThing struct {
	g             int64
	free, bare, p cuda.DevicePtr                  // reserved; mapped without access; mapped with access
	h, mapped     cuda.MemGenericAllocationHandle // not mapped; mapped at p
}

func newVMMThing(l *log) *vmmThing {
	g := l.granule()
	x := &vmmThing{g: g, free: l.reserve(g), bare: l.reserve(g), h: l.create(g)}
	l.place(x.bare, g)
	x.p, x.mapped = l.mapping(g)
	return x
}

func (*vmmThing) askGranularity() error {
	_, err := cuda.MemGetAllocationGranularity(deviceProp, cuda.MemAllocGranularityMinimum)
	return err
}
