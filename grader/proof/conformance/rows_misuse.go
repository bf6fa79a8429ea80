package conformance

import "cudalab/native/cuda"

// partners are the other sides of copies, large enough for every use here, and a stream.
type partners struct {
	s     cuda.Stream
	slice cuda.Pageable
	h     cuda.HostBuffer
	p     cuda.DevicePtr
}

func newPartners(l *log) *partners {
	const size = 1001
	return &partners{l.stream(cuda.StreamNonBlocking), make(cuda.Pageable, size), l.host(size), l.malloc(size)}
}

// uses are the calls that take a device pointer, each using n bytes at p.
var uses = []struct {
	name string
	use  func(x *partners, p cuda.DevicePtr, n int64) error
}{
	{"memset", func(_ *partners, p cuda.DevicePtr, n int64) error { return cuda.Memset(p, 1, n) }},
	{"memset-async", func(x *partners, p cuda.DevicePtr, n int64) error { return cuda.MemsetAsync(p, 1, n, x.s) }},
	{"htod", func(x *partners, p cuda.DevicePtr, n int64) error { return cuda.MemcpyHtoD(p, x.slice, n) }},
	{"htod-async", func(x *partners, p cuda.DevicePtr, n int64) error { return cuda.MemcpyHtoDAsync(p, x.slice, n, x.s) }},
	{"htod-pinned", func(x *partners, p cuda.DevicePtr, n int64) error { return cuda.MemcpyHtoDAsync(p, x.h, n, x.s) }},
	{"dtoh", func(x *partners, p cuda.DevicePtr, n int64) error { return cuda.MemcpyDtoH(x.slice, p, n) }},
	{"dtoh-async", func(x *partners, p cuda.DevicePtr, n int64) error { return cuda.MemcpyDtoHAsync(x.slice, p, n, x.s) }},
	{"dtoh-pinned", func(x *partners, p cuda.DevicePtr, n int64) error { return cuda.MemcpyDtoHAsync(x.h, p, n, x.s) }},
	{"dtod-to", func(x *partners, p cuda.DevicePtr, n int64) error { return cuda.MemcpyDtoD(p, x.p, n) }},
	{"dtod-from", func(x *partners, p cuda.DevicePtr, n int64) error { return cuda.MemcpyDtoD(x.p, p, n) }},
	{"dtod-async-to", func(x *partners, p cuda.DevicePtr, n int64) error { return cuda.MemcpyDtoDAsync(p, x.p, n, x.s) }},
	{"dtod-async-from", func(x *partners, p cuda.DevicePtr, n int64) error {
		return cuda.MemcpyDtoDAsync(x.p, p, n,
			x.s)
	}},
}

// deadPointerRows use, by every call, memory that is gone.
func deadPointerRows() []row {
	var rows []row
	for _, u := range uses {
		rows = append(rows, row{Name: "dead-pointer/" + u.name, Run: func(l *log) {
			x := newPartners(l)
			freed := l.malloc(4096)
			l.must(cuda.Free(freed))
			l.answer("after Free", u.use(x, freed, 64))

			done := l.mallocAsync(4096, x.s)
			l.must(cuda.FreeAsync(done, x.s))
			l.must(cuda.StreamSynchronize(x.s))
			l.answer("after FreeAsync, synchronised", u.use(x, done, 64))

			pending := l.mallocAsync(4096, x.s)
			l.delay(x.s)
			l.must(cuda.FreeAsync(pending, x.s))
			l.answer("after FreeAsync, pending", u.use(x, pending, 64))
			l.must(cuda.StreamSynchronize(x.s))

			l.answer("null", u.use(x, 0, 64))
		}})
	}
	return rows
}

// garbageRows use addresses that never were memory, where the driver is known to look before it leaps.
var garbageRows = []row{
	{Name: "garbage/memset", Run: func(l *log) {
		l.answer("Memset(12345, 64 bytes)", cuda.Memset(garbage, 1, 64))
		l.answer("MemsetAsync(12345, 64 bytes)", cuda.MemsetAsync(garbage, 1, 64, l.stream(cuda.StreamNonBlocking)))
	}},
	{Name: "garbage/dtod", Run: func(l *log) {
		x := newPartners(l)
		l.answer("MemcpyDtoD(12345, p, 64)", cuda.MemcpyDtoD(garbage, x.p, 64))
		l.answer("MemcpyDtoD(p, 12345, 64)", cuda.MemcpyDtoD(x.p, garbage, 64))
		l.answer("MemcpyDtoDAsync(12345, p, 64)", cuda.MemcpyDtoDAsync(garbage, x.p, 64, x.s))
	}},
}

// boundsRows go by one byte, by every call, beyond the end of what was allocated.
func boundsRows() []row {
	var rows []row
	for _, u := range uses {
		rows = append(rows, row{Name: "bounds/" + u.name, Run: func(l *log) {
			x := newPartners(l)
			for _, m := range []struct {
				name string
				p    cuda.DevicePtr
			}{{"Malloc(1000)", l.malloc(1000)}, {"MallocAsync(1000)", l.mallocAsync(1000, x.s)}} {
				l.must(cuda.DeviceSynchronize())
				l.answer(m.name+", all 1000 bytes", u.use(x, m.p, 1000))
				l.answer(m.name+", 1001 bytes", u.use(x, m.p, 1001))
				l.answer(m.name+", 500 bytes at 500", u.use(x, m.p+500, 500))
				l.answer(m.name+", 501 bytes at 500", u.use(x, m.p+500, 501))
				l.answer(m.name+", 1 byte at 1000", u.use(x, m.p+1000, 1))
			}
		}})
	}
	return rows
}

var argumentRows = []row{
	{Name: "bounds/no-bytes", Run: func(l *log) {
		s, p, q := l.stream(cuda.StreamNonBlocking), l.malloc(64), l.malloc(64)
		l.answer("Memset(p, 0 bytes)", cuda.Memset(p, 1, 0))
		l.answer("MemsetAsync(p, 0 bytes)", cuda.MemsetAsync(p, 1, 0, s))
		l.answer("MemcpyDtoD(p, q, 0)", cuda.MemcpyDtoD(p, q, 0))
		l.answer("MemcpyDtoDAsync(p, q, 0)", cuda.MemcpyDtoDAsync(p, q, 0, s))
		l.answer("MemcpyHtoD(p, …, 0)", cuda.MemcpyHtoD(p, cuda.Pageable{1}, 0))
		l.answer("MemcpyHtoDAsync(p, …, 0)", cuda.MemcpyHtoDAsync(p, cuda.Pageable{1}, 0, s))
		l.answer("MemcpyDtoH(…, p, 0)", cuda.MemcpyDtoH(cuda.Pageable{1}, p, 0))
		l.answer("MemcpyDtoHAsync(…, p, 0)", cuda.MemcpyDtoHAsync(cuda.Pageable{1}, p, 0, s))
	}},
	{Name: "bounds/no-bytes-at-null", Run: func(l *log) {
		s, p := l.stream(cuda.StreamNonBlocking), l.malloc(64)
		l.answer("Memset(null, 0 bytes)", cuda.Memset(0, 1, 0))
		l.answer("MemsetAsync(null, 0 bytes)", cuda.MemsetAsync(0, 1, 0, s))
		l.answer("MemcpyDtoD(null, p, 0)", cuda.MemcpyDtoD(0, p, 0))
		l.answer("MemcpyDtoD(p, null, 0)", cuda.MemcpyDtoD(p, 0, 0))
		l.answer("MemcpyHtoD(null, …, 0)", cuda.MemcpyHtoD(0, cuda.Pageable{1}, 0))
		l.answer("MemcpyDtoH(…, null, 0)", cuda.MemcpyDtoH(cuda.Pageable{1}, 0, 0))
	}},
	{Name: "bounds/negative", Note: binding, Run: func(l *log) {
		s, p, q := l.stream(cuda.StreamNonBlocking), l.malloc(64), l.malloc(64)
		l.answer("Memset(p, -1 bytes)", cuda.Memset(p, 1, -1))
		l.answer("MemsetAsync(p, -1 bytes)", cuda.MemsetAsync(p, 1, -1, s))
		l.answer("MemcpyDtoD(p, q, -1)", cuda.MemcpyDtoD(p, q, -1))
		l.answer("MemcpyHtoD(p, …, -1)", cuda.MemcpyHtoD(p, cuda.Pageable{1}, -1))
		l.answer("MemcpyDtoHAsync(…, p, -1)", cuda.MemcpyDtoHAsync(cuda.Pageable{1}, p, -1, s))
	}},
	{Name: "bounds/host-side", Note: binding, Run: func(l *log) {
		s, p, h := l.stream(cuda.StreamNonBlocking), l.malloc(64), l.host(16)
		l.answer("MemcpyHtoD(p, 8 bytes, 9)", cuda.MemcpyHtoD(p, make(cuda.Pageable, 8), 9))
		l.answer("MemcpyDtoH(8 bytes, p, 9)", cuda.MemcpyDtoH(make(cuda.Pageable, 8), p, 9))
		l.answer("MemcpyHtoDAsync(p, 16 pinned, 17)", cuda.MemcpyHtoDAsync(p, h, 17, s))
		l.answer("MemcpyDtoHAsync(16 pinned at 8, p, 9)", cuda.MemcpyDtoHAsync(h.At(8), p, 9, s))
		l.answer("MemcpyDtoHAsync(16 pinned at -1, p, 1)", cuda.MemcpyDtoHAsync(h.At(-1), p, 1, s))
		l.answer("MemcpyHtoD(p, nil, 1)", cuda.MemcpyHtoD(p, nil, 1))
	}},
}
