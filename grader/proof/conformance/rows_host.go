package conformance

import "cudalab/native/cuda"

var hostRows = []row{
	{Name: "malloc-host/read-write", Run: func(l *log) {
		h, err := cuda.MallocHost(64)
		l.answer("MallocHost(64)", err)
		l.answer("Write(0, 64 bytes)", h.Write(0, make([]byte, 64)))
		l.answer("Write(60, 4 bytes)", h.Write(60, []byte{1, 1, 1, 1}))
		l.pinned("h", h, 64)
		l.answer("FreeHost(h)", cuda.FreeHost(h))
	}},
	{Name: "malloc-host/zero-bytes", Run: func(l *log) {
		_, err := cuda.MallocHost(0)
		l.answer("MallocHost(0)", err)
	}},
	{Name: "malloc-host/negative", Note: binding, Run: func(l *log) {
		_, err := cuda.MallocHost(-1)
		l.answer("MallocHost(-1)", err)
	}},
	{Name: "malloc-host/too-much", Run: func(l *log) {
		_, err := cuda.MallocHost(tooMuch)
		l.answer("MallocHost(1 PiB)", err)
	}},
	{Name: "malloc-host/bounds", Note: binding, Run: func(l *log) {
		h := l.host(16)
		l.answer("Read(0, 17 bytes)", h.Read(0, make([]byte, 17)))
		l.answer("Read(16, 0 bytes)", h.Read(16, nil))
		l.answer("Read(16, 1 byte)", h.Read(16, make([]byte, 1)))
		l.answer("Write(-1, 1 byte)", h.Write(-1, make([]byte, 1)))
	}},
	{Name: "free-host/twice", Note: binding, Run: func(l *log) {
		h := l.host(16)
		l.answer("FreeHost(h)", cuda.FreeHost(h))
		l.answer("FreeHost(h)", cuda.FreeHost(h))
		l.answer("Read(0, 1 byte)", h.Read(0, make([]byte, 1)))
		l.answer("MemcpyHtoD(p, h, 1)", cuda.MemcpyHtoD(l.malloc(1), h, 1))
	}},
	{Name: "free-host/null", Run: func(l *log) {
		l.answer("FreeHost(null)", cuda.FreeHost(cuda.HostBuffer{}))
	}},
}
