package conformance

import "cudalab/native/cuda"

// copyRows ask what bytes a copy takes, and when.
var copyRows = []row{
	{Name: "copy/round-trip", Run: func(l *log) {
		s, h, p := l.stream(cuda.StreamNonBlocking), l.host(64), l.filled(0, 64)
		l.must(h.Write(8, []byte{1, 2, 3, 4}))
		l.answer("MemcpyHtoDAsync(p+4, h at 8, 4)", cuda.MemcpyHtoDAsync(p+4, h.At(8), 4, s))
		l.answer("MemcpyDtoHAsync(h at 32, p, 16)", cuda.MemcpyDtoHAsync(h.At(32), p, 16, s))
		l.must(cuda.StreamSynchronize(s))
		l.pinned("h", h, 64)
	}},
	{Name: "copy/pinned-destination-before-it-is-done", Run: func(l *log) {
		p, h := l.filled(7, 64), l.host(64)
		s := l.busy()
		l.must(cuda.MemcpyDtoHAsync(h, p, 64, s))
		l.pinned("h, pending,", h, 64)
		l.must(cuda.StreamSynchronize(s))
		l.pinned("h", h, 64)
	}},
	{Name: "copy/pinned-source-changed", Run: func(l *log) {
		p, h := l.filled(0, 64), l.host(64)
		s := l.busy()
		l.must(cuda.MemcpyHtoDAsync(p, h, 64, s))
		l.must(h.Write(0, []byte{9, 9, 9, 9}))
		l.bytes("p", p, 64)
	}},
	{Name: "copy/pageable-source-changed", Run: func(l *log) {
		p, data := l.filled(0, 64), make(cuda.Pageable, 64)
		s := l.busy()
		l.must(cuda.MemcpyHtoDAsync(p, data, 64, s))
		data[0] = 9
		l.bytes("p", p, 64)
	}},
	{Name: "copy/sync-pageable-source-changed", Run: func(l *log) {
		p, data := l.filled(0, 64), make(cuda.Pageable, 64)
		l.delay(cuda.Stream{})
		l.must(cuda.MemcpyHtoD(p, data, 64))
		data[0] = 9
		l.bytes("p", p, 64)
	}},
	{Name: "copy/large", Run: func(l *log) {
		p, data := l.malloc(64*mib), make(cuda.Pageable, 64*mib)
		for i := range data {
			data[i] = 3
		}
		l.answer("MemcpyHtoD(64 MiB)", cuda.MemcpyHtoD(p, data, 64*mib))
		clear(data)
		l.answer("MemcpyDtoH(64 MiB)", cuda.MemcpyDtoH(data, p, 64*mib))
		l.saw("the slice holds %s", runs(data))
	}},
	{Name: "copy/whole-and-part", Run: func(l *log) {
		p, data := l.filled(1, 8), cuda.Pageable{2, 2, 2, 2, 2, 2, 2, 2}
		l.must(cuda.MemcpyDtoH(data, p, 4))
		l.saw("the slice holds %s", runs(data))
		l.must(cuda.MemcpyHtoD(p, data[3:], 2))
		l.bytes("p", p, 8)
	}},
}
