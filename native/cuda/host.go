package cuda

import (
	"cudalab/native/device"
	"cudalab/native/session"
)

const (
	callMallocHost = "cudaMallocHost"
	callFreeHost   = "cudaFreeHost"
)

// HostBuffer is pinned host memory: what asynchronous copies need to be asynchronous. As HostMemory it is the place at
// its start. The zero value is no buffer.
type HostBuffer struct{ b *session.HostBuffer }

// place is somewhere in a HostBuffer.
type place struct {
	b      *session.HostBuffer
	offset int64
}

func (HostBuffer) hostMemory() {}
func (place) hostMemory()      {}

// MallocHost allocates pinned host memory. Its contents are undefined. It is slow.
func MallocHost(size int64) (HostBuffer, error) {
	b, code := session.Current().MallocHost(size)
	return HostBuffer{b}, refusedSize(callMallocHost, code, badSize, size)
}

// FreeHost frees pinned host memory. Copies that are pending must be waited for before.
func FreeHost(b HostBuffer) error {
	return answer(callFreeHost, session.Current().FreeHost(b.b))
}

// Len is the buffer's length in bytes.
func (b HostBuffer) Len() int64 {
	if b.b == nil {
		return 0
	}
	return b.b.Size()
}

// At is the place in the buffer offset bytes from its start, for copies.
func (b HostBuffer) At(offset int64) HostMemory { return place{b.b, offset} }

// Read copies len(dst) bytes from offset on out of the buffer. It is the host's own load: it waits for nothing, and
// sees a pending copy's bytes or the ones before. Outside the buffer it is ErrorInvalidValue.
func (b HostBuffer) Read(offset int64, dst []byte) error {
	code := session.Current().HostRead(b.b, offset, dst)
	return b.accessed("HostBuffer.Read", code, offset, len(dst))
}

// Write copies src into the buffer from offset on. It is the host's own store: it waits for nothing, and a pending
// copy may take the new bytes or the ones before. Outside the buffer it is ErrorInvalidValue.
func (b HostBuffer) Write(offset int64, src []byte) error {
	code := session.Current().HostWrite(b.b, offset, src)
	return b.accessed("HostBuffer.Write", code, offset, len(src))
}

func (b HostBuffer) accessed(call string, code device.Code, offset int64, n int) error {
	switch {
	case code == device.Success:
		return nil
	case b.b == nil:
		return refused(call, code, "there is no buffer; MallocHost makes one")
	case b.b.Freed():
		return refused(call, code, "the buffer has been freed; free it after its last use")
	}
	return refused(call, code, "bytes %d to %d are asked for, but the buffer has %d", offset, offset+int64(n), b.Len())
}
